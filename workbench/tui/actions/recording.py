"""Recording: what is on screen of a column is frozen as a fixture."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from sessions.errors import SessionError
from sessions.model import recording
from sessions.model.session import Session
from workbench.state.document import Place, State
from workbench.state.live import LiveColumn
from workbench.tui.actions.checking import NOTHING_TO_CHECK
from workbench.tui.textual_internals.toasts import take_back
from workbench.tui.widgets.text.plain import plain_notify

if TYPE_CHECKING:
    from workbench.tui.host import Host


def record(host: Host) -> None:
    """Records the column with the focus: its messages, request, reply and reading, as `check` will compare them."""
    live = host.main.shown_column()
    if live is None:
        plain_notify(
            host.app, "There is no column to record: first show one.", title="Not recorded", severity="warning"
        )
        return
    why = _hindrance(live, host.key_words)
    if why:
        plain_notify(host.app, f"{live.column.id} {why}", title="Not recorded", severity="warning", timeout=10)
        return
    state = host.document.state
    # what is frozen is what is on screen: a run that was asked something else has only the reply in common with it
    run = None if host.main.is_outdated(live) else host.main.runs.of(state.case.name, live.column.id)
    try:
        recorded = recording.record(state.session, state.case, live.column, run.run if run is not None else None)
    except SessionError as error:
        plain_notify(host.app, str(error), title="Not recorded", severity="warning")
        return
    place = Place("reply", state.case.name, field=f"{live.column.id} recorded")
    take_back(host.app, NOTHING_TO_CHECK, "warning")
    host.main.edit(partial(_with_session, session=recorded), place, f"record {live.column.id}")
    unread = ", the reply unread" if live.reading is None else ""
    host.main.say(
        f"recorded {live.column.id}{unread}; {host.key_words('{app.save|^s} saves it, {app.check|F9} checks it')}"
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


def _with_session(state: State, session: Session) -> State:
    return State(session, state.case_index, state.drafts)
