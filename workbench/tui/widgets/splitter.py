"""A line between two panes that the mouse can drag."""

from __future__ import annotations

from typing import Literal

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from adapters.late_dataclasses import dataclass


class Splitter(Widget, can_focus=False):
    """A line that reports drags; the parent pane resizes its children."""

    @dataclass
    class Dragged(Message):
        """The user dragged the line to a cell of the screen."""

        x: int
        y: int

    def __init__(self, direction: Literal["vertical", "horizontal"], *, id: str | None = None) -> None:
        super().__init__(id=id, classes=f"-{direction}")
        self._direction = direction
        self.line = Content("")
        """The full text of the line, before it is cut to the width."""

    def show(self, line: Content) -> None:
        """Show text at the start of a horizontal line."""
        if not line.is_same(self.line):
            self.line = line
            self.refresh()

    def render(self) -> Content:
        if self._direction == "vertical":
            return Content("")
        room = max(1, self.size.width - len("─ "))
        line = self.line
        if line.cell_length > room:
            line = line.truncate(max(1, room - 1), ellipsis=True)
        end = max(line.plain.rfind(" ·"), line.plain.rfind("  "))
        if line.plain != self.line.plain and end > 0:
            line = line[:end] + Content(" …")  # half a number would be read as a number, half a word as a word
        rest = room - line.cell_length
        return Content.assemble("─ ", line, (" " + "─" * rest)[: max(0, rest)])

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self.capture_mouse()
        self.add_class("-dragged")
        event.stop()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self.has_class("-dragged"):
            self.post_message(self.Dragged(event.screen_x, event.screen_y))
            event.stop()

    def on_mouse_up(self, event: events.MouseUp) -> None:
        self.release_mouse()
        self.remove_class("-dragged")
