"""Widgets that show and edit text, made `safe` by the display gate."""
