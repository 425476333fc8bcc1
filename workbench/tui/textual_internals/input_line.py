"""Show the text of an `Input` without control characters; the text itself stays."""

from __future__ import annotations

from functools import partial

from rich.cells import cell_len
from rich.highlighter import Highlighter
from rich.text import Text
from textual.expand_tabs import expand_tabs_inline
from textual.geometry import Offset, Region
from textual.widgets import Input

from workbench.output.display import safe


def show_controls(line: Input) -> None:
    """Give each control character of a line its cell.

    Textual counts none for it, so the cursor would stand too far to the left and the end of a line stay out of sight.
    """
    line.highlighter = _WithoutControls(line)
    line.watch(line, "selection", partial(_put_cursor, line), init=False)


class _WithoutControls(Highlighter):
    """Shows the value of a line; the text that Rich passes has lost some control characters."""

    def __init__(self, line: Input) -> None:
        self._line = line

    def highlight(self, text: Text) -> None:
        text.plain = safe(self._line.value)


def _put_cursor(line: Input) -> None:
    """Put the cursor right where Textual has put it wrong."""
    shown = safe(line.value)
    if shown == line.value:
        return
    cell = cell_len(expand_tabs_inline(shown[: line.cursor_position], 4)) + line.cursor_at_end
    line.scroll_to_region(Region(cell, 0, 1, 1), force=True, animate=False)
    line.app.cursor_position = line.content_region.offset + Offset(cell - line.scroll_offset.x, 0)
