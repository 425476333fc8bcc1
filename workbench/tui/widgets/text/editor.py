r"""A text area that changes nothing in its text except through the user's edits.

Textual's TextArea turns every kind of line break into `\n` and passes control characters on to the terminal. This
editor holds the displayable form of the text, character for character, and applies every edit to the raw text at the
same place. `StreamedText` also grows at its end.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from rich.style import Style
from rich.text import Text
from textual import events
from textual.geometry import Size
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult, Location, Selection

from sessions.text_diff import common_prefix
from workbench.output.display import safe
from workbench.tui.keys import pane_keys
from workbench.tui.textual_internals.access import set_virtual_size
from workbench.tui.textual_internals.text_area import Hanging, RowPainting
from workbench.tui.widgets.text.wrapping import breaks, hang_of, rows

Syntax = Literal["text", "python", "json"]

LARGEST_TEXT = 40_000
"""Code points above which highlighting is off, because the whole text is scanned after every key."""


class Highlight(NamedTuple):
    """A highlight: columns `start` to `end` of a line, and their kind."""

    start: int
    end: int
    kind: str


_PYTHON = re.compile(
    r"""(?P<comment>\#[^\n]*)
      | (?P<string>[rbfuRBFU]{0,2}(?:'''(?:[^\\]|\\.)*?(?:'''|\Z)|\"\"\"(?:[^\\]|\\.)*?(?:\"\"\"|\Z)
                   |'(?:[^'\\\n]|\\.)*'?|"(?:[^"\\\n]|\\.)*"?))
      | (?P<keyword>\b(?:class|import|from|as|def|return|pass|None|True|False|in|not|and|or|is|lambda|if|else)\b|->)
      | (?P<type>\b(?:str|int|float|bool|list|dict|tuple|set|Literal|Optional|Union|Any|Enum
                   |date|datetime|Decimal|UUID)\b)
      | (?P<name>\b(?:InputField|OutputField|Signature|BaseModel|Field)\b|@\w+)
      | (?P<number>\b\d[\d_]*(?:\.\d+)?\b)
    """,
    re.VERBOSE | re.DOTALL,
)
_JSON = re.compile(
    r"""(?P<name>"(?:[^"\\\n]|\\.)*"(?=\s*:))
      | (?P<string>"(?:[^"\\\n]|\\.)*"?)
      | (?P<keyword>\b(?:true|false|null|NaN|Infinity)\b)
      | (?P<number>-?\b\d[\d.eE+-]*)
    """,
    re.VERBOSE,
)


@lru_cache(maxsize=64)
def highlight(text: str, syntax: Syntax) -> tuple[tuple[Highlight, ...], ...]:
    r"""Return the highlights of each line (split at `\n`); () for plain or very long text."""
    if syntax == "text" or len(text) > LARGEST_TEXT:
        return ()
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    found: list[list[Highlight]] = [[] for _ in lines]
    row = 0
    for match in (_PYTHON if syntax == "python" else _JSON).finditer(text):
        start, end = match.span()
        while starts[row + 1] <= start:
            row += 1
        for number in range(row, len(lines)):
            if starts[number] >= end:
                break
            column, stop = max(0, start - starts[number]), min(end - starts[number], len(lines[number]))
            if column < stop:
                found[number].append(Highlight(column, stop, str(match.lastgroup)))
    return tuple(tuple(line) for line in found)


LONGEST_WRAPPED_LINE = 4_000
"""Characters of a line above which wrapping is off: it would cost tens of milliseconds per key."""


LOOKS: Mapping[str, str] = {
    "comment": "$foreground 60% italic",
    "string": "$text-success",
    "keyword": "$text-primary bold",
    "type": "$text-secondary",
    "name": "$text-accent",
    "number": "$text-warning",
    "error": "$text-error on $error 25% bold underline",
    "lit": "on $accent 35% bold underline",
}
"""Styles of highlighted text; component classes would add a node to style for each in every editor."""


class Mark(NamedTuple):
    """A mark in the text: 0-based line, columns, and its kind (a key of `LOOKS`)."""

    line: int
    start: int
    end: int
    name: str


_WORD = re.compile(r"\w+")


def python_line(before: str) -> str:
    """Return the indentation of the line after `before`, one level deeper below a colon."""
    indent = before[: len(before) - len(before.lstrip(" "))]
    return indent + ("    " if before.rstrip().endswith(":") else "")


class Editor(RowPainting):
    """An editor of a text: `show` sets the text, `on_edit` receives it after each edit by the user, and only then."""

    ALLOW_SELECT = False  # on a double click, Textual would select the whole widget without showing it
    LONGEST_WRAPPED = LONGEST_WRAPPED_LINE

    BINDINGS = pane_keys(
        "This text",
        ("ctrl+home", "to_start", "Start", "editor.start", "Go to the start of the text"),
        ("ctrl+end", "to_end", "End", "editor.end", "Go to the end of the text"),
        ("ctrl+shift+home", "to_start(True)", "Select to the start", "editor.select_to_start", "Select to the start"),
        ("ctrl+shift+end", "to_end(True)", "Select to the end", "editor.select_to_end", "Select to the end"),
    )

    def __init__(
        self,
        text: str = "",
        *,
        syntax: Syntax = "text",
        on_edit: Callable[[str], object] = lambda _: None,
        next_line: Callable[[str], str | None] | None = None,
        takes_paste: Callable[[str], bool] | None = None,
        **options: Any,
    ) -> None:
        self.raw = text
        """The raw text; `text` is its displayable form."""
        self._is_showing = False
        self._marks: tuple[Mark, ...] = ()
        self._styles: dict[str, Style] = {}
        self.syntax: Syntax = syntax
        self.on_edit = on_edit
        self._next_line = next_line
        self._takes_paste = takes_paste
        super().__init__(safe(text), compact=True, max_checkpoints=1, highlight_cursor_line=False, **options)
        self._wrap_unless_too_long()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the height of the text, or of the placeholder, which Textual would cut off."""
        height = super().get_content_height(container, viewport, width)
        if self.text or not self.placeholder:
            return height
        return max(height, len(rows(str(self.placeholder), max(1, width))))

    def show(self, text: str) -> None:
        """Show a text.

        If it is similar to the current text, only the difference is replaced and the cursor moves there.
        """
        if text == self.raw:
            return
        old, new = self.text, safe(text)
        start = common_prefix(old, new)
        tail = common_prefix(old[start:][::-1], new[start:][::-1])
        self.raw = text
        if start + tail < max(len(old), len(new)) // 2:
            with self.prevent(TextArea.Changed):
                self.load_text(new)
            self._wrap_unless_too_long()
            self.refresh()
            return
        self._is_showing = True
        try:
            top, bottom = self._location(old, start), self._location(old, len(old) - tail)
            super().edit(Edit(new[start : len(new) - tail], top, bottom, maintain_selection_offset=False))
        finally:
            self._is_showing = False
        self._wrap_unless_too_long()

    def edit(self, edit: Edit) -> EditResult:
        if self._is_showing:
            return super().edit(edit)
        start, end = self._offset(edit.top), self._offset(edit.bottom)
        typed = edit.text.replace("\r\n", "\n").replace("\r", "\n")
        result = super().edit(dataclasses.replace(edit, text=safe(typed)))
        self.raw = self.raw[:start] + typed + self.raw[end:]
        self._wrap_unless_too_long()
        self.on_edit(self.raw)
        return result

    def on_paste(self, event: events.Paste) -> None:
        """Let `takes_paste` handle a paste; this runs before Textual's handler."""
        if self._takes_paste is not None and self._takes_paste(event.text):
            event.prevent_default()
            event.stop()

    def on_resize(self, event: events.Resize) -> None:
        """Keep the cursor visible when a note below shrinks the editor."""
        if self.has_focus and not self.read_only:
            self.call_after_refresh(self.scroll_cursor_visible, animate=False)

    def mark(self, marks: Iterable[Mark]) -> None:
        """Replace the marks."""
        chosen = tuple(marks)
        if chosen != self._marks:
            self._marks = chosen
            self.forget_painted_lines()
            self.repaint_changes()

    def action_to_start(self, select: bool = False) -> None:
        self.move_cursor((0, 0), select=select)

    def action_to_end(self, select: bool = False) -> None:
        self.move_cursor(self.document.end, select=select)

    def go_to(self, line: int, column: int) -> None:
        """Move the cursor to a 1-based line and column, clamped to the text."""
        row = max(0, min(line, self.document.line_count) - 1)
        self.move_cursor((row, max(0, min(column - 1, len(self.document.get_line(row))))), center=True)

    def select_text(self, start: int, end: int) -> None:
        """Select these characters of the text and scroll to them."""
        text = self.text
        self.selection = Selection(self._location(text, start), self._location(text, end))
        self.scroll_cursor_visible(center=True, animate=False)

    def get_line(self, line_index: int) -> Text:
        line = super().get_line(line_index)
        found = highlight(self.text, self.syntax) if self.syntax != "text" else ()
        if line_index < len(found):
            for start, end, kind in found[line_index]:
                line.stylize(self._style(kind), start, end)
        for mark in self._marks:
            if mark.line == line_index:
                line.stylize(self._style(mark.name), mark.start, max(mark.end, mark.start + 1))
        return line

    def decorations(self) -> Callable[[int], object]:
        found = highlight(self.text, self.syntax) if self.syntax != "text" else ()
        marks: dict[int, list[Mark]] = {}
        for mark in self._marks:
            marks.setdefault(mark.line, []).append(mark)
        return lambda index: (found[index] if index < len(found) else (), marks.get(index))

    def notify_style_update(self) -> None:
        self._styles.clear()
        self.forget_painted_lines()
        super().notify_style_update()

    def on_key(self, event: events.Key) -> None:
        next_line = python_line if self.syntax == "python" else self._next_line
        if event.key != "enter" or next_line is None or self.read_only:
            return
        event.prevent_default()
        event.stop()
        row, column = min(self.selection)
        begins = next_line(self.document.get_line(row)[:column])
        if begins is None:
            self.type_over("", (row, 0), max(self.selection))
        else:
            self.type_over("\n" + begins, *self.selection)

    def on_click(self, event: events.Click) -> None:
        """Select the word on a double click, and the line on a triple click."""
        if event.chain < 2:
            return
        event.stop()  # otherwise everything around it would be selected
        row, column = self.cursor_location
        line = self.document.get_line(row)
        if event.chain == 2:
            found = next((one for one in _WORD.finditer(line) if one.start() <= column <= one.end()), None)
            if found is not None:
                self.selection = Selection((row, found.start()), (row, found.end()))
        elif event.chain == 3:
            self.selection = Selection((row, 0), (row, len(line)))

    def _style(self, name: str) -> Style:
        if name not in self._styles:
            self._styles[name] = (self.visual_style + self.app.stylesheet.parse_style(LOOKS[name])).rich_style
        return self._styles[name]

    def _offset(self, location: Location) -> int:
        row, column = location
        return sum(len(self.document.get_line(one)) + 1 for one in range(row)) + column

    @staticmethod
    def _location(text: str, offset: int) -> Location:
        before = text[:offset]
        return before.count("\n"), offset - (before.rfind("\n") + 1)

    def _wrap_unless_too_long(self) -> None:
        wrap = max(map(len, self.document.lines)) <= self.LONGEST_WRAPPED
        if wrap != self.soft_wrap:
            self.soft_wrap = wrap


