"""Runs that have ended: kept as they end, looked at again, rated by a person, and made turns of the conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from sessions.model.replies import Reply
from sessions.running.tools import history_of
from workbench.editing import edits
from workbench.output.measures import counted
from workbench.state.derived import history_field
from workbench.state.document import Place, State
from workbench.tui.runs import ratings
from workbench.tui.runs.run_history import past
from workbench.tui.widgets.text.plain import plain_notify

if TYPE_CHECKING:
    from workbench.tui.host import Host
from typing import ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input

from workbench.editing.field_values import Choice
from workbench.output.display import one_line, safe
from workbench.tui.keys.key_words import keys_of
from workbench.tui.pages.runs_compared import SIGNS, one_run, two_runs
from workbench.tui.runs.run_history import PastRun
from workbench.tui.widgets.choice_line import ChoiceLine
from workbench.tui.widgets.row_list import RowList
from workbench.tui.widgets.text.plain import PlainStatic, content, lines
from workbench.tui.widgets.text.text_view import TextView

_RUNS = Binding.Group("Runs")
QUIET = "$foreground 60%"
COLOURS = {"ok": "$text-success", "error": "$text-error", "warning": "$text-warning", "note": QUIET}


class RunHistoryScreen(ModalScreen[PastRun | None]):
    """Returns the run whose reply is to be shown again, None after escape."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Close", id="runs.close", tooltip="Close", group=_RUNS),
        Binding("space", "mark", "Compare", id="runs.mark", tooltip="Compare this one with others", group=_RUNS),
        Binding("enter", "take", "Take up", id="runs.take", tooltip="Show this reply under its column", group=_RUNS),
    ]

    def __init__(self, case: str, runs: Sequence[PastRun]) -> None:
        super().__init__()
        self._case = case
        self._runs = tuple(runs)
        self._current = 0
        self._marked: int | None = None
        self._list = RowList(self._line)
        self._text = TextView(id="runs-text")

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -large") as dialog:
            dialog.border_title = content(f" Runs of {one_line(self._case, 40)} ")
            yield self._list
            yield self._text
            hint = (
                "↑↓ look   {runs.mark|space} marks one to compare with   {runs.take|enter} shows its reply again   "
                "tab to the text   {runs.close|esc} closes"
            )
            yield PlainStatic(lines((keys_of(self.app)(hint), QUIET)), classes="dialog-hint")

    def on_mount(self) -> None:
        self._list.styles.height = min(10, max(2, len(self._runs)))
        self._list.show(len(self._runs), 0)
        self._list.focus()
        self._look()

    @on(RowList.Moved)
    def _moved(self, event: RowList.Moved) -> None:
        self._current = event.index
        self._look()

    def action_mark(self) -> None:
        self._marked = None if self._marked == self._current else self._current
        self._list.show(len(self._runs), self._current)
        self._look()

    def action_take(self) -> None:
        self.dismiss(self._runs[self._current])

    def _look(self) -> None:
        run = self._runs[self._current]
        if self._marked is None or self._marked == self._current:
            self._text.show(one_run(run))
            return
        older, newer = sorted((self._marked, self._current), reverse=True)
        self._text.show(two_runs(self._runs[older], self._runs[newer]))

    def _line(self, index: int) -> Content:
        run = self._runs[index]
        sign, style = SIGNS.get(run.phase, ("?", "note"))
        mark = "◆ " if index == self._marked else "  "
        rated = {"good": " ★", "bad": " ✗"}.get(run.rating, "")
        said = run.note or run.error or " ".join(run.text.split())
        return lines(
            (mark, "$text-accent bold"),
            (f"{sign} ", COLOURS[style]),
            (f"{run.time[5:]}  ", QUIET),
            (f"{one_line(run.column, 16):<10}", "bold"),
            (f" {one_line(run.model, 24)} ", "$text-accent"),
            (f"{run.seconds:.1f} s{rated}  ", QUIET),
            one_line(said, 80),
        )


CHOICES = (Choice("", "not rated"), Choice("good", "★ good"), Choice("bad", "✗ bad"))


class Rating(NamedTuple):
    """`rating` is `good`, `bad` or empty."""

    rating: str
    note: str


