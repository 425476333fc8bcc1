"""Record columns as fixtures for `check`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from adapters.running.runs import Run
from sessions.errors import SessionError
from sessions.model.session import Column, Session
from sessions.running import recording
from workbench.state.derived import RenderedColumn
from workbench.state.document import Place, State
from workbench.state.engine import is_late
from workbench.tui.actions.checking import NOTHING_TO_CHECK
from workbench.tui.textual_internals.access import take_back
from workbench.tui.widgets.text.plain import plain_notify

if TYPE_CHECKING:
    from workbench.tui.host import Host

NO_COLUMN = "No column to record. {app.add_column|alt+c} adds one."
UNDER_WAY = "is being sent. Record it when its reply is complete, or cancel it with {app.cancel|esc}."


def record(host: Host) -> None:
    """Record messages, request, reply and parse result of the focused column, which `check` compares."""
    rendered = host.main.shown_column()
    if rendered is None:
        plain_notify(host.app, host.key_words(NO_COLUMN), title="Not recorded", severity="warning")
        return
    _record(host, [rendered])


def record_all(host: Host) -> None:
    """Record every column of this case, and report which could not be recorded and why."""
    _record(host, host.main.columns.rendered)


@dataclass(frozen=True)
class _Wanted:
    """A column that can be recorded, and the run of the reply it shows, if any."""

    column: Column
    run: Run | None
    is_read: bool


@dataclass(frozen=True)
class _Recorded:
    session: Session
    """The session with the new recordings."""
    case: str
    """The recorded case: the user may switch cases while another release is asked."""
    done: tuple[str, ...]
    left: tuple[str, ...]
    """Reasons why columns were not recorded, a line each."""


def _record(host: Host, shown: Sequence[RenderedColumn]) -> None:
    wanted: list[_Wanted] = []
    left: list[str] = []
    for rendered in shown:
        why = _hindrance(host, rendered)
        if why:
            left.append(f"{rendered.column.id} {why}")
        else:
            wanted.append(_Wanted(rendered.column, _run_of(host, rendered), rendered.reading is not None))
    state = host.document.state
    if any(is_late(one.column) for one in wanted):
        host.app.run_worker(_record_beside(host, state, wanted, left), group="record", exit_on_error=False)
    else:
        _tell(host, _recorded(state, wanted, left), wanted)


async def _record_beside(host: Host, state: State, wanted: Sequence[_Wanted], left: Sequence[str]) -> None:
    """Ask another release for its requests and parse results in a thread."""
    made = await asyncio.to_thread(_recorded, state, wanted, left)
    if host.document.session is state.session:
        _tell(host, made, wanted)
        return
    said = host.key_words("The session changed meanwhile. Press {app.record|ctrl+r} again.")
    plain_notify(host.app, said, title="Not recorded", severity="warning")


def _recorded(state: State, wanted: Sequence[_Wanted], left: Sequence[str]) -> _Recorded:
    session, done, left = state.session, [], list(left)
    for one in wanted:
        try:
            session = recording.record(session, session.cases[state.case_index], one.column, one.run)
        except SessionError as error:
            left.append(str(error))
        else:
            done.append(one.column.id)
    return _Recorded(session, state.case.name, tuple(done), tuple(left))


def _tell(host: Host, made: _Recorded, wanted: Sequence[_Wanted]) -> None:
    if made.done:
        is_unread = len(wanted) == 1 and not wanted[0].is_read
        _keep(host, made, ", the reply unparsed" if is_unread else "")
    if made.left or not made.done:
        said = "\n".join(made.left) or host.key_words(NO_COLUMN)
        plain_notify(host.app, said, title="Not recorded", severity="warning", timeout=10)


def _run_of(host: Host, rendered: RenderedColumn) -> Run | None:
    """Return the run of the reply on screen, unless its request has changed since."""
    run = host.main.runs.of(host.document.state.case.name, rendered.column.id)
    return None if run is None or host.main.replies.is_outdated(host.document.state, rendered) else run.run


def _keep(host: Host, made: _Recorded, more: str = "") -> None:
    """Put the recordings into the session; undo removes them."""
    take_back(host.app, NOTHING_TO_CHECK, "warning")
    what = ", ".join(made.done)
    place = Place("reply", made.case, field=f"{what} recorded")
    host.main.edit(partial(_with_session, session=made.session), place, f"record {what}")
    host.main.status.say(f"recorded {what}{more}; {host.key_words('{app.save|^s} save, {app.check|F9} check')}")


def _hindrance(host: Host, rendered: RenderedColumn) -> str:
    """Return why the column cannot be recorded and what would work; "" when it can."""
    keys = host.key_words
    run = host.main.runs.of(host.document.state.case.name, rendered.column.id)
    if run is not None and run.phase == "running":
        return keys(UNDER_WAY)
    if rendered.reply is None:
        return keys("has no reply yet. Send it with {app.send_column|F8}, or paste a reply.")
    if rendered.error:
        which = "has no prompt" if rendered.request is None else "has a stale prompt, newer than its reply"
        return f"{which}. Fix this first: {rendered.error}"
    if rendered.late is not None:
        return "is still waiting for its prompt. Try again in a moment."
    if rendered.slow is not None:
        return "has a reply that is still being parsed. Try again in a moment."
    if rendered.reading_error:
        return f"has a reply that its adapter failed to parse: {rendered.reading_error}"
    return ""


def _with_session(state: State, session: Session) -> State:
    return replace(state, session=session)
