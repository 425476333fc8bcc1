"""The output fields of a reading: raw text, each step, value; flags, near misses and salvage in words."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer
from textual.worker import Worker, WorkerState

from adapters.replies.reading import Reading
from workbench.output.display import safe
from workbench.tui.widgets.reply.field_rows import Row, rows_of
from workbench.tui.widgets.text.line_view import LineView, strip_of
from workbench.tui.widgets.text.wrapping import expand_tabs
from workbench.tui.widgets.text.wrapping import rows as wrapped

_GROUP = Binding.Group("Reply")

STYLES = (
    "name",
    "type",
    "value",
    "note",
    "ok",
    "warning",
    "error",
    "problem",
    "message",
    "heading",
    "rule",
    "current",
    "mark",
)

NEAR_MISS_PAUSE = 0.3
"""Seconds without another reading after which near misses are looked for: each guess is a reading of its own."""


def _with_near_misses(reading: Reading) -> Reading:
    """The reading, which knows its near misses once it was asked for them."""
    _ = reading.near_misses
    return reading


class FieldTable(LineView):
    """One row a field, which opens to show how its value came about."""

    DEFAULT_CSS = """
    FieldTable {
        & .field-table--name { color: $text-primary; text-style: bold; }
        & .field-table--type { color: $foreground 65%; text-style: italic; }
        & .field-table--value { color: $foreground; }
        & .field-table--note { color: $foreground 60%; }
        & .field-table--ok { color: $text-success; text-style: bold; }
        & .field-table--warning { color: $text-warning; }
        & .field-table--error { color: $text-error; text-style: bold; }
        & .field-table--message { color: $foreground 85%; }
        & .field-table--problem { color: $text-error; }
        & .field-table--heading { color: $foreground 80%; text-style: bold; }
        & .field-table--rule { color: $foreground 25%; }
        & .field-table--current { background: $foreground 10%; }
        & .field-table--mark { color: $text-accent; text-style: bold; }
        &:ansi {
            & .field-table--note { text-style: dim; }
            & .field-table--type { text-style: dim italic; }
            & .field-table--current { background: transparent; text-style: reverse; }
        }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"field-table--{name}" for name in STYLES}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "row(1)", "Down", show=False, id="fields.down", tooltip="The row below", group=_GROUP),
        Binding("up", "row(-1)", "Up", show=False, id="fields.up", tooltip="The row above", group=_GROUP),
        Binding(
            "pagedown", "row(10)", "Down 10", show=False, id="fields.page_down", tooltip="Ten rows down", group=_GROUP
        ),
        Binding("pageup", "row(-10)", "Up 10", show=False, id="fields.page_up", tooltip="Ten rows up", group=_GROUP),
        Binding("home", "row(-1000000)", "First", show=False, id="fields.first", tooltip="The first row", group=_GROUP),
        Binding("end", "row(1000000)", "Last", show=False, id="fields.last", tooltip="The last row", group=_GROUP),
        Binding(
            "enter,space",
            "open",
            "Steps",
            id="fields.open",
            tooltip="Show or hide the steps of this field",
            group=_GROUP,
        ),
        Binding(
            "r",
            "in_reply",
            "In the reply",
            id="fields.in_reply",
            tooltip="Select this value in the reply: what is typed replaces it",
            group=_GROUP,
        ),
        Binding(
            "e",
            "open_all",
            "All steps",
            id="fields.open_all",
            tooltip="Show or hide the steps of all fields",
            group=_GROUP,
        ),
    ]

    class Pointed(Message):
        """The cursor is on a row of this field; `chosen` says that the user wants to change its text in the reply."""

        def __init__(self, field: str, chosen: bool) -> None:
            super().__init__()
            self.field, self.chosen = field, chosen

    class Completed(Message):
        """What was looked for beside the keys has come, and fills further rows."""

    def __init__(self, column_id: str, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.column_id = column_id
        self.reading: Reading | None = None
        self._error = ""
        self._has_shown = False
        self._toggled: set[str] = set()
        self._rows: list[Row] = []
        self._current = 0
        self._pause: Timer | None = None
        self._laid_out_for = 0

    @property
    def has_something(self) -> bool:
        """Whether there is a reading to show, or why there is none."""
        return self.reading is not None or bool(self._error)

    @property
    def has_sentences(self) -> bool:
        """Whether there is more to read than a row or a few for each field."""
        return any(row.field is None for row in self._rows)

    def set_height(self, rows: int) -> None:
        """As high as its rows, as far as the column lets it."""
        if rows != self.virtual_size.height:
            self.refresh(layout=True)
        super().set_height(rows)

    def show(self, reading: Reading | None, error: str = "") -> None:
        """Shows a reading, or why there is none."""
        if self._has_shown and reading is self.reading and error == self._error:
            return
        self._has_shown = True
        self.reading = reading
        self._error = error
        self._make_rows()
        if reading is not None and "near_misses" not in vars(reading) and self.is_attached:
            self._look_for_near_misses(reading)

    def _look_for_near_misses(self, reading: Reading) -> None:
        """Guesses what was meant, once nobody has typed for a moment and away from the keys."""

        def look() -> None:
            if self.reading is reading and self.is_attached:
                find = partial(_with_near_misses, reading)
                self.run_worker(find, thread=True, exclusive=True, group="near misses", exit_on_error=False)

        if self._pause is not None:
            self._pause.stop()
        self._pause = self.set_timer(NEAR_MISS_PAUSE, look)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        event.stop()
        if event.state is WorkerState.SUCCESS and event.worker.result is self.reading and self.reading is not None:
            if self.reading.near_misses:
                self._make_rows()
                self.post_message(self.Completed())

    def _make_rows(self) -> None:
        self._laid_out_for = self.row_width
        width = max(1, self.row_width - 2)
        self._rows = []
        if self._error:
            text = expand_tabs(safe(self._error))
            self._rows = [Row(((text[start:end], "error"),)) for start, end in wrapped(text, width)]
        if self.reading is not None:
            self._rows += rows_of(self.reading, width, self._toggled)
        self._current = max(0, min(self._current, len(self._rows) - 1))
        if self.row_width:
            self.set_height(len(self._rows))
        self.repaint()

    def lay_out(self) -> None:
        if self.row_width != self._laid_out_for:
            self._make_rows()

    def row(self, y: int, width: int) -> Strip:
        plain = self.style_of()
        if y >= len(self._rows):
            return Strip.blank(width, plain)
        is_current = y == self._current and self.has_focus
        over = ("field-table--current",) if is_current else ()
        pieces = [("▌" if is_current else " ", self.style_of("field-table--mark", *over))]
        pieces += [(text, self.style_of(f"field-table--{name}", *over)) for text, name in self._rows[y].pieces]
        return strip_of(pieces, width, self.style_of(*over) if over else plain)

    def action_row(self, step: int) -> None:
        self._current = max(0, min(self._current + step, len(self._rows) - 1))
        self.scroll_row_into_view(self._current)
        self.repaint()
        self._point()

    def action_in_reply(self) -> None:
        self._point(chosen=True)

    def _point(self, chosen: bool = False) -> None:
        if self._rows and (field := self._rows[self._current].field) is not None:
            self.post_message(self.Pointed(field, chosen))

    def action_open(self) -> None:
        if self._rows and (field := self._rows[self._current].field) is not None:
            self._toggle(field)

    def action_open_all(self) -> None:
        """Opens all fields, or sets every one back to how it started when some were changed."""
        if self.reading is None:
            return
        self._toggled = set() if self._toggled else set(self.reading.fields)
        self._make_rows()

    def _toggle(self, field: str) -> None:
        self._toggled ^= {field}
        self._make_rows()
        self._current = next((y for y, row in enumerate(self._rows) if row.field == field), 0)
        self.scroll_row_into_view(self._current)
        self.repaint()

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self) if not self.is_selecting else None
        y = offset.y + round(self.scroll_y) if offset is not None else -1
        if 0 <= y < len(self._rows):
            self._current = y
            field = self._rows[y].field
            if field is not None and (y == 0 or self._rows[y - 1].field != field):
                self._toggle(field)
            self.repaint()

    def on_focus(self) -> None:
        self.repaint()
        self._point()

    def on_blur(self) -> None:
        self.repaint()
