"""Fixtures: freezing what is on screen, and comparing what was frozen with what is made now."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from sessions import fixtures, recording
from sessions.errors import SessionError
from sessions.session import Session
from workbench.document import Place, State
from workbench.widgets.plain import plain_notify

if TYPE_CHECKING:
    from workbench.app import WorkbenchApp


def record(app: WorkbenchApp) -> None:
    """Records the column with the focus: its messages, request, reply and reading, as `check` will compare them."""
    live = app.main.shown_column()
    if live is None:
        return
    if live.reading is None or live.stale:
        why = "its prompt is stale" if live.stale else "it has no reply yet: send it, or paste one"
        plain_notify(app, f"{live.column.id} cannot be recorded: {why}.", severity="warning")
        return
    state = app.document.state
    run = app.main.runs.of(state.case.name, live.column.id)
    try:
        recorded = recording.record(state.session, state.case, live.column, run.run if run is not None else None)
    except SessionError as error:
        plain_notify(app, str(error), title="Not recorded", severity="warning")
        return
    place = Place("reply", state.case.name, field=f"{live.column.id} recorded")
    app.main.edit(partial(_with_session, session=recorded), place, f"record {live.column.id}")
    app.main.say(f"recorded {live.column.id}; {app.key_words('{app.save|^s} saves it, {app.check|F9} checks it')}")


def check(app: WorkbenchApp) -> None:
    """Checks every recording of the session as it is on screen, and says what drifted."""
    path = str(app.document.path) if app.document.path is not None else "this session"
    # a column that nothing is recorded or expected of is none of what holds
    checked = fixtures.check(app.document.session, path)
    results = [one for one in checked if any(word != "empty" for word in one.verdicts.values())]
    if not results:
        plain_notify(
            app,
            app.key_words("Nothing is recorded yet: {app.record|ctrl+r} records the reply of a column."),
            severity="warning",
        )
        return
    lines = []
    for one in results:
        words = ", ".join(f"{name} {verdict}" for name, verdict in one.verdicts.items())
        lines.append(f"{one.case} · {one.column}: {words}")
    bad = [one for one in results if any(word in ("drift", "fail", "error") for word in one.verdicts.values())]
    holds = "✓ the recording holds" if len(results) == 1 else f"✓ all {len(results)} recordings hold"
    title = f"{len(bad)} of {len(results)} recordings differ" if bad else holds
    plain_notify(app, "\n".join(lines[:12]), title=title, severity="error" if bad else "information", timeout=12)


def _with_session(state: State, session: Session) -> State:
    return State(session, state.case_index, state.drafts)
