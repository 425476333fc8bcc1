"""Completed runs: save them, list and compare them, and turn them into history."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from sessions.file.json_values import JSON
from sessions.model.replies import Reply
from sessions.running.tools import history_of
from sessions.text_diff import line_diff
from workbench.editing import edits
from workbench.output.display import one_line
from workbench.output.measures import counted
from workbench.state.derived import history_field
from workbench.state.document import Place, State
from workbench.tui.keys.bindings import KeyGroup
from workbench.tui.pages.drifts import blocks_of_lines
from workbench.tui.runs import replies
from workbench.tui.runs.run_history import PastRun, past
from workbench.tui.widgets.row_list import RowList
from workbench.tui.widgets.text.plain import PlainStatic, content, key_hints, lines, plain_notify
from workbench.tui.widgets.text.text_view import EMPTY, Block, Piece, TextView, block

if TYPE_CHECKING:
    from workbench.tui.host import Host


SIGNS = {"done": ("✓", "ok"), "failed": ("✗", "error"), "cancelled": ("■", "warning")}
LONGEST_VALUE = 300


def head_of(run: PastRun) -> tuple[Piece, ...]:
    """When, which column and model, how it ended and what is thought of it."""
    sign, style = SIGNS.get(run.phase, ("?", "note"))
    rated = {"good": " ★ good", "bad": " ✗ bad"}.get(run.rating, "")
    return (
        Piece(f"{sign} ", style),
        Piece(run.time, "title"),
        Piece(f"  {one_line(run.column, 30)}", "text"),
        Piece(f"  {one_line(run.model, 40)}", "accent"),
        Piece(f"  {run.seconds:.1f} s", "note"),
        Piece(rated, "ok" if run.rating == "good" else "error"),
    )


def one_run(run: PastRun) -> list[Block]:
    """Everything that was kept of a run."""
    blocks = [Block(head_of(run))]
    if run.note:
        blocks.append(block(f"“{run.note}”", "note", indent=2))
    if run.error:
        blocks.append(block(run.error, "error", indent=2))
    for name, value in run.values.items():
        blocks.append(Block((Piece(_short(value), "data"),), 2, "", Piece(f"{one_line(name, 20)}  ", "heading")))
    blocks += [EMPTY, block(run.text or "(no reply)", "text")]
    return blocks


def two_runs(before: PastRun, after: PastRun) -> list[Block]:
    """Compare two runs."""
    blocks = [Block((Piece("− ", "error"), *head_of(before))), Block((Piece("+ ", "ok"), *head_of(after))), EMPTY]
    names = dict.fromkeys([*before.values, *after.values])
    differing = [name for name in names if _differ(before, after, name)]
    if names and not differing:
        blocks.append(Block((Piece("✓ ", "ok"), Piece("the same values"))))
    for name in differing:
        blocks.append(block(one_line(name, 40), "heading"))
        blocks += [
            Block(
                (Piece(_short(run.values[name]) if name in run.values else "(none)", style),), 2, "", Piece(sign, style)
            )
            for run, sign, style in ((before, "- ", "error"), (after, "+ ", "data"))
        ]
    if before.text == after.text:
        return [*blocks, EMPTY, Block((Piece("✓ ", "ok"), Piece("the same reply, character by character")))]
    diff = line_diff(before.text.split("\n"), after.text.split("\n"))
    return [*blocks, EMPTY, block("reply", "heading"), *blocks_of_lines(diff)]


def _differ(before: PastRun, after: PastRun, name: str) -> bool:
    if (name in before.values) != (name in after.values):
        return True
    # 1, 1.0 and true are other values
    return json.dumps(before.values[name]) != json.dumps(after.values[name])


def _short(value: JSON) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else text[:LONGEST_VALUE] + " …"


_key = KeyGroup("Runs", "runs")
QUIET = "$foreground 60%"
COLOURS = {"ok": "$text-success", "error": "$text-error", "warning": "$text-warning", "note": QUIET}


class RunHistoryScreen(ModalScreen[PastRun | None]):
    """Returns the run whose reply to show again, None after escape."""

    BINDINGS: ClassVar[list[BindingType]] = [
        _key("escape", "dismiss(None)", "close", "Close", "Close the list"),
        _key("space", "mark", "mark", "Compare", "Mark this run and compare it with others"),
        _key("enter", "take", "take", "Show", "Show this reply under its column"),
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
            hint = "↑↓ choose   {runs.mark|space} compare   {runs.take|enter} show its reply   {runs.close|esc} close"
            yield PlainStatic(key_hints(self.app, hint), classes="dialog-hint")

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


def keep_run(host: Host, number: int) -> None:
    """Save a run that has ended."""
    run = host.main.runs.numbered(number)
    if run is not None and run.phase != "running":
        why_not = host.past_runs.add(past(run, datetime.now()))
        if why_not:
            said = f"{why_not}. It is listed until you quit."
            plain_notify(host.app, said, title="Run not saved", severity="warning")


async def look_at_runs(host: Host) -> None:
    """List the runs of the current case; a chosen reply is shown again, which undo removes."""
    case = host.document.state.case.name
    runs = host.past_runs.of(case)
    if not runs:
        said = host.key_words(
            "Nothing was sent for this case yet. {app.send_all|F5} sends it, and every run is listed here."
        )
        plain_notify(host.app, host.key_words(said), title="No runs", severity="warning")
        return
    run = await host.app.push_screen_wait(RunHistoryScreen(case, runs))
    if run is None:
        return
    if run.column not in {one.id for one in host.document.session.columns}:
        plain_notify(host.app, f"There is no column {run.column} now.", title="Not shown", severity="warning")
        return
    reply = replies.rated(Reply(run.text, model=run.model), run.rating, run.note)
    host.main.runs.forget(case, run.column)
    change = partial(edits.set_reply, case=case, column=run.column, reply=reply)
    host.main.edit(change, Place("reply", case, field=f"{run.column} again"), f"reply of {run.time}")


def continue_from_run(host: Host) -> None:
    """Append the focused column's last run to the history, or report why it cannot."""
    rendered = host.main.shown_column()
    signature = host.main.engine.signature.signature
    if rendered is None or signature is None:
        return
    if history_field(signature) is None:
        host.app.notify("This signature has no history. Add an input `history: dspy.History`.")
        return
    case = host.document.state.case
    run = host.main.runs.of(case.name, rendered.column.id)
    turns = history_of(case, run.run) if run is not None and run.run is not None else ()
    if not turns:
        host.app.notify(host.key_words("This column has no run to continue. {app.send_column|F8} sends it."))
        return
    change = partial(add_turns, case=case.name, turns=turns)
    host.main.edit(
        change, Place("history", case.name, len(case.history)), f"{counted(len(turns), 'turn')} of {rendered.column.id}"
    )
    host.main.status.say(f"{counted(len(turns), 'turn')} added to the history")


def add_turns(state: State, case: str, turns: Sequence[Mapping[str, Any]]) -> State:
    """Append turns to the history of a case, if there is a case with this name."""
    known = next((one for one in state.session.cases if one.name == case), None)
    if known is None:
        return state
    changed = replace(known, history=(*known.history, *turns))
    return replace(state, session=state.session.with_case(changed))
