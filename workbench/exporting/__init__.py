"""A session on its way out: in the form of another tool, or as one page that opens from disk."""
