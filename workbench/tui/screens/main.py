"""The main screen, the only place that changes the document; it updates the panes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Container, Iterable, Mapping
from functools import partial
from operator import is_
from typing import TYPE_CHECKING

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.selection import Selection
from textual.widget import Widget
from textual.widgets import TextArea

from adapters.errors import RunError
from sessions.model.session import Column
from workbench.output.display import one_line
from workbench.state.document import Change, Document, Place, ReadSignature, RenderedColumn, State
from workbench.tui.keys import keys_of
from workbench.tui.messages import PastedCall
from workbench.tui.panes.columns import ColumnsPane
from workbench.tui.panes.editors import EditorsPane
from workbench.tui.panes.notes import demo_uses, lint_notes, notes_of
from workbench.tui.panes.status import StatusLine, case_word
from workbench.tui.panes.verdicts import VerdictStrip
from workbench.tui.runs.late_work import LateColumns, ModelAnswers, SlowReadings
from workbench.tui.runs.replies import Replies
from workbench.tui.runs.runs import Order, RunEnded, RunProgress, Runs, SendSetup
from workbench.tui.screens.panes_screen import PaneSizesScreen
from workbench.tui.textual_internals import error_isolation
from workbench.tui.widgets.heading import Heading, Mark
from workbench.tui.widgets.prompt.prompt_view import PromptView
from workbench.tui.widgets.reply.reply_view import ReplyView
from workbench.tui.widgets.splitter import Splitter
from workbench.tui.widgets.text.plain import lines, plain_notify

if TYPE_CHECKING:
    from workbench.state.engine import Engine
    from workbench.tui.widgets.guide import Guide


class MainScreen(PaneSizesScreen):
    """The panes; `after_edit` is called after every change, to back it up."""

    AUTO_FOCUS = "#signature-editor"

    class Showed(Message):
        """Posted when all panes show the current document."""

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, MainScreen.Showed)

    def __init__(self, document: Document, after_edit: Callable[[], None], sending: SendSetup) -> None:
        editors = EditorsPane(document, self.edit, self.show, self.go_to, sending)
        super().__init__(document, ColumnsPane(), editors, StatusLine(document))
        self.complete = asyncio.Event()
        """Set once all panes exist; keys wait for it."""
        self._engine: Engine | None = None
        self._linted: list[object] = []
        """The objects of the last search for notes; a key that changes none of them searches no prompt."""
        self.runs = Runs(self.post_message)
        self.replies = Replies(document, self.runs, self.edit, self.columns.stream, self.set_timer)
        self._after_edit = after_edit
        self._show_is_due = self._panes_are_due = self._panes_can_wait = self._has_told_of_selecting = False
        self._slow_readings = SlowReadings(self, self.show_soon)
        self._late_columns = LateColumns(self, self.show_soon)
        self._model_answers = ModelAnswers(self, self._render_again)
        self.strip = VerdictStrip(id="verdicts")
        self._heading = Heading(id="heading")
        self.guide: Guide | None = None

    def compose(self) -> ComposeResult:
        yield self._heading
        with Horizontal(id="body"):
            yield self.editors
            yield Splitter("vertical", id="middle")
            yield self.columns
        yield self.strip
        yield self.status

    def on_mount(self) -> None:
        """Show the session's own texts; prompts and hidden tabs follow after the first picture (`_complete`)."""
        self.share_room()
        self.editors.show_tab()
        self.editors.show_tabs(self.document.state, ReadSignature())
        self.status.show()
        self.columns.frame(self.document.session.columns)
        self.watch(self.columns, "beyond", partial(setattr, self.status, "beyond"))
        self.watch(self, "selections", self._tell_of_selecting, init=False)
        self.call_after_refresh(self._complete)
        self.set_interval(0.2, self._tick)

    @property
    def engine(self) -> Engine:
        """The engine, imported on first use because that takes longer than the rest of the start."""
        if self._engine is None:
            from workbench.state.engine import Engine

            self._engine = Engine()
        return self._engine

    # -- changing and showing the document

    def edit(self, change: Callable[[State], State], place: Place, label: str, typing: bool = False) -> None:
        """Change the document for a pane (`workbench.tui.messages.Edit`)."""
        if self.document.edit(change(self.document.state), place, label, typing):
            self._after_edit()
        self.show_soon(is_typing=typing)

    def on_unmount(self) -> None:
        self._late_columns.close()

    def show_soon(self, *, is_typing: bool = False) -> None:
        """Show the document after the effect of the key is painted; several changes are shown at once.

        After typing, the columns are updated first and the other panes later. After other changes all panes are updated
        at once, because the next key may act on rows that have changed.
        """
        self._panes_can_wait = is_typing and (self._panes_can_wait or not self._show_is_due)
        if not self._show_is_due:
            self._show_is_due = True
            self.call_after_refresh(self._show_by_turns)

    def _show_by_turns(self) -> None:
        """Show the columns, then the other panes if they can wait."""
        if not self._panes_can_wait:
            self.show()
            return
        self._panes_are_due = True
        self._show_columns()
        # called on the columns: the screen's own callback would run before the columns are refreshed
        self.columns.call_after_refresh(self._show_panes)

    def show(self) -> None:
        """Show the current document in all visible panes."""
        self._show_columns()
        self._show_panes()

    def show_case(self, index: int) -> None:
        """Show another case."""
        self.document.look_at_case(index)
        self.show()

    def _show_columns(self) -> None:
        self._show_is_due = False
        state, columns = self.document.state, self._rendered
        self.engine.forget({column.id for column in state.session.columns})
        for one in columns:
            self._slow_readings.look_after(one, self.engine)
            self._late_columns.look_after(one, self.engine)
        self._model_answers.look_after(state.session.model_of(one) for one in state.session.columns)
        self.columns.show([(one, self.replies.run_of(state, one), one.column.model) for one in columns])
        self.columns.mark_outdated({one.column.id for one in columns if self.replies.is_outdated(state, one)})
        self._show_strip()

    def _render_again(self) -> None:
        """Render every column again, once a model's capabilities have become known."""
        self.engine.render_again()
        self.show_soon()

    def _show_panes(self) -> None:
        self._panes_are_due = False
        state, columns = self.document.state, self._rendered
        read = self.engine.read_signature(state)
        self.editors.demos.show_uses(demo_uses(columns))
        self.editors.show(state, read)
        keys = keys_of(self.app)
        asked: list[object] = [
            keys,
            state.session,
            state.case,
            *[part for one in columns for part in (one.request, one.error)],
        ]
        is_known = len(asked) == len(self._linted) and all(map(is_, asked, self._linted))
        self._linted = asked
        search = None if is_known else lint_notes(state, columns, keys)
        self.editors.notes.show(notes_of(state, read, columns, keys), search)
        self.status.show()
        self.show_what_came()
        self.post_message(self.Showed())

    @property
    def _rendered(self) -> list[RenderedColumn]:
        """The columns as rendered for the current document, cached until it changes."""
        state = self.document.state
        return [self.engine.column(state, column) for column in state.session.columns]

    def load(self) -> None:
        """Discard the state of the previous session."""
        self.replies.clear()
        self._engine = None
        self.set_focus(None)  # at once: a column with the focus would stay the current one
        self.editors.focus_on("signature")
        self.columns.scroll_to(x=0, animate=False)  # also if other columns replace these
        self.columns.turn_to(next((one.id for one in self.document.session.columns), ""))
        if not self.document.state.case.replies:
            self.columns.show_part("prompt")

    def show_teacher(self, sign: str) -> None:
        """Show in the last line whether the teacher is followed."""
        self.status.teacher = sign

    def _tell_of_selecting(self, selections: Mapping[Widget, Selection]) -> None:
        """Explain once how to copy a selection."""
        if selections and not self._has_told_of_selecting:
            self._has_told_of_selecting = True
            self.status.say("ctrl+c copies the selection; shift+drag selects as your terminal does, across panes")

    # -- sending

    def send(self, columns: Iterable[Column], order: Order) -> None:
        """Send the current case in these columns; report a signature that is missing or invalid."""
        read = self.engine.read_signature(self.document.state)
        if not self.document.session.signature.text.strip():
            plain_notify(self.app, "No signature yet: write or paste a signature to see its prompt here.")
            return
        if read.error is not None:
            said = f"The signature cannot be read: {read.error.message}"[:300]
            plain_notify(self.app, said, severity="error")
            return
        self.replies.send([self.engine.column(self.document.state, column) for column in columns], order)
        self.columns.show_part("reply")
        self.show()

    def cancel(self) -> bool:
        """Cancel active runs and keep what has arrived as the reply; return whether there were any."""
        if self.is_alone and not self.runs.active:
            self.maximize_pane()
        was_any = self.replies.cancel()
        self.show()
        return was_any

    def on_run_progress(self, message: RunProgress) -> None:
        self.replies.arrives(message)

    def on_run_ended(self, message: RunEnded) -> None:
        if not self.replies.ended(message):
            return
        if message.error is not None and not isinstance(message.error, RunError):
            error_isolation.report(self, message.error)
        self.show_soon()

    def on_paste(self, event: events.Paste) -> None:
        """Report a paste that no pane accepted."""
        if isinstance(self.focused, TextArea):
            return
        from sessions.imports.pasted_text import holds_calls

        if holds_calls(event.text):
            self.post_message(PastedCall(event.text))
        else:
            keys = keys_of(self.app)
            said = "No text goes here. {app.focus_editors|F2} goes to an editor, {app.focus_replies|F4} to a reply."
            plain_notify(self.app, keys(said), title="Not pasted", severity="warning")

    @on(ReplyView.Edited)
    def _reply_edited(self, event: ReplyView.Edited) -> None:
        column = self.columns.column(event.column_id)
        # the user may have typed more since the message was sent
        text = column.reply.raw if column is not None else event.text
        self.replies.type_over(event.column_id, text, event.is_new)

    # -- moving about

    def shown_column(self) -> RenderedColumn | None:
        """Return the current column as rendered, after showing a change that is not shown yet."""
        if self._show_is_due:
            self.show()
        current = self.columns.current
        return current.rendered if current is not None else None

    def mark_drifted(self, ids: Container[str]) -> None:
        """Mark the columns that differ from their recordings."""
        self.columns.mark_drifted(ids)
        self._show_strip()

    @on(StatusLine.Further)
    def _further_columns(self) -> None:
        """Go to the first column after the visible ones, wrapping around to the first."""
        ids, visible = self.columns.ids, self.columns.visible_ids()
        last = ids.index(visible[-1]) if visible else -1
        self.columns.turn_to(ids[(last + 1) % len(ids)])

    @on(VerdictStrip.Chosen)
    def _verdict_chosen(self, event: VerdictStrip.Chosen) -> None:
        if event.to_reply:
            self.columns.focus_on(event.column_id, ReplyView)
        else:
            self.columns.turn_to(event.column_id)

    def on_resize(self) -> None:
        self.share_room()
        self.editors.show_tab()
        self.show_soon()

    # -- inside

    def _complete(self) -> None:
        """Show the prompts in view after the first picture, and what nobody sees yet after them."""
        try:
            self.show()
        finally:
            # called on a prompt: the screen's own callback would run before the prompts are laid out
            last = self._last_in_sight()
            (self if last is None else last).call_after_refresh(self._after_prompts)

    async def _after_prompts(self, patience: int = 20) -> None:
        """Complete the screen; on a busy machine the prompts may still wait for their layout, a fifth of a second."""
        last = self._last_in_sight()
        if patience and last is not None and not last.row_width:
            self.set_timer(0.01, partial(self._after_prompts, patience - 1))
        else:
            await self._complete_hidden()

    def _last_in_sight(self) -> PromptView | None:
        column = self.columns.column(next(reversed(self.columns.visible_ids()), ""))
        return None if column is None else column.prompt

    async def _complete_hidden(self) -> None:
        """Show the columns out of sight and the panes behind tabs."""
        try:
            self.columns.catch_up()
            await self.editors.complete()
            self.show_soon()  # a tab may have been opened before it had content
            # the signature has the focus at first, whatever tab is restored; hidden, it would be changed unseen
            if any(one.has_focus_within and not one.display for one in self.editors.panes.values()):
                self.set_focus(None)
        finally:
            self.complete.set()

    @on(ColumnsPane.Turned)
    def _show_strip(self) -> None:
        """Show the verdicts of all columns unless all columns are visible; update the projector's heading."""
        verdicts, current = self.columns.verdicts, self.columns.current
        self.strip.display = self.columns.in_sight_count < len(verdicts)
        self.strip.show(verdicts, current.column_id if current is not None else "")
        if current is not None:
            # The projector's heading: the column and its verdict
            verdict = next(one for one in verdicts if one.id == current.column_id)
            part = "its reply" if self.columns.part == "reply" else "its prompt"
            case = self.document.state.case.name if len(self.document.session.cases) > 1 else ""
            part = part if verdict.tone else f"{part} · {verdict.words}"
            said = f"{part}{f' · {case_word(case)}{one_line(case, 40)}' if case else ''}"
            mark = Mark(verdict.sign, verdict.words, verdict.tone) if verdict.tone else None
            self._heading.show(verdict.name, mark, lines((said, "$foreground 70%")))

    def went(self, change: Change | None, word: str) -> None:
        """Show the document after an undo or redo, at the place of the change; None: there was nothing to do."""
        if change is None:
            self.status.say(f"nothing to {'undo' if word == 'undone' else 'redo'}")
            return
        if not self.document.session.signature.text.strip():  # no prompt is the last good one
            self._engine = None
        self._after_edit()
        self.status.say(f"{word}: {change.label}")
        self.show()
        if change.place.kind in ("signature", "instructions", "input", "demo", "history", "tool", "variant"):
            session = self.document.session
            rows = {"demo": session.demos, "tool": session.tools, "variant": session.variants}
            last = len(rows.get(change.place.kind, self.document.state.case.history)) - 1
            self.go_to(change.place._replace(row=min(change.place.row, last)))

    def _tick(self) -> None:
        if self.runs.active:
            self.columns.tick(time.monotonic())
            self._show_strip()
