"""A text area that is faithful: what it holds is the text it was given, to the character, plus the user's own edits.

Textual's TextArea turns every kind of line break into `\\n` and passes control characters on to the terminal. Here it
holds only what the display gate lets through, one character for one, and every edit of the user is made on the real
text at the same place. So nothing that the user did not touch ever changes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, NamedTuple

from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult, Location, Selection

from workbench.output.display import safe
from workbench.tui.textual_internals.row_painting import RowPainting
from workbench.tui.widgets.text.syntax import Syntax, highlight
from workbench.tui.widgets.text.wrapping import rows

_GROUP = Binding.Group("This text")

LONGEST_WRAPPED_LINE = 4_000
"""Characters in one line above which lines are not wrapped: wrapping such a line costs tens of milliseconds a key."""


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
"""How what stands in a text looks. Not component classes: each of those is a node to be styled in every editor."""


class Mark(NamedTuple):
    """Something to show in the text: 0-based line, columns, and what it is (one of `LOOKS`)."""

    line: int
    start: int
    end: int
    name: str


def _nothing(_: str) -> None:
    return None


def _common_length(one: str, other: str) -> int:
    """How many characters both begin with."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


class Editor(RowPainting):
    """`show` puts a text in; `on_edit` is called with the whole text after each edit of the user, and only then."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "ctrl+home",
            "to_start",
            "Start",
            show=False,
            id="editor.start",
            tooltip="The start of the text",
            group=_GROUP,
        ),
        Binding("ctrl+end", "to_end", "End", show=False, id="editor.end", tooltip="The end of the text", group=_GROUP),
        Binding(
            "ctrl+shift+home",
            "to_start(True)",
            "Select to the start",
            show=False,
            id="editor.select_to_start",
            tooltip="Select from here to the start of the text",
            group=_GROUP,
        ),
        Binding(
            "ctrl+shift+end",
            "to_end(True)",
            "Select to the end",
            show=False,
            id="editor.select_to_end",
            tooltip="Select from here to the end of the text",
            group=_GROUP,
        ),
    ]

    def __init__(
        self,
        text: str = "",
        *,
        syntax: Syntax = "text",
        on_edit: Callable[[str], None] = _nothing,
        **options: Any,
    ) -> None:
        self._raw = text
        self._is_showing = False
        self._marks: tuple[Mark, ...] = ()
        self._styles: dict[str, Style] = {}
        self.syntax: Syntax = syntax
        self.on_edit = on_edit
        super().__init__(safe(text), compact=True, max_checkpoints=1, highlight_cursor_line=False, **options)
        self._wrap_unless_too_long()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As high as the text, and without one as what stands in its place, which would be cut off."""
        height = super().get_content_height(container, viewport, width)
        if self.text or not self.placeholder:
            return height
        return max(height, len(rows(str(self.placeholder), max(1, width))))

    @property
    def raw(self) -> str:
        """The text itself, as opposed to `text`, which is what can be shown of it."""
        return self._raw

    def show(self, text: str) -> None:
        """Puts `text` in. Of a text much like it only what differs is replaced, and the cursor goes there."""
        if text == self._raw:
            return
        old, new = self.text, safe(text)
        start = _common_length(old, new)
        tail = _common_length(old[start:][::-1], new[start:][::-1])
        self._raw = text
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
        self._raw = self._raw[:start] + typed + self._raw[end:]
        self._wrap_unless_too_long()
        self.on_edit(self._raw)
        return result

    def on_resize(self) -> None:
        """What stands below may take room while the user types at the last line in sight."""
        if self.has_focus and not self.read_only:
            self.call_after_refresh(self.scroll_cursor_visible, animate=False)

    def mark(self, marks: Iterable[Mark]) -> None:
        """Shows these marks in place of the earlier ones."""
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
        """The cursor to a 1-based line and column, as far as the text has them."""
        row = max(0, min(line, self.document.line_count) - 1)
        self.move_cursor((row, max(0, min(column - 1, len(self.document.get_line(row))))), center=True)

    def select_text(self, start: int, end: int) -> None:
        """Selects these characters of the text, and brings them into sight."""
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
        if event.key == "enter" and self.syntax == "python" and not self.read_only:
            event.prevent_default()
            event.stop()
            line = self.document.get_line(self.selection.start[0])[: self.selection.start[1]]
            indent = line[: len(line) - len(line.lstrip(" "))] + ("    " if line.rstrip().endswith(":") else "")
            self.type_over("\n" + indent, *self.selection)

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
        wrap = max(map(len, self.document.lines)) <= LONGEST_WRAPPED_LINE
        if wrap != self.soft_wrap:
            self.soft_wrap = wrap
