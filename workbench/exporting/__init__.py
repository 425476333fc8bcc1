"""Export a session: in the format of another tool, or as one page that opens from disk."""
