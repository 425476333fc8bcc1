"""Fixtures: freezing what is on screen, and comparing what was frozen with what is made now."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from sessions.errors import SessionError
from sessions.fixtures import checking
from sessions.model import recording
from sessions.model.session import Session
from workbench.state.document import Place, State
from workbench.state.live import LiveColumn
from workbench.tui.actions.check_words import said_of
from workbench.tui.widgets.text.plain import plain_notify

if TYPE_CHECKING:
    from workbench.tui.app import WorkbenchApp


def record(app: WorkbenchApp) -> None:
    """Records the column with the focus: its messages, request, reply and reading, as `check` will compare them."""
    live = app.main.shown_column()
    if live is None:
        plain_notify(app, "There is no column to record: first show one.", title="Not recorded", severity="warning")
        return
    why = _hindrance(live, app.key_words)
    if why:
        plain_notify(app, f"{live.column.id} {why}", title="Not recorded", severity="warning", timeout=10)
        return
    state = app.document.state
    # what is frozen is what is on screen: a run that was asked something else has only the reply in common with it
    run = None if app.main.is_outdated(live) else app.main.runs.of(state.case.name, live.column.id)
    try:
        recorded = recording.record(state.session, state.case, live.column, run.run if run is not None else None)
    except SessionError as error:
        plain_notify(app, str(error), title="Not recorded", severity="warning")
        return
    place = Place("reply", state.case.name, field=f"{live.column.id} recorded")
    app.main.edit(partial(_with_session, session=recorded), place, f"record {live.column.id}")
    unread = ", the reply unread" if live.reading is None else ""
    app.main.say(
        f"recorded {live.column.id}{unread}; {app.key_words('{app.save|^s} saves it, {app.check|F9} checks it')}"
    )


def _hindrance(live: LiveColumn, keys: Callable[[str], str]) -> str:
    """Why the column cannot be recorded and what would work; empty when it can."""
    if live.reply is None:
        return keys("has no reply yet: {app.send_column|F8} sends it, or paste one below its prompt.")
    if live.error:
        which = "has no prompt" if live.request is None else "has only an older prompt, which its reply is not of"
        return f"{which}. First mend what is wrong: {live.error}"
    if live.reading_error:
        return f"has a reply that its adapter broke off reading: {live.reading_error}"
    return ""


def check(app: WorkbenchApp) -> None:
    """Checks every recording of the session as it is on screen, and says what drifted."""
    path = str(app.document.path) if app.document.path is not None else "this session"
    checked = checking.check(app.document.session, path)
    said = said_of(checked, app.document.state.case.name, app.key_words)
    plain_notify(app, said.text, title=said.title, severity=said.severity, timeout=12)


def _with_session(state: State, session: Session) -> State:
    return State(session, state.case_index, state.drafts)
