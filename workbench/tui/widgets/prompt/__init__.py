"""Widgets for a prompt: its layout, its painting, and keys to move through it."""
