"""Widgets for a prompt: its rows, their look, and keys to walk through it."""
