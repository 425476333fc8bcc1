"""What stands on a terminal after all that an app has written to it, which may be less than what it holds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import zip_longest
from typing import Any
from unittest.mock import patch

from rich.cells import cell_len
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.app import App
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from workbench.tui.textual_internals.access import EntryList
from workbench.tui.textual_internals.row_compositor import RowCompositor
from workbench.tui.widgets.text.line_view import LineView


class Terminal:
    """Takes every update as Textual writes it: of a part of the screen the rest stays as it was."""

    def __init__(self) -> None:
        self._cells: dict[int, dict[int, str]] = {}

    @property
    def rows(self) -> list[str]:
        """Its text, row by row."""
        return ["".join([row[x] for x in sorted(row)]) for _, row in sorted(self._cells.items())]

    @contextmanager
    def of(self, app: App[Any]) -> Iterator[None]:
        """Is the terminal of this app, which has none of its own in a test."""
        display = app._display

        def displayed(screen: Screen[Any], update: Any) -> None:
            if not app._batch_count:  # or Textual writes nothing
                self._take(update)
            display(screen, update)

        with patch.object(app, "_display", displayed):
            yield

    def _take(self, update: object) -> None:
        if isinstance(update, LayoutUpdate):
            self._cells.clear()
            for y, strips in enumerate(update.strips, update.region.y):
                self._put(update.region.x, y, Strip.join(list(strips)))
        elif isinstance(update, ChopsUpdate):
            for y, first, last in update.spans:
                for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=True):
                    if strip is not None and x < last and end > first:
                        self._put(x, y, strip.crop(0, min(end, last) - x))

    def _put(self, x: int, y: int, strip: Strip) -> None:
        row = self._cells.setdefault(y, {})
        for sign in strip.text:
            row[x] = sign
            row.update(dict.fromkeys(range(x + 1, x + cell_len(sign)), ""))
            x += cell_len(sign)


def painted_anew(screen: Screen[Any]) -> list[str]:
    """The rows of a screen as they are when nothing that was painted before is used.

    What a view keeps of its last painting is given back: the terminal has not got these rows.
    """
    widgets = [screen, *screen.walk_children(Widget)]
    kept = {one: dict(one._painted) for one in widgets if isinstance(one, LineView)}
    for one in widgets:
        one._styles_cache.clear()
    for one in screen.query(EntryList):
        one._painted.clear()
    compositor = screen._compositor
    if isinstance(compositor, RowCompositor):
        compositor.forget_rows()
    rows = [strip.text for strip in compositor.render_strips()]
    for view, painted in kept.items():
        view._painted = painted
    return rows


def differing(one: list[str], other: list[str]) -> str:
    """The rows of two pictures that differ, both in full."""
    pairs = enumerate(zip_longest(one, other))
    return "\n".join([f"{y:3} {left!r}\n    {right!r}" for y, (left, right) in pairs if left != right])
