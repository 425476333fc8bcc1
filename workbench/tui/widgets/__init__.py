"""Widgets by what they show. They know no pane and no screen."""
