"""What the cells of a painted screen are, and what its panes do with their room."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from textual.screen import Screen
from textual.scroll_view import ScrollView
from textual.widgets import TextArea

FRAME = "\u2500-\u259f"


class Cells(NamedTuple):
    """Shares of the cells of a screen, together 1."""

    text: float
    frame: float
    blank: float


class Used(NamedTuple):
    """The share of the cells of a screen that belong to no text, and the rows that its panes have no room for."""

    free: float
    cut: int


def count(rows: Sequence[str]) -> Cells:
    """What the cells of these rows of a screen are; a wide character counts once."""
    whole = sum(map(len, rows))
    frame = sum(len(re.findall(f"[{FRAME}]", row)) for row in rows)
    text = sum(len(re.findall(rf"[^\s{FRAME}]", row)) for row in rows)
    text += sum(len(gap) for row in rows for gap in re.findall(rf"(?<=[^\s{FRAME}]) {{1,2}}(?=[^\s{FRAME}])", row))
    return Cells(text / whole, frame / whole, (whole - text - frame) / whole)


def used(screen: Screen[Any]) -> Used:
    """Which cells of a screen its panes have something for, and how much of it they cannot show."""
    width, height = screen.size
    free = [[True] * width for _ in range(height)]
    cut = 0
    for widget, (region, clip, *_) in screen._compositor.visible_widgets.items():
        if any(one.display for one in widget.children) or not widget.size:
            continue
        part = region.intersection(clip)
        shown = part.height
        if isinstance(widget, ScrollView):
            held = widget.wrapped_document.height if isinstance(widget, TextArea) else widget.virtual_size.height
            shown, cut = min(shown, held), cut + max(0, widget.max_scroll_y)
        for row in free[part.y : part.y + shown]:
            row[part.x : part.right] = [False] * part.width
    count = sum(
        is_free and cell == " "
        for cells, row in zip(free, rows_of(screen), strict=True)
        for is_free, cell in zip(cells, row, strict=False)
    )
    return Used(count / (width * height), cut)


def rows_of(screen: Screen[Any]) -> list[str]:
    """The screen as it is painted, row by row."""
    return ["".join(segment.text for segment in strip) for strip in screen._compositor.render_strips()]
