"""The grid of what `workbench bench` ran for the session that is open, and a run of it on screen."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from sessions.bench import results
from sessions.bench.grid import latest
from sessions.errors import SessionError
from sessions.model.replies import Reply
from workbench.editing import edits
from workbench.output.display import one_line
from workbench.state.document import Place
from workbench.tui.screens.bench import BenchScreen, Wanted
from workbench.tui.widgets.text.plain import plain_notify

if TYPE_CHECKING:
    from workbench.tui.host import Host


async def look_at_bench(host: Host) -> None:
    """Shows what the results file beside the session holds; says how runs are made where there is none."""
    path = host.document.path
    if path is None:
        plain_notify(host.app, "Save the session first: runs are kept beside its file.", title="No bench")
        return
    beside = results.path_beside(path)
    try:
        found = await asyncio.to_thread(results.read, beside)
    except SessionError as error:
        plain_notify(host.app, one_line(str(error), 300), title="No bench", severity="error")
        return
    if found.unread:
        said = f"{beside.name}: {results.told(found)}; passed over"
        plain_notify(host.app, said, title="Lines that cannot be read", severity="warning")
    if not found.runs:
        said = f"`workbench bench {path.name} --repeat 5` runs every case under every column, and keeps the runs here."
        plain_notify(host.app, said, title="No bench yet")
        return
    session = host.document.session
    cases, columns = [one.name for one in session.cases], [one.id for one in session.columns]
    grid = latest(str(path), found.runs, cases, columns)
    wanted = await host.app.push_screen_wait(BenchScreen(grid, path.name))
    if wanted is not None:
        show(host, wanted)


def show(host: Host, wanted: Wanted) -> None:
    """Makes the case the one on screen, with the reply of the run under its column; says what is not there any more."""
    session = host.document.session
    names = [one.name for one in session.cases]
    if wanted.case not in names:
        plain_notify(host.app, f"There is no case {one_line(wanted.case, 60)} any more.", severity="warning")
        return
    host.document.look_at_case(names.index(wanted.case))
    host.main.show()
    columns = [one.id for one in session.columns]
    column = wanted.column if wanted.column in columns else wanted.column.partition(" · ")[0]
    if column not in columns:
        plain_notify(host.app, f"There is no column {one_line(wanted.column, 60)} here.", severity="warning")
        return
    run = wanted.run
    if run is not None and run.reply is not None:
        host.main.runs.forget(wanted.case, column)
        answer = run.reply
        reply = Reply(answer.text, model=run.model, reasoning=answer.reasoning, tool_calls=answer.tool_calls)
        change = partial(edits.set_reply, case=wanted.case, column=column, reply=reply)
        host.main.edit(change, Place("reply", wanted.case, field=f"{column} benched"), f"reply of run {run.number}")
    host.main.go_to(Place("column", wanted.case, field=column))
