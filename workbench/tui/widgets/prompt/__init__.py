"""A prompt: its rows, their look, and the keys to walk through it."""
