"""The history of runs: keeping each as it ends, looking at them, and what a person thinks of a reply."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from workbench.editing import edits
from workbench.state.document import Place
from workbench.tui.dialogs.rate import RateScreen, Rating
from workbench.tui.dialogs.run_history import RunHistoryScreen
from workbench.tui.runs import ratings
from workbench.tui.widgets.text.plain import plain_notify

if TYPE_CHECKING:
    from workbench.tui.app import WorkbenchApp


async def look_at_runs(app: WorkbenchApp) -> None:
    """Shows the runs of the case on screen; the reply of one can be shown again, which undo takes back."""
    case = app.document.state.case.name
    runs = app.past_runs.of(case)
    if not runs:
        said = app.key_words(
            "Nothing was sent for this case yet: {app.send_all|F5} sends it, and each run is kept here."
        )
        plain_notify(app, app.key_words(said), title="No runs", severity="warning")
        return
    run = await app.push_screen_wait(RunHistoryScreen(case, runs))
    if run is None:
        return
    if run.column not in {one.id for one in app.document.session.columns}:
        plain_notify(app, f"There is no column {run.column} any more.", title="Not shown", severity="warning")
        return
    reply = {"text": run.text, "source": "sent", "model": run.model}
    reply |= {"rating": run.rating} if run.rating else {}
    reply |= {"note": run.note} if run.note else {}
    app.main.runs.forget(case, run.column)
    change = partial(edits.set_reply, case=case, column=run.column, reply=reply)
    app.main.edit(change, Place("reply", case, field=f"{run.column} again"), f"reply of {run.time}")


async def rate_reply(app: WorkbenchApp) -> None:
    """Asks what to think of the reply of the column with the focus."""
    live, case = app.main.shown_column(), app.document.state.case
    reply = case.replies.get(live.column.id) if live is not None else None
    if live is None or not reply or not live.text:
        said = "There is no reply to rate: send the column ({app.send_column|F8}) or paste one under its prompt."
        plain_notify(app, app.key_words(said), title="No reply", severity="warning")
        return
    column = live.column.id
    start = Rating(str(reply.get("rating", "")), str(reply.get("note", "")))
    rating = await app.push_screen_wait(RateScreen(column, start))
    if rating is None or rating == start:
        return
    change = partial(ratings.rate, case=case.name, column=column, rating=rating.rating, note=rating.note)
    app.main.edit(change, Place("reply", case.name, field=f"{column} rated"), f"rating of {column}")
    app.past_runs.rate(case.name, column, live.text, rating.rating, rating.note)
