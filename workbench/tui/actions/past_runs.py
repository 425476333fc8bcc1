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
from workbench.state.derived import history_field
from workbench.state.document import Place, State
from workbench.tui.dialogs.rate import RateScreen, Rating
from workbench.tui.dialogs.run_history import RunHistoryScreen
from workbench.tui.runs import ratings
from workbench.tui.runs.run_history import past
from workbench.tui.widgets.text.plain import plain_notify

if TYPE_CHECKING:
    from workbench.tui.host import Host


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
        change, Place("history", case.name, len(case.history)), f"{len(turns)} turns of {rendered.column.id}"
    )
    host.main.status.say(f"{len(turns)} turn{'' if len(turns) == 1 else 's'} added to the history")


def add_turns(state: State, case: str, turns: Sequence[Mapping[str, Any]]) -> State:
    """The turns behind those of a case; nothing happens when the case is gone."""
    known = next((one for one in state.session.cases if one.name == case), None)
    if known is None:
        return state
    changed = replace(known, history=(*known.history, *turns))
    return replace(state, session=state.session.with_case(changed))