LONGEST_STREAMED_LINE = 20_000
"""Characters of a line above which wrapping is off: each key in such a line would cost more than a frame."""
ROOM = 3
"""Fraction of the page scrolled when text reaches the last row.

A scroll repaints every row, and readers lose their line less often if it is rare.
"""


class StreamedText(Editor):
    """A text that grows at its end, with an indent for wrapped lines."""

    HANGING = Hanging(hang_of, breaks)
    LONGEST_WRAPPED = LONGEST_STREAMED_LINE
    _followed_to = 0.0
    """Scroll position that keeps the end visible; infinite while the user has scrolled back to read."""

    def append(self, chunk: str) -> None:
        """Append text and scroll to it unless the user has scrolled away.

        Moves no cursor and posts no `Edited`.
        """
        follows = self.scroll_y >= min(self._followed_to, self.max_scroll_y) - 1
        self.raw += chunk
        end = self.document.end
        added = self.document.replace_range(end, end, safe(chunk))
        self.wrapped_document.wrap_range(end, end, added.end_location)
        self.forget_painted_lines()
        if self.soft_wrap and len(self.document.get_line(end[0])) > LONGEST_STREAMED_LINE:
            self.soft_wrap = False
        self._grow(follows)
        self._followed_to = self.scroll_y if follows else math.inf
        self.repaint_changes()

    def on_resize(self, event: events.Resize) -> None:
        """Forget the scroll position, because another width has another number of rows."""
        if self._followed_to != math.inf:
            self._followed_to = 0.0

    def end_stream(self) -> None:
        """Mark the text as complete."""
        self._followed_to = 0.0
        self.fit_scrollbars()

    def _grow(self, follows: bool) -> None:
        """Make room for the text by updating only its scrollbar.

        Laying out the screen for each chunk would delay keys.
        """
        height, page = self.wrapped_document.height, self.scrollable_content_region.height
        if not self.soft_wrap or (height > page and not self.show_vertical_scrollbar):
            self.fit_scrollbars()
            if follows:
                self.scroll_end(animate=False)  # once the scrollbar is there
            return
        if height > self.virtual_size.height:
            size = Size(0, height + (page // ROOM if height > page else 0))
            set_virtual_size(self, size, has_scrollbar=height > page)
        if follows and height > self.scroll_y + page:
            self.scroll_to(y=self.virtual_size.height - page, animate=False, immediate=True, force=True)
