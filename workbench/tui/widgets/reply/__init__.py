"""A reply: its text with what the parser did, and its fields step by step."""
