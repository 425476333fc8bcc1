"""What a parser did to a reply: the reading, its flags, and what was probably meant where it saw nothing."""
