"""Display blocks: facts described once, written as HTML and as plain text."""
