"""The lines that a widget has painted, kept for as long as there is the widget."""

from __future__ import annotations

from functools import lru_cache

from textual._styles_cache import StylesCache
from textual.color import Color
from textual.style import Style
from textual.widget import Widget


class PaintedLines(StylesCache):
    """Textual's store of what a widget has painted, without the table that keeps it after the widget is gone.

    Textual remembers two backgrounds a store by `functools.lru_cache` on a method, which holds the store with all its
    lines until 1,024 others came: a lesson that is opened and closed a hundred times stays 90 MB large.
    """

    @staticmethod
    def get_inner_outer(base_background: Color, background: Color) -> tuple[Style, Style]:  # type: ignore[override]
        """The backgrounds inside of a widget's border and outside of it."""
        return _inner_outer(base_background, background)


@lru_cache(1024)
def _inner_outer(base_background: Color, background: Color) -> tuple[Style, Style]:
    return Style(background=base_background + background), Style(background=base_background)


def let_go_with(widget: Widget) -> None:
    """Has what a new widget will paint go when the widget goes."""
    widget._styles_cache = PaintedLines()
