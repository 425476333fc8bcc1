"""Display blocks, which describe an object for HTML and plain text."""
