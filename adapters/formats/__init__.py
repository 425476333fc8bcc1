"""The adapters, each in a file (or two: prompt and parsing). `catalog` finds them by name."""
