"""Widgets for a reply: its parsed text, and its fields step by step."""
