"""A class in the browser: who can join, the program and folder of each seat, and the walls around it."""

MEMORY_MB, DISK_MB = 1024, 100
"""Default limits for the process and the folder of a seat."""
