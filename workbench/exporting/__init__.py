"""Export a session in the format of another tool, or as a page that opens from disk."""
