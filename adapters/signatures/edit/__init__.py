"""Changes of one piece of a signature's text, with the rest left to the character."""
