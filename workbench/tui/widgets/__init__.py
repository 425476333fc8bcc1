"""Widgets, grouped by their content; they know no pane and no screen."""
