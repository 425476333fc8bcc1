"""A run that has ended as turns of the conversation: its inputs, tool turns and answer go into the case's history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from sessions.running.tools import history_of
from workbench.state.document import Place, State
from workbench.state.live import history_field

if TYPE_CHECKING:
    from workbench.tui.app import WorkbenchApp


def continue_from_run(app: WorkbenchApp) -> None:
    """Adds the last run of the column with the focus to the history; says why where there is nothing to add."""
    live = app.main.shown_column()
    signature = app.main.engine.signature.signature
    if live is None or signature is None:
        return
    if history_field(signature) is None:
        app.notify("This signature takes no history: an input `history: dspy.History` makes room for it.")
        return
    case = app.document.state.case
    run = app.main.runs.of(case.name, live.column.id)
    turns = history_of(case, run.run) if run is not None and run.run is not None else ()
    if not turns:
        app.notify(app.key_words("The column has no run with an answer to go on from: {app.send_column|F8} sends it."))
        return
    change = partial(add_turns, case=case.name, turns=turns)
    app.main.edit(change, Place("history", case.name, len(case.history)), f"{len(turns)} turns of {live.column.id}")
    app.main.say(f"{len(turns)} turn{'' if len(turns) == 1 else 's'} added to the history")


def add_turns(state: State, case: str, turns: Sequence[Mapping[str, Any]]) -> State:
    """The turns behind those of a case; nothing happens when the case is gone."""
    known = next((one for one in state.session.cases if one.name == case), None)
    if known is None:
        return state
    changed = replace(known, history=(*known.history, *turns))
    return replace(state, session=state.session.with_case(changed))
