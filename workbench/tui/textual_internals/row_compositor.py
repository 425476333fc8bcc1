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

from workbench.tui.textual_internals.error_isolation import report
from workbench.tui.textual_internals.scrolling import FitsItsRoom

ROWS_BETWEEN = 4


class RowCompositor(Compositor):
    """Asks only those widgets that something changed in, and for these rows only.

    Textual's own asks every widget between the first change and the last for all of its rows, which takes most of the
    time of painting a letter.

    A widget is told its size when it is new beside the last layout. Textual's own compares with a map that it makes
    anew when somebody asks for a place after a scroll: what came meanwhile was never told, and its text never wrapped.
    What is painted anew by a layout is what has another place than it was painted at, by a scroll since then too.

    A size leads to no further layout, as it does by Textual, in case scrollbars have to be fitted in: a scrollbar that
    comes or goes asks for that itself.
    """

    def __init__(self) -> None:
        super().__init__()
        self._laid_out: CompositorMap = {}
        self._painted: CompositorMap = {}
        """Where everything in sight was by the last layout or scroll."""
        self._changed: tuple[Region, ...] = ()
        """The regions that are being painted; empty when all of the screen is."""
        self._seen_of: dict[Widget, tuple[Region, Region]] | None = None
        self._rows_seen: dict[Widget, frozenset[int]] = {}

    def reflow(self, parent: Widget, size: Size) -> ReflowResult:
        self._full_map = before = self._laid_out
        result = super().reflow(parent, size)
        self._full_map_invalidated = False  # it holds all there is, or the first that asks for a place makes it anew
        if self._painted is not self._laid_out:
            moved = self._painted.items() ^ self._full_map.items()
            self._dirty_regions.update([seen for _, one in moved if (seen := one.clip.intersection(one.region))])
        self._painted = self._laid_out = self._full_map
        for widget, one in self._laid_out.items():
            if one != before.get(widget):
                widget._size_updated(one.region.size, one.virtual_size, one.container_size, layout=False)
        for widget in self._laid_out:
            if isinstance(widget, FitsItsRoom):
                try:
                    widget.fit()
                except Exception as error:  # whatever a widget raises: the others are painted all the same
                    report(widget, error)
        self.update_widgets(set(self.visible_widgets))  # what changed by that is painted now, not once more behind it
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
        rows_seen = self._rows_in_sight()
        for widget, (region, clip) in self.visible_widgets.items():  # from the front
            seen = region.intersection(clip)
            for rows in _stretches([one.intersection(seen) for one in changed if one.overlaps(seen)]):
                if in_sight := [y for y in rows if y in rows_seen[widget]]:
                    part = seen.intersection(Region(0, in_sight[0], self.size.width, in_sight[-1] + 1 - in_sight[0]))
                    yield region, part, widget.render_lines(part.translate(-region.offset))
            changed = tuple([one for one in changed if not seen.contains_region(one)])

    def _rows_in_sight(self) -> dict[Widget, frozenset[int]]:
        """The rows of the screen in which something of a widget is not covered by others: of most containers few."""
        if self._seen_of is not self.visible_widgets:
            self._seen_of, self._rows_seen = self.visible_widgets, {}
            covered: list[list[tuple[int, int]]] = [[] for _ in range(self.size.height)]
            for widget, (region, clip) in self.visible_widgets.items():
                seen = region.intersection(clip)
                span = seen.column_span
                rows = [y for y in seen.line_range if not any(_holds(one, span) for one in covered[y])] if seen else []
                for y in rows:
                    covered[y] = _joined(covered[y], span)
                self._rows_seen[widget] = frozenset(rows)
        return self._rows_seen


def _stretches(regions: list[Region]) -> list[range]:
    """The rows of these regions, from the top; those with few rows between them as one, which is less to ask for."""
    found: list[range] = []
    for one in sorted([one.line_range for one in regions if one], key=attrgetter("start")):
        if found and one.start <= found[-1].stop + ROWS_BETWEEN:
            found[-1] = range(found[-1].start, max(found[-1].stop, one.stop))
        else:
            found.append(one)
    return found


def _holds(stretch: tuple[int, int], other: tuple[int, int]) -> bool:
    return stretch[0] <= other[0] and other[1] <= stretch[1]


def _joined(stretches: list[tuple[int, int]], other: tuple[int, int]) -> list[tuple[int, int]]:
    """Stretches of cells that do not touch each other, with a further one."""
    first, last = other
    apart: list[tuple[int, int]] = []
    for one in stretches:
        if one[1] < first or last < one[0]:
            apart.append(one)
        else:
            first, last = min(first, one[0]), max(last, one[1])
    return [*apart, (first, last)]


def paint_by_rows(screen: Screen[Any]) -> None:
    """Has a screen painted so. To be called while it is made."""
    screen._compositor = RowCompositor()
