"""The command line and the Textual app."""

__version__ = "0.1.0"
