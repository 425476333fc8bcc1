"""Text to read, to edit and to scroll, through the display gate."""