class RateScreen(ModalScreen[Rating | None]):
    """Returns what was said, None after escape."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "escape",
            "dismiss(None)",
            "Close",
            id="rate.close",
            tooltip="Close, nothing changes",
            group=Binding.Group("This dialog"),
        ),
        Binding(
            "enter",
            "take",
            "Take",
            priority=True,
            id="rate.take",
            tooltip="Keep rating and note",
            group=Binding.Group("This dialog"),
        ),
    ]

    def __init__(self, column: str, start: Rating) -> None:
        super().__init__()
        self._column = column
        self._rating = start.rating
        self._start = safe(start.note)
        self._note = start.note
        self._line = ChoiceLine(CHOICES, start.rating, self._choose)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = content(f" The reply of {one_line(self._column, 40)} ")
            yield self._line
            yield Input(self._start, compact=True, placeholder="a note, kept with the reply")
            hint = "←→ choose   tab to the note   {rate.take|enter} keeps it in the session   {rate.close|esc} closes"
            yield PlainStatic(lines((keys_of(self.app)(hint), "$foreground 60%")), classes="dialog-hint")

    def on_mount(self) -> None:
        self._line.focus()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        if event.value != self._start:
            self._note = event.value

    def action_take(self) -> None:
        self.dismiss(Rating(self._rating, self._note))

    def _choose(self, value: Any) -> None:
        self._rating = value if value in ("good", "bad") else ""
        self._line.show(self._rating)


def keep_run(host: Host, number: int) -> None:
    """Keeps a run that has ended for later; the screen has taken note of it already."""
    run = host.main.runs.numbered(number)
    if run is not None and run.phase != "running":
        why_not = host.past_runs.add(past(run, datetime.now()))
        if why_not:
            said = f"{why_not}. It is here until you leave."
            plain_notify(host.app, said, title="Run not kept", severity="warning")


async def look_at_runs(host: Host) -> None:
    """Shows the runs of the case on screen; the reply of one can be shown again, which undo takes back."""
    case = host.document.state.case.name
    runs = host.past_runs.of(case)
    if not runs:
        said = host.key_words(
            "Nothing was sent for this case yet: {app.send_all|F5} sends it, and each run is kept here."
        )
        plain_notify(host.app, host.key_words(said), title="No runs", severity="warning")
        return
    run = await host.app.push_screen_wait(RunHistoryScreen(case, runs))
    if run is None:
        return
    if run.column not in {one.id for one in host.document.session.columns}:
        plain_notify(host.app, f"There is no column {run.column} any more.", title="Not shown", severity="warning")
        return
    reply = ratings.rated(Reply(run.text, model=run.model), run.rating, run.note)
    host.main.runs.forget(case, run.column)
    change = partial(edits.set_reply, case=case, column=run.column, reply=reply)
    host.main.edit(change, Place("reply", case, field=f"{run.column} again"), f"reply of {run.time}")


async def rate_reply(host: Host) -> None:
    """Asks what to think of the reply of the column with the focus."""
    rendered, case = host.main.shown_column(), host.document.state.case
    reply = case.replies.get(rendered.column.id) if rendered is not None else None
    if rendered is None or reply is None or not rendered.text:
        said = "There is no reply to rate: send the column ({app.send_column|F8}) or paste one under its prompt."
        plain_notify(host.app, host.key_words(said), title="No reply", severity="warning")
        return
    column = rendered.column.id
    start = Rating(reply.rating or "", reply.note or "")
    rating = await host.app.push_screen_wait(RateScreen(column, start))
    if rating is None or rating == start:
        return
    change = partial(ratings.rate, case=case.name, column=column, rating=rating.rating, note=rating.note)
    host.main.edit(change, Place("reply", case.name, field=f"{column} rated"), f"rating of {column}")
    host.past_runs.rate(case.name, column, rendered.text, rating.rating, rating.note)


def continue_from_run(host: Host) -> None:
    """Adds the last run of the column with the focus to the history; says why where there is nothing to add."""
    rendered = host.main.shown_column()
    signature = host.main.engine.signature.signature
    if rendered is None or signature is None:
        return
    if history_field(signature) is None:
        host.app.notify("This signature takes no history: an input `history: dspy.History` makes room for it.")
        return
    case = host.document.state.case
    run = host.main.runs.of(case.name, rendered.column.id)
    turns = history_of(case, run.run) if run is not None and run.run is not None else ()
    if not turns:
        host.app.notify(
            host.key_words("The column has no run with an answer to go on from: {app.send_column|F8} sends it.")
        )
        return
    change = partial(add_turns, case=case.name, turns=turns)
    host.main.edit(
        change, Place("history", case.name, len(case.history)), f"{counted(len(turns), 'turn')} of {rendered.column.id}"
    )
    host.main.status.say(f"{counted(len(turns), 'turn')} added to the history")


def add_turns(state: State, case: str, turns: Sequence[Mapping[str, Any]]) -> State:
    """The turns behind those of a case; nothing happens when the case is gone."""
    known = next((one for one in state.session.cases if one.name == case), None)
    if known is None:
        return state
    changed = replace(known, history=(*known.history, *turns))
    return replace(state, session=state.session.with_case(changed))
