"""Show the output fields of a parse result: raw text, steps, value, flags, near misses, salvage."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual import events, on, work
from textual.containers import Container
from textual.content import Content
from textual.message import Message
from textual.reactive import Reactive, reactive
from textual.strip import Strip
from textual.timer import Timer
from textual.worker import Worker, WorkerState

from adapters.late_dataclasses import dataclass
from adapters.replies.reading import Reading
from workbench.output.display import safe
from workbench.tui.keys import pane_keys
from workbench.tui.widgets.reply.field_rows import Row, rows_of
from workbench.tui.widgets.reply.reply_view import ReplyView
from workbench.tui.widgets.text.line_view import LineView, css_beside, strip_of
from workbench.tui.widgets.text.wrapping import expand_tabs
from workbench.tui.widgets.text.wrapping import rows as wrapped

STYLES = "name type value note ok warning error problem message heading rule current mark".split()

NEAR_MISS_PAUSE = 0.3
"""Seconds without a new parse result before near misses are searched, because each guess is parsed, too."""


class FieldTable(LineView):
    """A table with a row for each field, which expands to the steps to its value."""

    DEFAULT_CSS = css_beside(__file__)
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"field-table--{name}" for name in STYLES}
    BINDINGS = pane_keys(
        "Reply",
        ("down", "row(1)", "Down", "fields.down", "Go to the row below"),
        ("up", "row(-1)", "Up", "fields.up", "Go to the row above"),
        ("pagedown", "row(10)", "Down 10", "fields.page_down", "Go ten rows down"),
        ("pageup", "row(-10)", "Up 10", "fields.page_up", "Go ten rows up"),
        ("home", "row(-1000000)", "First", "fields.first", "Go to the first row"),
        ("end", "row(1000000)", "Last", "fields.last", "Go to the last row"),
        ("enter,space", "open", "Steps", "fields.open", "Show or hide the steps of this field; choose a fix"),
        ("r", "point(True)", "In the reply", "fields.in_reply", "Select this value in the reply, to type over it"),
        ("e", "open_all", "All steps", "fields.open_all", "Show or hide the steps of all fields"),
    )

    beside: Reactive[frozenset[str]] = reactive(frozenset(), repaint=False, init=False)
    """The adapters that have a column."""

    @dataclass
    class Pointed(Message):
        """The cursor is on a row of this field; `chosen` if the user wants to edit its text in the reply."""

        field: str
        chosen: bool

    class Completed(Message):
        """Near misses were found and added as rows."""

    def __init__(self) -> None:
        super().__init__()
        self.reading: Reading | None = None
        self.error = ""
        self._has_shown = False
        self._toggled: set[str] = set()
        self.rows: list[Row] = []
        self._current = 0
        self._pause: Timer | None = None

    def set_height(self, rows: int) -> None:
        """Set the height to the number of rows, as far as the column allows."""
        if rows != self.virtual_size.height:
            self.refresh(layout=True)
        super().set_height(rows)

    def show(self, reading: Reading | None, error: str = "") -> None:
        """Show a parse result, or the reason why there is none."""
        if self._has_shown and reading is self.reading and error == self.error:
            return
        self._has_shown = True
        self.reading = reading
        self.error = error
        self.make_rows()
        if self.is_attached:
            self._look_for_near_misses()

    @on(events.Mount)
    def _look_for_near_misses(self) -> None:
        """Search for near misses and causes in a thread, after a pause in typing."""
        if self._pause is not None:
            self._pause.stop()
        if self.reading is not None and "diagnosis" not in vars(self.reading):
            self._pause = self.set_timer(NEAR_MISS_PAUSE, partial(self._find_near_misses, self.reading))

    # without a description, Textual would write one with the whole reply in it
    @work(thread=True, exclusive=True, group="near misses", exit_on_error=False, description="near misses")
    def _find_near_misses(self, reading: Reading) -> Reading:
        _ = reading.near_misses, reading.diagnosis  # both are cached on first access
        return reading

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        event.stop()
        if event.state is WorkerState.SUCCESS and event.worker.result is self.reading and self.reading is not None:
            if self.reading.near_misses or self.reading.diagnosis:
                self.make_rows()
                self.post_message(self.Completed())

    def watch_beside(self) -> None:
        self.make_rows()

    def make_rows(self) -> None:
        self._laid_out_for = self.row_width
        width = max(1, self.row_width - 2)
        self.rows = []
        if self.error:
            text = expand_tabs(safe(self.error))
            self.rows = [Row(((text[start:end], "error"),)) for start, end in wrapped(text, width)]
        if self.reading is not None:
            self.rows += rows_of(self.reading, width, self._toggled, self.beside)
        self._current = max(0, min(self._current, len(self.rows) - 1))
        if self.row_width:
            self.set_height(len(self.rows))
        self.repaint()

    def row(self, y: int, width: int) -> Strip:
        plain = self.style_of()
        if y >= len(self.rows):
            return Strip.blank(width, plain)
        is_current = y == self._current and self.has_focus
        over = ("field-table--current",) if is_current else ()
        pieces = [("▌" if is_current else " ", self.style_of("field-table--mark", *over))]
        pieces += [(text, self.style_of(f"field-table--{name}", *over)) for text, name in self.rows[y].pieces]
        return strip_of(pieces, width, self.style_of(*over) if over else plain)

    def action_row(self, step: int) -> None:
        self._current = max(0, min(self._current + step, len(self.rows) - 1))
        self.scroll_row_into_view(self._current)
        self.repaint()
        self.action_point()

    def action_point(self, chosen: bool = False) -> None:
        if self.rows and (field := self.rows[self._current].field) is not None:
            self.post_message(self.Pointed(field, chosen))

    async def action_open(self) -> None:
        row = self.rows[self._current] if self.rows else Row(())
        if row.is_fix:
            await self.run_action("app.fixes")
        elif row.field is not None:
            self._toggled ^= {row.field}
            self.make_rows()
            self._current = next((y for y, one in enumerate(self.rows) if one.field == row.field), 0)
            self.scroll_row_into_view(self._current)
            self.repaint()

    def action_open_all(self) -> None:
        """Open all fields, or reset all if any was toggled."""
        if self.reading is None:
            return
        self._toggled = set() if self._toggled else set(self.reading.fields)
        self.make_rows()

    async def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self) if self.text_selection is None else None
        y = offset.y + round(self.scroll_y) if offset is not None else -1
        if 0 <= y < len(self.rows):
            self._current = y
            row = self.rows[y]
            if row.is_fix or y == 0 or self.rows[y - 1].field != row.field:
                await self.action_open()
            self.repaint()

    def on_focus(self) -> None:
        self.action_point()


TWICE_THE_NARROWEST, LEAST_BESIDE = 64, 56
"""Cells from which reply and table are side by side: always, and if nothing has to wrap for it."""
SHARE_OF_FIELDS, SHARE_IF_NARROW = 50, 46
"""Percent of the width for a table at the side; less where the reply would have to wrap for it."""


class ReplyAndValues(Container, can_focus=False):
    """A reply with its table of fields below it, or at its side if there is room.

    Replies have short lines: in a wide column, a table at the side costs no rows, while below the reply it would cut
    the reply off.
    """

    DEFAULT_CSS = """
    ReplyAndValues {
        width: 1fr;
        height: 1fr;
        &.-beside { layout: horizontal; }
    }
    """

    def __init__(self, reply: ReplyView, fields: FieldTable) -> None:
        super().__init__(reply, fields)
        self._reply = reply
        self._fields = fields
        self._placed = (False, 0, 0)
        """The table's place: true at the side, its maximum rows, and its percent of the width."""

    def rows_in(self, width: int) -> int:
        """Return the rows that the reply, or its placeholder, and the table need together in `width` cells."""
        reply, fields = self._reply.wrapped_document.height, self._fields.virtual_size.height
        if not self._reply.raw and isinstance(self._reply.placeholder, Content):
            room = max(1, width - self._reply.gutter.width)
            return len(wrapped(self._reply.placeholder.plain, room)) + fields
        return max(reply, fields) if self.has_class("-beside") else reply + fields

    def place(self, height: int) -> None:
        """Arrange reply and table side by side if there is room, else one below the other.

        Below the reply, the table gets at least half of `height`. An empty table stays as it is, and so does one off
        screen, where the height is 0.
        """
        has_rows = self._fields.reading is not None or bool(self._fields.error)
        if height <= 0 or not (has_rows or self.has_class("-beside")):
            return
        width = self.size.width
        is_beside = is_wide = width >= TWICE_THE_NARROWEST
        if LEAST_BESIDE <= width < TWICE_THE_NARROWEST:
            of_reply = width - width * SHARE_IF_NARROW // 100
            has_sentences = any(row.field is None for row in self._fields.rows)  # such as an error or a flag
            is_beside = not has_sentences and self._reply.widest_row <= of_reply
        is_beside = is_beside and has_rows
        most = height if is_beside else max(height // 2, height - self._reply.wrapped_document.height)
        share = 100 if not is_beside else SHARE_OF_FIELDS if is_wide else SHARE_IF_NARROW
        if (is_beside, most, share) == self._placed:
            return
        self._placed = (is_beside, most, share)
        self.set_class(is_beside, "-beside")
        styles = self._fields.styles
        styles.width = f"{share}%" if is_beside else "1fr"
        styles.max_height = most

    def on_resize(self) -> None:
        self.place(self.size.height)
