"""Widgets, grouped by their content; they import no panes and no screens."""
