"""The screen with all panes. It alone changes the document, on behalf of panes, and shows it to them afterwards."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.selection import Selection
from textual.widget import Widget
from textual.widgets import TextArea

from adapters.errors import RunError
from sessions.model.replies import Reply, Source
from sessions.model.session import Column
from workbench.editing import edits
from workbench.output.display import one_line
from workbench.state.derived import ReadSignature, RenderedColumn
from workbench.state.document import Change, Document, Place, State
from workbench.tui.keys.key_words import keys_of
from workbench.tui.panes.columns import ColumnsPane
from workbench.tui.panes.demos import DemosPane
from workbench.tui.panes.history import HistoryPane
from workbench.tui.panes.inputs import InputsPane
from workbench.tui.panes.notes import Note, NotesPane, demo_uses, notes_of
from workbench.tui.panes.signature import SignaturePane
from workbench.tui.panes.status import StatusLine, case_word
from workbench.tui.panes.tab_names import tab_names
from workbench.tui.panes.tools import ToolsPane
from workbench.tui.panes.variants import VariantsPane
from workbench.tui.runs.answers import Answers
from workbench.tui.runs.late_columns import LateColumns
from workbench.tui.runs.runs import ColumnRun, Order, RunEnded, RunProgress, Runs
from workbench.tui.runs.send_setup import SendSetup
from workbench.tui.runs.slow_readings import SlowReadings
from workbench.tui.screens.pane_sizes import MIDDLE, PaneSizesScreen
from workbench.tui.textual_internals import error_isolation, row_compositor
from workbench.tui.widgets.heading import Heading, Mark
from workbench.tui.widgets.prompt.prompt_view import PromptView
from workbench.tui.widgets.reply.reply_view import ReplyView
from workbench.tui.widgets.splitter import Splitter
from workbench.tui.widgets.tab_line import TabLine
from workbench.tui.widgets.text.plain import lines, plain_notify
from workbench.tui.widgets.verdict_strip import Verdict, VerdictStrip

if TYPE_CHECKING:
    from workbench.state.engine import Engine
    from workbench.tui.widgets.guide import Guide

EditorPane = SignaturePane | InputsPane | DemosPane | HistoryPane | ToolsPane | VariantsPane

EDITORS = ("signature", "inputs", "demos", "history", "tools", "variants")
ROWS_AROUND_EDITORS, ROWS_OF_SIGNATURE, LEAST_TOGETHER = 6, 5, 22
"""Rows of the screen that are no editor's; those beside a signature's text; those from which inputs stand below it."""
LONG_SIGNATURE = 8
"""Rows above which a signature gets more of a small terminal while it is edited."""
TICK_SECONDS = 0.2
STREAM_SECONDS = 0.05
"""Between two columns that are shown what has arrived of their replies."""


class MainScreen(PaneSizesScreen):
    """`after_edit` is called after every change, so that it can be kept safe."""

    AUTO_FOCUS = "#signature-editor"

    class Showed(Message):
        """Every pane shows the document as it is now."""

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, MainScreen.Showed)

    def __init__(self, document: Document, after_edit: Callable[[], None], sending: SendSetup) -> None:
        super().__init__()
        row_compositor.paint_by_rows(self)
        self.document = document
        self.complete = asyncio.Event()
        """Set once every pane is there: from then on a key has something to act on."""
        self._engine: Engine | None = None
        self.runs = Runs(self.post_message)
        self._arrived: dict[int, None] = {}
        self._after_edit = after_edit
        self._tab = "signature"
        self._show_is_due = self._panes_are_due = self._panes_can_wait = self._has_told_of_selecting = False
        self._activity = ""
        self._batch = 0
        self._slow_readings = SlowReadings(self, self.show_soon)
        self._late_columns = LateColumns(self, self.show_soon)
        self.answers = Answers(self.runs)
        self.columns = ColumnsPane()
        self.signature = SignaturePane(self.edit)
        self.inputs = InputsPane(self.edit)
        self.demos = DemosPane(self.edit)
        self.history = HistoryPane(self.edit)
        self.tools = ToolsPane(self.edit, sending)
        self.variants = VariantsPane(self.edit)
        self.notes = NotesPane()
        self._status = StatusLine()
        self._tabs = TabLine(id="tabs")
        self.strip = VerdictStrip(id="verdicts")
        self._heading = Heading(id="heading")
        self.guide: Guide | None = None

    def compose(self) -> ComposeResult:
        yield self._heading
        with Horizontal(id="body"):
            with Vertical(id="left") as left:
                left.border_title = "You write"
                yield self._tabs
                with Vertical(id="editors"):
                    yield self.signature
                yield self.notes
            yield Splitter("vertical", id="middle")
            yield self.columns
        yield self.strip
        yield self._status

    def on_mount(self) -> None:
        """First the session as it stands; what follows from it when that is on screen."""
        self.signature.show_text(self.document.state)
        self._show_tabs(self.document.state, ReadSignature())
        self._show_status()
        self.columns.frame(self.document.session.columns)
        self.watch(self.columns, "beyond", self._status.show_beyond)
        self.watch(self, "selections", self._tell_of_selecting, init=False)
        self.call_after_refresh(self._complete)
        self.set_interval(TICK_SECONDS, self._tick)

    @property
    def engine(self) -> Engine:
        """Imported when it is first asked for, as it takes longer than everything that comes before."""
        if self._engine is None:
            from workbench.state.engine import Engine

            self._engine = Engine()
        return self._engine

    # -- changing and showing the document

    def edit(self, change: Callable[[State], State], place: Place, label: str, typing: bool = False) -> None:
        """The way in which panes change the document (`workbench.tui.messages.Edit`)."""
        if self.document.edit(change(self.document.state), place, label, typing):
            self._after_edit()
        self.show_soon(is_typing=typing)

    def on_unmount(self) -> None:
        self._late_columns.close()

    def show_soon(self, *, is_typing: bool = False) -> None:
        """Shows the document once the key that changed it is on screen; many changes are shown at once.

        Where they were all typed, the columns come first. Any other change may have given the panes other rows, which
        the next key means.
        """
        self._panes_can_wait = is_typing and (self._panes_can_wait or not self._show_is_due)
        if not self._show_is_due:
            self._show_is_due = True
            self.call_after_refresh(self._show_by_turns)

    @property
    def is_behind(self) -> bool:
        """Whether a change is still to be shown, in the columns or in another pane."""
        return self._show_is_due or self._panes_are_due

    def _show_by_turns(self) -> None:
        """The columns; when these are on screen, the other panes, which can need another layout, if they can wait."""
        if not self._panes_can_wait:
            self.show()
            return
        self._panes_are_due = True
        self._show_columns()
        # the screen itself would be told before it knows that the columns have changed
        self.columns.call_after_refresh(self._show_panes)

    def show(self) -> None:
        """Every pane in sight as a view of the document as it is now."""
        self._show_columns()
        self._show_panes()

    def _show_columns(self) -> None:
        self._show_is_due = False
        state, columns = self.document.state, self._rendered
        self.engine.forget({column.id for column in state.session.columns})
        for one in columns:
            self._slow_readings.look_after(one, self.engine)
            self._late_columns.look_after(one, self.engine)
        self.columns.show([(one, self.answers.run_of(state, one.column), one.column.model) for one in columns])
        self.columns.mark_outdated({one.column.id for one in columns if self.answers.is_outdated(state, one)})
        self._show_strip()

    def _show_panes(self) -> None:
        self._panes_are_due = False
        state, columns = self.document.state, self._rendered
        read = self.engine.read_signature(state)
        self.demos.show_uses(demo_uses(columns))
        self._show_tab()
        for pane in self._panes_in_sight:
            if pane.is_mounted:
                pane.show(state, read)
        self.notes.show(notes_of(state, read, columns), self._find_lints)
        self._show_tabs(state, read)
        self._show_status()
        self.show_what_came()
        self.post_message(self.Showed())

    @property
    def _rendered(self) -> list[RenderedColumn]:
        """Every column as the engine makes it of the document, which it does once for each change."""
        state = self.document.state
        return [self.engine.column(state, column) for column in state.session.columns]

    def load(self) -> None:
        """Another session was opened: nothing of the last one stays."""
        self.runs.clear()
        self.answers.clear()
        self._engine = None
        self._tab = "signature"
        self._show_tab()
        self.show()

    def undo(self) -> None:
        self._went(self.document.undo(), "undone")

    def redo(self) -> None:
        self._went(self.document.redo(), "redone")

    def say(self, activity: str) -> None:
        """A short word in the last line, for a moment."""
        self._activity = activity
        self._show_status()
        self.set_timer(3, partial(self._hush, activity))

    def mark_program(self, differs: bool) -> None:
        """Whether the linked program says otherwise than the session: the last line says so as long as it does."""
        self._status.show_program(differs)

    def show_teacher(self, sign: str) -> None:
        """Whether the teacher of a class is followed, in the last line."""
        self._status.show_teacher(sign)

    def _tell_of_selecting(self, selections: Mapping[Widget, Selection]) -> None:
        """Once in a sitting: how what is selected is copied, and that the terminal can select by itself."""
        if selections and not self._has_told_of_selecting:
            self._has_told_of_selecting = True
            self.say("ctrl+c copies what is selected; shift+drag selects as your terminal does, across panes")

    # -- sending

    def send(self, columns: Iterable[Column], order: Order) -> None:
        """Sends these columns with the case on screen."""
        read = self.engine.read_signature(self.document.state)
        if not self.document.session.signature.text.strip():
            self.notify("There is no signature yet: write one, or paste it, and the prompt stands here.", markup=False)
            return
        if read.error is not None:
            self.notify(f"The signature cannot be read: {read.error.message}"[:300], severity="error", markup=False)
            return
        self._batch += 1
        for column in columns:
            self.runs.start(self.document.state, column, order)
            self.answers.sent(self.document.state, self.engine.column(self.document.state, column))
        self.columns.show_part("reply")
        self.show()

    def cancel(self) -> bool:
        """Cancels what is under way; what had arrived stays as the reply. False when nothing was."""
        if self.is_alone and not self.runs.active:
            self.maximize_pane()
        cancelled = [run for run in self.runs.active if self.runs.cancel(run.case, run.column)]
        for run in cancelled:
            self._keep_reply(run)
        self.show()
        return bool(cancelled)

    def on_run_progress(self, message: RunProgress) -> None:
        """What arrives is shown one column at a time, so that a key never waits for more than one of them."""
        if not self._arrived:
            self.set_timer(STREAM_SECONDS, self._show_arrived)
        self._arrived[message.number] = None

    def _show_arrived(self) -> None:
        is_painted = False
        while self._arrived and not is_painted:
            number = next(iter(self._arrived))
            del self._arrived[number]
            run = self.runs.take(number)
            if run is not None and run.case == self.document.state.case.name:
                is_painted = self.columns.stream(run)
        if self._arrived:
            self.set_timer(STREAM_SECONDS, self._show_arrived)

    def on_run_ended(self, message: RunEnded) -> None:
        self.runs.take(message.number)
        run = self.runs.end(message)
        if run is None:
            return
        self._keep_reply(run)
        if message.error is not None and not isinstance(message.error, RunError):
            error_isolation.report(self, message.error)
        self.show_soon()

    def on_paste(self, event: events.Paste) -> None:
        """What nothing took on the way up here would be lost in silence."""
        if not isinstance(self.focused, TextArea):
            keys = keys_of(self.app)
            said = "{app.focus_editors|F2} goes to the editors, {app.focus_replies|F4} to a reply; paste there."
            plain_notify(self.app, keys(said), title="Not pasted", severity="warning")

    @on(ReplyView.Edited)
    def _reply_edited(self, event: ReplyView.Edited) -> None:
        state = self.document.state
        column = self.columns.column(event.column_id)
        # there may have been further keys since the message was sent
        text = column.reply.raw if column is not None else event.text
        before = state.case.replies.get(event.column_id) or Reply("")
        # what was said of it was said of the reply before; and what is edited is there to be read
        source: Source = "edited" if before.text else "pasted"
        reply = replace(before, text=text, source=source, raw=False, rating=None, note=None)
        self.runs.forget(state.case.name, event.column_id)
        change = partial(edits.set_reply, case=state.case.name, column=event.column_id, reply=reply)
        place = Place("reply", state.case.name, field=event.column_id)
        self.edit(change, place, f"reply of {event.column_id}", typing=True)

    # -- moving about

    def open_tab(self, tab: str) -> None:
        """Shows an editor."""
        self._tab = tab
        self._show_tab()
        self.show()

    def focus_editors(self) -> None:
        """The focus to the editors; the next tab when it is there already."""
        if self.pane(self._tab).has_focus_within or self._tabs.has_focus:
            self.open_tab(EDITORS[(EDITORS.index(self._tab) + 1) % len(EDITORS)])
        self._focus_first(self.pane(self._tab))

    def focus_editor(self, tab: str) -> None:
        """Shows an editor, with the focus in it: what is typed next goes where the user went."""
        self.open_tab(tab)
        self._focus_first(self.pane(tab))

    def focus_part(self, part: type[PromptView] | type[ReplyView]) -> None:
        """The focus to the prompt or reply of the current column; the next column when it is there already."""
        self.columns.focus_next_part(part)

    def pane(self, tab: str) -> EditorPane:
        """One of `EDITORS`."""
        rest = (self.inputs, self.demos, self.history, self.tools, self.variants)
        return self.signature if tab == EDITORS[0] else rest[EDITORS.index(tab) - 1]

    @property
    def tab(self) -> str:
        return self._tab

    @property
    def _panes_in_sight(self) -> tuple[EditorPane, ...]:
        """The editor of the tab; a short signature and the inputs stand together where there is room for both."""
        pane = self.pane(self._tab)
        if pane in (self.signature, self.inputs) and self._has_room_for_inputs:
            return (self.signature, self.inputs)
        return (pane,)

    @property
    def _has_room_for_inputs(self) -> bool:
        """Whether the signature is so short that the values below it are worth more than blank lines."""
        room = self.size.height - ROWS_AROUND_EDITORS
        is_roomy = self.size.width >= MIDDLE and room >= LEAST_TOGETHER
        return is_roomy and self.signature.view == "source" and self._rows_of_signature <= room // 2

    @property
    def _rows_of_signature(self) -> int:
        """The lines of the signature with all that stands around them, if none of them is wrapped."""
        signature = self.document.session.signature
        return signature.text.count("\n") + (signature.instructions or "").count("\n") + ROWS_OF_SIGNATURE

    def shown_column(self) -> RenderedColumn | None:
        """The column that keys about one column mean."""
        current = self.columns.current
        return current.rendered if current is not None else None

    def mark_drifted(self, ids: Container[str]) -> None:
        """Says of these columns, and of no others, that they are no longer as recorded."""
        self.columns.mark_drifted(ids)
        self._show_strip()

    @on(TabLine.Chosen)
    def _tab_chosen(self, event: TabLine.Chosen) -> None:
        if event.by_key:
            self.open_tab(event.tab)
        else:
            self.focus_editor(event.tab)

    @on(VerdictStrip.Chosen)
    def _verdict_chosen(self, event: VerdictStrip.Chosen) -> None:
        if event.to_reply:
            self.columns.focus_on(event.column_id, ReplyView)
        else:
            self.columns.turn_to(event.column_id)

    @on(ColumnsPane.Turned)
    def _turned(self) -> None:
        self._show_strip()

    def on_resize(self) -> None:
        self.share_room()
        self._show_tab()
        self.show_soon()

    def clear_field(self) -> None:
        """Takes away the value of the field with the focus."""
        for pane in (self.inputs, self.demos, self.history, self.tools, self.variants):
            field = pane.focused_field
            if field is not None:
                pane.clear(field)

    # -- inside

    async def _complete(self) -> None:
        """What the first picture did without: the prompts, and the panes behind tabs."""
        try:
            self.show()
            mounted = self.query_one("#editors").mount_all([self.pane(tab) for tab in EDITORS[1:]])
            self._show_tab()
            await mounted
            self.show_soon()  # a tab may have been opened before there was anything in it
        finally:
            self.complete.set()

    def _show_tab(self) -> None:
        for tab in EDITORS:
            self.pane(tab).display = self.pane(tab) in self._panes_in_sight
        self.query_one("#editors").set_class(len(self._panes_in_sight) > 1, "-together")
        left = self.query_one("#left")
        left.set_class(self._tab != EDITORS[0], "-in-rows")
        left.set_class(self._tab != EDITORS[0] or self._rows_of_signature > LONG_SIGNATURE, "-long")

    def _show_tabs(self, state: State, signature: ReadSignature) -> None:
        self._tabs.show(tab_names(state, signature), self._tab)

    def _show_strip(self) -> None:
        """The verdicts of all columns, where they do not all stand side by side."""
        verdicts, current = self.columns.verdicts, self.columns.current
        self.strip.display = self.columns.in_sight_count < len(verdicts)
        self.strip.show(verdicts, current.column_id if current is not None else "")
        if current is not None:
            self._show_heading(next(one for one in verdicts if one.id == current.column_id))

    def _show_heading(self, verdict: Verdict) -> None:
        """What a room reads first: the column, and what became of its reply."""
        part = "its reply" if self.columns.part == "reply" else "its prompt"
        case = self.document.state.case.name if len(self.document.session.cases) > 1 else ""
        part = part if verdict.tone else f"{part} · {verdict.words}"
        said = f"{part}{f' · {case_word(case)}{one_line(case, 40)}' if case else ''}"
        mark = Mark(verdict.sign, verdict.words, verdict.tone) if verdict.tone else None
        self._heading.show(verdict.name, mark, lines((said, "$foreground 70%")))

    def _show_status(self) -> None:
        session = self.document.session
        own = {one.model for one in session.columns} if session.columns else {None}
        model = session.model if None in own else " ".join(map(str, own)) if len(own) == 1 else "per column"
        self._status.show(self.document, model, self._activity)

    def _hush(self, activity: str) -> None:
        if self._activity == activity:
            self._activity = ""
            self._show_status()

    def _find_lints(self) -> Iterator[Sequence[Note] | None]:
        from workbench.tui.panes import lint_notes

        return lint_notes.search(self.document.state, self.columns.rendered, keys_of(self.app))

    def _keep_reply(self, run: ColumnRun) -> None:
        if run.reply is None:
            return
        self.answers.came(run)
        change = partial(edits.set_reply, case=run.case, column=run.column, reply=run.reply)
        self.edit(change, Place("reply", run.case, row=self._batch), "the replies of a send", typing=True)

    def _went(self, change: Change | None, word: str) -> None:
        if change is None:
            self.say(f"nothing to be {word}")
            return
        self._after_edit()
        self.say(f"{word}: {change.label}")
        self.show()
        if change.place.kind in ("signature", "instructions", "input", "demo", "history", "tool", "variant"):
            self.go_to(change.place._replace(row=min(change.place.row, self._last_row(change.place))))

    def _last_row(self, place: Place) -> int:
        state, session = self.document.state, self.document.session
        rows = {"demo": session.demos, "tool": session.tools, "variant": session.variants}
        return len(rows.get(place.kind, state.case.history)) - 1

    def _focus_first(self, pane: Widget, again: bool = True) -> None:
        if pane is self.inputs and self.inputs.go_to_field(None):
            return  # its editors may still have to be mounted, and take the focus then
        first: Any = next((one for one in pane.query("*") if one.focusable), None)
        if first is not None:
            first.focus()
        elif again:  # what was only just opened is not mounted yet
            self.call_after_refresh(self._focus_late, pane)

    def _focus_late(self, pane: Widget) -> None:
        """Unless another pane was opened meanwhile, which has the focus by now."""
        if pane.display:
            self._focus_first(pane, again=False)

    def _tick(self) -> None:
        if self.runs.active:
            self.columns.tick(time.monotonic())
            self._show_strip()
