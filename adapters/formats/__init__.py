"""The adapters: one format a file, or a file for its prompt and one for its reading. `catalog` finds them by name."""
