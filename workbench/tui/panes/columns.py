"""Show the columns side by side, scrolling sideways if they do not fit."""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import accumulate, pairwise
from typing import Literal

from textual import on
from textual.containers import HorizontalScroll
from textual.geometry import Size
from textual.message import Message
from textual.reactive import Reactive, reactive
from textual.timer import Timer

from adapters.formats import catalog
from sessions.model.session import Column
from workbench.state.document import RenderedColumn
from workbench.tui.keys import keys_of
from workbench.tui.panes.column import ColumnPane
from workbench.tui.panes.height_shares import HeightShares, Held
from workbench.tui.panes.status import said_beyond
from workbench.tui.panes.verdicts import Verdict
from workbench.tui.runs.runs import ColumnRun
from workbench.tui.widgets.prompt.prompt_section import Origin
from workbench.tui.widgets.prompt.prompt_view import PromptView
from workbench.tui.widgets.reply.field_table import FieldTable
from workbench.tui.widgets.reply.reply_view import ReplyView
from workbench.tui.widgets.splitter import Splitter

NARROWEST = 32
"""Minimum width of a column in cells; columns that do not fit scroll sideways."""
ROWS_OF_BORDER = 2
"""Rows of a column's height that its border takes."""
Part = Literal["prompt", "reply"]
REST_SECONDS = 0.15
"""Seconds without a change before hidden columns are updated."""

Arrangement = tuple[Size, bool, bool]
"""The size of the terminal; true in projector mode; true if a pane is alone."""
Shown = tuple[RenderedColumn, ColumnRun | None, str | None]
"""A column, its run, and its own model, if any."""


