"""Painting what changed at a cost that does not grow with what did not."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import Any

from textual._compositor import ChopsUpdate, Compositor, CompositorMap, ReflowResult
from textual.geometry import Region, Size
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

ROWS_BETWEEN = 4


class RowCompositor(Compositor):
    """Asks only those widgets that something changed in, and for these rows only.

    Textual's own asks every widget between the first change and the last for all of its rows, which takes most of the
    time of painting a letter.

    A widget is told its size when it is new beside the last layout. Textual's own compares with a map that it makes
    anew when somebody asks for a place after a scroll: what came meanwhile was never told, and its text never wrapped.
    What is painted anew by a layout is what has another place than it was painted at, by a scroll since then too.
    """

    def __init__(self) -> None:
        super().__init__()
        self._laid_out: CompositorMap = {}
        self._painted: CompositorMap = {}
        """Where everything in sight was by the last layout or scroll."""
        self._changed: tuple[Region, ...] = ()
        """The regions that are being painted; empty when all of the screen is."""

    def reflow(self, parent: Widget, size: Size) -> ReflowResult:
        self._full_map = self._laid_out
        result = super().reflow(parent, size)
        if self._painted is not self._laid_out:
            moved = self._painted.items() ^ self._full_map.items()
            self._dirty_regions.update([seen for _, one in moved if (seen := one.clip.intersection(one.region))])
        self._painted = self._laid_out = self._full_map
        return result

    def reflow_visible(self, parent: Widget, size: Size) -> set[Widget]:
        exposed = super().reflow_visible(parent, size)
        self._painted = self._visible_map or {}
        return exposed

    def render_partial_update(self) -> ChopsUpdate | None:
        self._changed = tuple(self._dirty_regions)
        try:
            return super().render_partial_update()
        finally:
            self._changed = ()

    def _get_renders(self, crop: Region | None = None) -> Iterable[tuple[Region, Region, list[Strip]]]:
        if crop is None:
            yield from super()._get_renders(crop)
            return
        changed = self._changed or (crop,)
        for widget, (region, clip) in self.visible_widgets.items():  # from the front
            seen = region.intersection(clip)
            for rows in _stretches([one.intersection(seen) for one in changed if one.overlaps(seen)]):
                part = seen.intersection(Region(0, rows.start, self.size.width, len(rows)))
                yield region, part, widget.render_lines(part.translate(-region.offset))
            changed = tuple([one for one in changed if not seen.contains_region(one)])


def _stretches(regions: list[Region]) -> list[range]:
    """The rows of these regions, from the top; those with few rows between them as one, which is less to ask for."""
    found: list[range] = []
    for one in sorted([one.line_range for one in regions if one], key=attrgetter("start")):
        if found and one.start <= found[-1].stop + ROWS_BETWEEN:
            found[-1] = range(found[-1].start, max(found[-1].stop, one.stop))
        else:
            found.append(one)
    return found


def paint_by_rows(screen: Screen[Any]) -> None:
    """Has a screen painted so. To be called while it is made."""
    screen._compositor = RowCompositor()
