"""A list of one-line rows that are rendered only when visible.

Textual's `OptionList` takes 13 ms of processor time to show a changed row among 1,000, the whole budget of a key; this
takes less than 1 ms.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import ClassVar

from textual import events, on
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual

from adapters.late_dataclasses import dataclass
from workbench.tui.keys import pane_keys
from workbench.tui.textual_internals.access import KeepsReverse

MOST_KEPT = 200
"""The most painted rows that are kept, so that a step paints only the rows that it changes."""


class RowList(ScrollView, KeepsReverse, can_focus=True):
    """A list of rows; `line_of(index)` returns the text of a row, already `safe`, which changes only with `show`."""

    ALLOW_SELECT = False
    BINDINGS = pane_keys(
        "Rows",
        ("up", "step(-1)", "Up", "rows.up", "Go to the row above"),
        ("down", "step(1)", "Down", "rows.down", "Go to the row below"),
        ("pageup", "step(-10)", "Up 10", "rows.page_up", "Go ten rows up"),
        ("pagedown", "step(10)", "Down 10", "rows.page_down", "Go ten rows down"),
        ("home", "step(-1000000)", "First", "rows.first", "Go to the first row"),
        ("end", "step(1000000)", "Last", "rows.last", "Go to the last row"),
    )
    COMPONENT_CLASSES: ClassVar[set[str]] = {"row-list--current"}

    @dataclass
    class Moved(Message):
        """The user moved to another row."""

        index: int

    def __init__(self, line_of: Callable[[int], Content]) -> None:
        super().__init__()
        self._line_of = line_of
        self._count = 0
        self.current = 0
        self._row_strip = lru_cache(MOST_KEPT)(self._paint_row)

    def show(self, count: int, current: int) -> None:
        self._row_strip.cache_clear()
        if count != self._count:
            self._count = count
            self.virtual_size = Size(0, count)
        self.current = current
        self.refresh()
        self._scroll_to_current()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._row_strip.cache_clear()

    def render_line(self, y: int) -> Strip:
        index = y + self.scroll_offset.y
        width = self.scrollable_content_region.width
        if index >= self._count:
            return Strip.blank(width, self.rich_style)
        return self._row_strip(index, index == self.current, width)

    def _paint_row(self, index: int, is_current: bool, width: int) -> Strip:
        line = self._line_of(index).truncate(width, ellipsis=True, pad=True)
        style = self.visual_style
        if is_current:
            style += self.get_visual_style("row-list--current")
        strips = Visual.to_strips(self, line, width, 1, style)
        return strips[0] if strips else Strip.blank(width, style.rich_style)

    def on_click(self, event: events.Click) -> None:
        index = event.get_content_offset_capture(self).y + self.scroll_offset.y
        if index < self._count:
            self.action_step(index - self.current)

    def action_step(self, by: int) -> None:
        if self._count:
            self.current = max(0, min(self.current + by, self._count - 1))
            self.refresh()
            self._scroll_to_current()
            self.post_message(self.Moved(self.current))

    @on(events.Resize)
    def _scroll_to_current(self) -> None:
        """Scroll to the current row and the next two, such as those that add fields."""
        rows = max(1, min(3, self.size.height, self._count - self.current))
        self.scroll_to_region(Region(0, self.current, 1, rows), animate=False)
