"""Show results of `workbench bench` or of a stress test, and move replies from them into a column."""

from __future__ import annotations

import asyncio
from functools import partial

from adapters.errors import SignatureError
from adapters.late_dataclasses import replace
from sessions.bench import reading
from sessions.bench.conclusions import Conclusions
from sessions.bench.grid import latest
from sessions.bench.results import path_beside, request_digest
from sessions.bench.totals import Cell
from sessions.checking.expectations import column_expectations
from sessions.errors import SessionError
from sessions.file.typed_values import shown_of
from sessions.model.replies import Reply
from sessions.model.session import Demo, Session
from sessions.running import rendering
from sessions.running.recording import copied
from sessions.stress import grid
from workbench.bench.judging import expected_outputs
from workbench.editing import row_edits
from workbench.output.display import one_line
from workbench.state.document import Place
from workbench.tui.actions.checking import record, show_case
from workbench.tui.host import Ended, Host, answer_to, ends_on
from workbench.tui.screens.bench import BenchScreen, Wanted
from workbench.tui.screens.stress import StressScreen, Tested
from workbench.tui.widgets.text.plain import plain_notify


async def look_at_bench(host: Host) -> None:
    """Show the results file next to the session; without a file, explain how to create it."""
    path = host.document.path
    if path is None:
        raise Ended("Save the session first: results are stored next to its file.", "No bench", "information")
    beside = path_beside(path)
    with ends_on(SessionError, title="No bench"):
        found = await asyncio.to_thread(reading.read, path)
    if found.told:
        said = f"{beside.name}: {found.told}; skipped"
        plain_notify(host.app, said, title="Invalid lines", severity="warning")
    if not found:
        said = f"`workbench bench {path.name} --repeat 5` runs every case in every column for this grid."
        raise Ended(said, "No bench yet", "information")
    session = host.document.session
    cases, columns = [one.name for one in session.cases], [one.id for one in session.columns]
    concluded = Conclusions(latest(found, cases, columns))
    # for thousands of cases this takes a while
    await asyncio.to_thread(lambda: (concluded.verdict, concluded.pairs, concluded.grid.by_disagreement))
    is_old = partial(_is_old, session)
    show(host, await answer_to(host, BenchScreen(concluded, path.name, is_old)))


def show(host: Host, wanted: Wanted) -> None:
    """Show the case with the run's reply in its column, and report what no longer exists."""
    session = host.document.session
    if not show_case(host, wanted.case):
        return
    columns = [one.id for one in session.columns]
    column = wanted.column if wanted.column in columns else wanted.column.partition(" · ")[0]
    if column not in columns:
        raise Ended(f"This session has no column {one_line(wanted.column, 60)}.")
    run = wanted.run
    if run is not None and run.reply is not None:
        now, now_of_reply = _digests(session, column, run.case)
        # a digest that no prompt has marks the reply as old; without a prompt, it is never marked
        digest = now_of_reply if now in (None, run.request) else run.request
        reply = copied(Reply, run.reply, model=run.model, request_digest=digest)
        host.main.replies.put(wanted.case, column, reply, f"reply of run {run.number}", "benched")
    if run is not None and wanted.then == "demo":
        case = session.case(wanted.case)
        known = {name: shown_of(value) for name, value in run.values.items()}
        demo = Demo({**case.inputs, **known, **expected_outputs(column_expectations(case.expect, column))})
        row = len(session.demos)
        made = partial(row_edits.insert_demos, at=row, demos=(demo,))
        host.main.edit(made, Place("demo", row=row), f"demo of {one_line(wanted.case, 40)}")
        host.main.go_to(Place("demo", row=row, field=next(iter(session.signature.read().output_fields), "")))
        return
    host.main.go_to(Place("column", wanted.case, field=column))
    if wanted.then == "record":
        host.app.call_after_refresh(record, host)  # by then the column shows the reply


def _is_old(session: Session, cell: Cell) -> bool:
    """Return whether a cell of the session's own column is of an earlier prompt."""
    if not cell.many or cell.column not in [one.id for one in session.columns]:
        return False
    return _digests(session, cell.column, cell.case)[0] not in (None, cell.request)


def _digests(session: Session, id: str, case: str) -> tuple[str | None, str | None]:
    """Return the digests that a bench and a reply give the present request; None if it cannot be made."""
    column = next(one for one in session.columns if one.id == id)
    try:
        asked = rendering.request_of(session, column, session.case(case))
    except Exception:  # format may raise anything, and the case may be gone
        return None, None
    return request_digest(replace(column, params=session.params_of(column)), asked), asked.digest()


async def break_replies(host: Host) -> None:
    """Show which parsers survive which damaged replies of the open case; a reply taken from there can be undone."""
    document = host.document
    if len(host.app.screen_stack) > 1:
        return
    session, case = document.session, document.state.case
    try:
        session.signature.read()
    except (SignatureError, ValueError, RecursionError) as error:
        said = f"{error} Fix the signature first: no reply can be parsed without it."
        raise Ended(said, "Nothing to break") from error
    name = document.path.name if document.path is not None else session.name or "this session"
    columns = frozenset([one.id for one in session.columns])
    done, *of = host.last_stress_test or (None, None, None)
    is_the_same = of[0] is session and of[1] is case
    make = partial(grid.grid_of, session, case, grid.every_adapter(session))
    screen = StressScreen(lambda: Tested.of(make()), name, columns, done if is_the_same else None)
    taken = await host.app.push_screen_wait(screen)
    host.last_stress_test = (screen.done, session, case) if screen.done is not None else None
    if taken is not None:
        column, text = taken
        reply = Reply(text, source="edited")
        host.main.go_to(host.main.replies.put(case.name, column, reply, "a damaged reply", ""))
