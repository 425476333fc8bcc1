"""Changes pieces of a signature's text, leaving the rest to the character."""