class ColumnsPane(HorizontalScroll, can_focus=False):
    BINDING_GROUP_TITLE = "Columns"

    beyond: Reactive[str] = reactive("", repaint=False)
    """The result of `status.said_beyond` for the current columns."""

    class Turned(Message):
        """Another column became current."""

    def __init__(self) -> None:
        super().__init__(id="columns")
        self._columns: dict[str, ColumnPane] = {}
        self._waiting: dict[str, Shown] = {}
        self._rest: Timer | None = None
        self.shares = HeightShares()
        self._last_room = Size()
        self._expected = Size()
        self._heights: dict[Arrangement, int] = {}
        self._arrangement: Arrangement | None = None
        self._last = ""
        self.in_sight_count = 0
        self._overflow = 0
        self._alone: ColumnPane | None = None
        self._one_at_a_time = False
        self._one_part = self._prompt_with_reply = False
        self.part: Part = "prompt"
        self._came_along: PromptView | ReplyView | None = None
        """The part that has the focus only because the focused part was hidden."""
        self.is_quiet = False
        """True if the text shared by all columns is folded."""

    def expect(self, width: int, arrangement: Arrangement) -> None:
        """Use this width, and the arrangement's last height, until the next layout.

        Otherwise a second layout would follow that one.
        """
        self._arrangement = arrangement
        self._expected = Size(width, self._heights.get(arrangement, 0))

    def frame(self, columns: Sequence[Column]) -> None:
        """Show the columns with their titles only."""
        self._arrange([one.id for one in columns])
        for column in columns:
            self._columns[column.id].frame(column)

    def show(self, columns: Sequence[Shown]) -> None:
        """Show every column; updates of hidden columns are delayed if possible."""
        wanted = [rendered.column.id for rendered, _, _ in columns]
        if wanted != list(self._columns):
            self._arrange(wanted)
        has_replies = any(rendered.text or run is not None for rendered, run, _ in columns)
        if has_replies != self.shares.has_replies:
            self.shares = HeightShares(self.shares.said, has_replies)  # the rows must be measured again
            self._split()
        in_sight = self.visible_ids()
        adapters = frozenset(rendered.column.adapter for rendered, _, _ in columns)
        for rendered, run, model in columns:
            id = rendered.column.id
            self._columns[id].fields.beside = adapters
            if id in in_sight or not self._columns[id].can_wait(rendered, run):
                self._waiting.pop(id, None)
                self._columns[id].show(rendered, run, model)
            else:
                self._waiting[id] = (rendered, run, model)
        of_dspy = (one.column.id for one, _, _ in columns if catalog.dspy_class(one.column.adapter) is not None)
        first = next(of_dspy, "")
        for id, one in self._columns.items():
            one.say_whose(id == first, is_last=id == wanted[-1])
        if not any(run is not None and run.phase == "running" for _, run, _ in columns):
            self.call_after_refresh(self.make_room)
        if self._rest is not None:
            self._rest.stop()
        if self._waiting:
            self._rest = self.set_timer(REST_SECONDS, self.catch_up)

    def catch_up(self, *ids: str) -> None:
        """Apply delayed updates of the given columns, or of all, and show streamed text."""
        for id in ids or tuple(self._waiting):
            waiting = self._waiting.pop(id, None)
            if waiting is not None and id in self._columns:
                self._columns[id].show(*waiting)
        for id in ids or tuple(self._columns):
            if id in self._columns:
                self._columns[id].stream()

    def stream(self, run: ColumnRun) -> bool:
        """Show the reply received so far if its column is visible, and return whether it is."""
        is_visible = run.column in self.visible_ids()
        if is_visible:
            self._columns[run.column].stream()
        return is_visible

    def visible_ids(self) -> list[str]:
        """Return the ids of the visible columns in order; before the first layout, all ids."""
        if not self.display:
            return []
        shown = [one for one in self._columns.values() if one.display]
        if not all(one.outer_size.width for one in shown):
            return list(self._columns)
        left, right = self.scroll_x, self.scroll_x + self.size.width
        edges = pairwise(accumulate([one.outer_size.width for one in shown], initial=0))
        return [one.column_id for one, (start, end) in zip(shown, edges, strict=True) if start < right and end > left]

    def watch_scroll_x(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_x(old_value, new_value)
        self.catch_up()
        self._tell_beyond()

    def on_show(self) -> None:
        self.catch_up()
        self._tell_beyond()

    def on_hide(self) -> None:
        self.beyond = ""

    def mark_outdated(self, ids: Container[str]) -> None:
        """Mark the columns with a prompt that changed since it was sent."""
        for id, column in self._columns.items():
            column.mark_outdated(id in ids)

    def mark_drifted(self, ids: Container[str]) -> None:
        """Mark the columns that differ from their recordings."""
        for id, column in self._columns.items():
            column.mark_drifted(id in ids)

    def column(self, id: str) -> ColumnPane | None:
        self.catch_up(id)
        return self._columns.get(id)

    def set_share(self, share: float | None) -> None:
        """Set the prompts' share of the height; None divides it by need."""
        self.shares.say(share)
        self._split()

    @property
    def rendered(self) -> list[RenderedColumn]:
        """The state of every column, including delayed updates."""
        waiting = {id: shown[0] for id, shown in self._waiting.items()}
        known = [waiting.get(id, column.rendered) for id, column in self._columns.items()]
        return [one for one in known if one is not None]

    @property
    def verdicts(self) -> list[Verdict]:
        """The verdict of every column, including delayed updates."""
        waiting = {id: shown[:2] for id, shown in self._waiting.items()}
        return [column.verdict_of(waiting.get(id)) for id, column in self._columns.items()]

    @property
    def all(self) -> tuple[ColumnPane, ...]:
        self.catch_up()
        return tuple(self._columns.values())

    @property
    def current(self) -> ColumnPane | None:
        """The focused column, else the last focused, else the first."""
        focused = next((one for one in self._columns.values() if one.has_focus_within), None)
        if focused is not None:
            self._last = focused.column_id
        current = focused or self._columns.get(self._last) or next(iter(self._columns.values()), None)
        if current is not None:
            self.catch_up(current.column_id)
        return current

    def highlight(self, key: Origin | None, pointed_at: str) -> None:
        """Highlight an origin in every column, and name it in the title of the column `pointed_at`."""
        for id, column in self._columns.items():
            column.prompt.highlight(key)
            column.name_origin(key if id == pointed_at else None)

    def reveal(self, key: Origin, but: Container[str] = ()) -> None:
        """Scroll every prompt except those in `but` to this origin."""
        for id, column in self._columns.items():
            if id not in but and column.prompt.is_attached:
                column.prompt.reveal(key)

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(self._columns)

    def without(self, key: Origin) -> frozenset[str]:
        """Return the columns with prompts that lack this origin."""
        return frozenset(id for id, column in self._columns.items() if not column.prompt.has(key))

    def turn_to(self, id: str) -> None:
        """Show a column and make it current, at once or as soon as it exists."""
        self._last = id
        column = self._columns.get(id)
        if column is None:
            return
        if self._one_at_a_time:
            self._show_columns(column)
        else:
            self.scroll_to_widget(column, animate=False)
        self.catch_up(id)
        self.post_message(self.Turned())

    def focus_on(self, id: str, part: type[PromptView] | type[ReplyView]) -> None:
        """Focus the prompt of a column, or its reply at the parse error."""
        if id not in self._columns:
            return
        self.show_part("prompt" if part is PromptView else "reply")
        self.turn_to(id)
        self._came_along = None
        self._columns[id].query_one(part).focus()
        if part is ReplyView:
            self._columns[id].reply.go_to_error()

    def focus_next_part(self, part: type[PromptView] | type[ReplyView]) -> None:
        """Focus the prompt or reply of the current column; if it has the focus, that of the next column."""
        columns = self.all
        current = self.current
        if current is None:
            return
        index = columns.index(current)
        focused = self.screen.focused
        if isinstance(focused, part) and focused is not self._came_along:
            index = (index + 1) % len(columns)
        self.focus_on(columns[index].column_id, part)

    def show_only(
        self,
        *,
        alone: ColumnPane | None,
        one_at_a_time: bool,
        one_part: bool,
        prompt_with_reply: bool,
        is_reply: bool,
    ) -> None:
        """Show a part of the column `alone`, a single column at a time, or all columns.

        `one_part` means that a prompt or a reply fits, but not both; `prompt_with_reply` that a reply leaves room for a
        few rows of its prompt, which then start at the last message.
        """
        self._alone, self._one_at_a_time, self._one_part = alone, one_at_a_time, one_part
        self._prompt_with_reply = prompt_with_reply
        if alone is not None:
            self.part = "reply" if is_reply else "prompt"
        self._show_columns()

    def show_part(self, part: Part) -> None:
        """Choose the visible part for when a single part fits."""
        if part == self.part:
            return
        self.part = part
        if not self._one_part and self._alone is None:
            return
        self._show_columns()
        focused = self.screen.focused
        column = next((one for one in self._columns.values() if one.has_focus_within), None)
        if column is not None and focused is not None and (focused is column.prompt or not focused.display):
            # the focus moves from a hidden part to the part that replaces it
            part_shown = column.reply if part == "reply" else column.prompt
            if focused is not part_shown:
                self._came_along = part_shown
                part_shown.focus()

    def _show_columns(self, wanted: ColumnPane | None = None) -> None:
        """Show the `wanted` or current column alone, or all columns."""
        current = self._alone or wanted or self.current
        part: Part | None = self.part if self._one_part or self._alone is not None else None
        if part == "reply" and self._prompt_with_reply and self._alone is None and current is not None:
            part = None
            self.call_after_refresh(self._show_last_message, current)
        for one in self._columns.values():
            one.display = one is current or (self._alone is None and not self._one_at_a_time)
            one.show_part(part)
        self._split()
        self._fit()

    def _show_last_message(self, column: ColumnPane) -> None:
        self.make_room()
        self.call_after_refresh(column.prompt.show_last_message)

    def on_resize(self) -> None:
        self._expected = Size()
        if self._arrangement is not None and self.size:
            self._heights[self._arrangement] = self.size.height
        self._split()
        self._fit()
        self.catch_up()

    def tick(self, now: float) -> None:
        """Update the clock of active runs."""
        for id in self.visible_ids():
            self._columns[id].show_verdict(now)

    def resize_prompts(self, by: float) -> None:
        """Add to the prompts' share of the height; negative values enlarge the replies."""
        current = self.current.column_id if self.current is not None else ""
        self.set_share(self.shares.of(current, self._room.height - ROWS_OF_BORDER) + by)

    def set_quiet(self, is_quiet: bool) -> None:
        """Fold or unfold the text shared by all columns."""
        self.is_quiet = is_quiet
        for column in self._columns.values():
            column.prompt.set_quiet(is_quiet)

    @on(PromptView.QuietAsked)
    def _quiet_asked(self, event: PromptView.QuietAsked) -> None:
        self.set_quiet(event.is_quiet)

    @on(Splitter.Dragged)
    def _drag(self, event: Splitter.Dragged) -> None:
        event.stop()
        region = self.content_region
        if region.height:
            self.set_share((event.y - region.y) / region.height)

    def _arrange(self, wanted: Sequence[str]) -> None:
        with self.app.batch_update():
            for id in [one for one in self._columns if one not in wanted]:
                self._columns.pop(id).remove()
            if list(self._columns) != [one for one in wanted if one in self._columns]:
                self.remove_children()
                self._columns = {}
            # A new column is mounted before the column that follows it.
            following: ColumnPane | None = None
            arranged: dict[str, ColumnPane] = {}
            for id in reversed(wanted):
                column = self._columns.get(id)
                if column is None:
                    column = ColumnPane(id)
                    self.mount(column, before=following)
                arranged[id] = following = column
            self._columns = dict(reversed(arranged.items()))
            self.set_quiet(self.is_quiet)
            if self._alone not in self._columns.values():
                self._alone = None
            self._show_columns()

    def _split(self) -> None:
        """Set the height of the prompt in every column."""
        for column in self._columns.values():
            column.split(self.shares.of(column.column_id, self._room.height - ROWS_OF_BORDER))

    @property
    def _room(self) -> Size:
        """The size available to all columns; while another pane is maximised, the last such size."""
        self._last_room = self.size or self._last_room
        return Size(self._expected.width or self._last_room.width, self._expected.height or self._last_room.height)

    @on(FieldTable.Completed)
    def make_room(self) -> None:
        """Divide the height by the needs of prompts and replies, ignoring small changes."""
        rows: dict[str, Held] = {}
        for one in self._columns.values():
            if one.display and one.prompt.row_width:
                held = one.prompt.rows_held if self.shares.has_replies else one.prompt.rows_in_full
                rows[one.column_id] = Held(held, one.answer.rows_in(one.size.width))
        if self.shares.take(rows):
            self._split()

    def _fit(self) -> None:
        """Give the visible columns equal widths, showing as many as fit."""
        room = self._room.width
        if not room or not self._columns:
            return
        shown = [one for one in self._columns.values() if one.display]
        in_sight = 1 if self._one_at_a_time else max(1, min(len(shown), room // NARROWEST))
        widths = [room // in_sight + (index % in_sight < room % in_sight) for index in range(len(shown))]
        for column, width in zip(shown, widths, strict=True):
            column.styles.width = width
        if in_sight != self.in_sight_count:
            self.post_message(self.Turned())
        self.in_sight_count, self._overflow = in_sight, sum(widths) - room
        if (needs_bar := self._overflow > 0) != self.show_horizontal_scrollbar:  # Textual would lay out again for it
            self.show_horizontal_scrollbar = self.horizontal_scrollbar.display = needs_bar
        self._tell_beyond()

    def _tell_beyond(self) -> None:
        count = sum(one.display for one in self._columns.values())
        key = keys_of(self.app)("{app.focus_replies|F4}")
        said = said_beyond(self.in_sight_count, count, self.scroll_x, self._overflow - self.scroll_x, key)
        self.beyond = said if self.display and not self._one_at_a_time else ""
