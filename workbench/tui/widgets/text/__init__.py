"""Widgets for text to read, edit and scroll, through the display gate."""
