"""A class in the browser: who may come in, the program and folder that each visitor gets, and what keeps it there."""

MEMORY_MB, DISK_MB = 1024, 100
"""What a visitor's process and his folder get, where nothing else is said."""
