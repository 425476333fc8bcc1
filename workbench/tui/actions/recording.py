"""Recording: what is on screen of a column is frozen as a fixture."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from sessions.errors import SessionError
from sessions.model import recording
from sessions.model.session import Session
from workbench.state.derived import RenderedColumn
from workbench.state.document import Place, State
from workbench.tui.actions.checking import NOTHING_TO_CHECK
from workbench.tui.textual_internals.toasts import take_back
from workbench.tui.widgets.text.plain import plain_notify

if TYPE_CHECKING:
    from workbench.tui.host import Host

UNDER_WAY = "is being sent: it can be recorded when its reply has come, or {app.cancel|esc} cancels it."
"""Of a column whose reply is under way, which has no whole reply, or still an older one."""


def record(host: Host) -> None:
    """Records the column with the focus: its messages, request, reply and reading, as `check` will compare them."""
    rendered = host.main.shown_column()
    if rendered is None:
        plain_notify(
            host.app, "There is no column to record: first show one.", title="Not recorded", severity="warning"
        )
        return
    state = host.document.state
    run = host.main.runs.of(state.case.name, rendered.column.id)
    is_sent = run is not None and run.phase == "running"
    why = host.key_words(UNDER_WAY) if is_sent else _hindrance(rendered, host.key_words)
    if why:
        plain_notify(host.app, f"{rendered.column.id} {why}", title="Not recorded", severity="warning", timeout=10)
        return
    # what is frozen is what is on screen: a run that was asked something else has only the reply in common with it
    ended = None if run is None or host.main.is_outdated(rendered) else run.run
    try:
        recorded = recording.record(state.session, state.case, rendered.column, ended)
    except SessionError as error:
        plain_notify(host.app, str(error), title="Not recorded", severity="warning")
        return
    place = Place("reply", state.case.name, field=f"{rendered.column.id} recorded")
    take_back(host.app, NOTHING_TO_CHECK, "warning")
    host.main.edit(partial(_with_session, session=recorded), place, f"record {rendered.column.id}")
    unread = ", the reply unread" if rendered.reading is None else ""
    host.main.say(
        f"recorded {rendered.column.id}{unread}; {host.key_words('{app.save|^s} saves it, {app.check|F9} checks it')}"
    )


def _hindrance(rendered: RenderedColumn, keys: Callable[[str], str]) -> str:
    """Why the column cannot be recorded and what would work; empty when it can."""
    if rendered.reply is None:
        return keys("has no reply yet: {app.send_column|F8} sends it, or paste one below its prompt.")
    if rendered.error:
        which = "has no prompt" if rendered.request is None else "has only an older prompt, which its reply is not of"
        return f"{which}. First mend what is wrong: {rendered.error}"
    if rendered.slow is not None:
        return "has a reply that is still being read; it can be recorded in a moment."
    if rendered.reading_error:
        return f"has a reply that its adapter broke off reading: {rendered.reading_error}"
    return ""


def _with_session(state: State, session: Session) -> State:
    return State(session, state.case_index, state.drafts)
