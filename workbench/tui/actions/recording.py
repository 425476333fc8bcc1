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
    try:
        recorded = _recorded(host, rendered, host.document.session)
    except SessionError as error:
        plain_notify(host.app, str(error), title="Not recorded", severity="warning", timeout=10)
        return
    _keep(host, recorded, rendered.column.id, ", the reply unread" if rendered.reading is None else "")


def record_all(host: Host) -> None:
    """Records every column of this case, and says which could not be and why."""
    session, done, left = host.document.session, [], []
    for rendered in host.main.columns.rendered:
        try:
            session = _recorded(host, rendered, session)
        except SessionError as error:
            left.append(str(error))
        else:
            done.append(rendered.column.id)
    if done:
        _keep(host, session, ", ".join(done))
    if left or not done:
        said = "\n".join(left) or "There is no column to record: first show one."
        plain_notify(host.app, said, title="Not recorded", severity="warning", timeout=10)


def _recorded(host: Host, rendered: RenderedColumn, session: Session) -> Session:
    """`session` with what is on screen of a column recorded. Raises SessionError where there is nothing to record."""
    column, state = rendered.column, host.document.state
    run = host.main.runs.of(state.case.name, column.id)
    is_sent = run is not None and run.phase == "running"
    why = host.key_words(UNDER_WAY) if is_sent else _hindrance(rendered, host.key_words)
    if why:
        raise SessionError(None, "", f"{column.id} {why}")
    # what is frozen is what is on screen: a run that was asked something else has only the reply in common with it
    ended = None if run is None or host.main.is_outdated(rendered) else run.run
    return recording.record(session, session.cases[state.case_index], column, ended)


def _keep(host: Host, recorded: Session, what: str, more: str = "") -> None:
    """The session with its new recordings in the place of the one on screen; undo takes them back."""
    take_back(host.app, NOTHING_TO_CHECK, "warning")
    place = Place("reply", host.document.state.case.name, field=f"{what} recorded")
    host.main.edit(partial(_with_session, session=recorded), place, f"record {what}")
    host.main.say(f"recorded {what}{more}; {host.key_words('{app.save|^s} saves it, {app.check|F9} checks it')}")


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
