"""Painting what changed at a cost that does not grow with what did not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from textual._compositor import Compositor, CompositorMap, ReflowResult
from textual.geometry import Region, Size
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget


class RowCompositor(Compositor):
    """Asks only those widgets that are in the rows and columns which changed, and for these rows only.

    Textual's own asks every widget near them for all of its rows, which takes most of the time of painting a letter.

    A widget is told its size when it is new beside the last layout. Textual's own compares with a map that it makes
    anew when somebody asks for a place after a scroll: what came meanwhile was never told, and its text never wrapped.
    """

    def __init__(self) -> None:
        super().__init__()
        self._laid_out: CompositorMap = {}

    def reflow(self, parent: Widget, size: Size) -> ReflowResult:
        self._full_map = self._laid_out
        result = super().reflow(parent, size)
        self._laid_out = self._full_map
        return result

    def _get_renders(self, crop: Region | None = None) -> Iterable[tuple[Region, Region, list[Strip]]]:
        if crop is None:
            yield from super()._get_renders(crop)
            return
        rows = Region(0, crop.y, self.size.width, crop.height)
        for widget, (region, clip) in self.visible_widgets.items():
            part = clip.intersection(rows)
            seen = region.intersection(part)
            if seen and seen.overlaps(crop):
                yield region, part, widget.render_lines(seen.translate(-region.offset))


def paint_by_rows(screen: Screen[Any]) -> None:
    """Has a screen painted so. To be called while it is made."""
    screen._compositor = RowCompositor()
