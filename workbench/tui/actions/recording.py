"""Recording: what is on screen of a column is frozen as a fixture."""

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
from workbench.state.late_columns import is_late
from workbench.tui.actions.checking import NOTHING_TO_CHECK
from workbench.tui.textual_internals.toasts import take_back
from workbench.tui.widgets.text.plain import plain_notify

if TYPE_CHECKING:
    from workbench.tui.host import Host

NO_COLUMN = "There is no column to record: {app.add_column|alt+c} adds one."
UNDER_WAY = "is being sent: it can be recorded when its reply has come, or {app.cancel|esc} cancels it."
"""Of a column whose reply is under way, which has no whole reply, or still an older one."""


def record(host: Host) -> None:
    """Records the column with the focus: its messages, request, reply and reading, as `check` will compare them."""
    rendered = host.main.shown_column()
    if rendered is None:
        plain_notify(host.app, host.key_words(NO_COLUMN), title="Not recorded", severity="warning")
        return
    _record(host, [rendered])


def record_all(host: Host) -> None:
    """Records every column of this case, and says which could not be and why."""
    _record(host, host.main.columns.rendered)


@dataclass(frozen=True)
class _Wanted:
    """A column that can be recorded, and the run whose reply it shows, if there is one."""

    column: Column
    run: Run | None
    is_read: bool


@dataclass(frozen=True)
class _Recorded:
    session: Session
    """With the recordings of `done`, columns by their ids."""
    case: str
    """The case that they are of: while another release is asked, the user may go to another one."""
    done: tuple[str, ...]
    left: tuple[str, ...]
    """Why which column was left, a line each."""


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
    """Another release is asked for its requests and readings away from the keys."""
    made = await asyncio.to_thread(_recorded, state, wanted, left)
    if host.document.session is state.session:
        _tell(host, made, wanted)
        return
    said = host.key_words("The session was changed meanwhile: {app.record|ctrl+r} again records it as it is now.")
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
        _keep(host, made, ", the reply unread" if is_unread else "")
    if made.left or not made.done:
        said = "\n".join(made.left) or host.key_words(NO_COLUMN)
        plain_notify(host.app, said, title="Not recorded", severity="warning", timeout=10)


def _run_of(host: Host, rendered: RenderedColumn) -> Run | None:
    """The run whose reply is on screen: one that was asked something else has only the reply in common with it."""
    run = host.main.runs.of(host.document.state.case.name, rendered.column.id)
    return None if run is None or host.main.replies.is_outdated(host.document.state, rendered) else run.run


def _keep(host: Host, made: _Recorded, more: str = "") -> None:
    """The session with its new recordings in the place of the one on screen; undo takes them back."""
    take_back(host.app, NOTHING_TO_CHECK, "warning")
    what = ", ".join(made.done)
    place = Place("reply", made.case, field=f"{what} recorded")
    host.main.edit(partial(_with_session, session=made.session), place, f"record {what}")
    host.main.status.say(f"recorded {what}{more}; {host.key_words('{app.save|^s} saves it, {app.check|F9} checks it')}")


def _hindrance(host: Host, rendered: RenderedColumn) -> str:
    """Why the column cannot be recorded and what would work; empty when it can."""
    keys = host.key_words
    run = host.main.runs.of(host.document.state.case.name, rendered.column.id)
    if run is not None and run.phase == "running":
        return keys(UNDER_WAY)
    if rendered.reply is None:
        return keys("has no reply yet: {app.send_column|F8} sends it, or paste one below its prompt.")
    if rendered.error:
        which = "has no prompt" if rendered.request is None else "has only an older prompt, which its reply is not of"
        return f"{which}. First mend what is wrong: {rendered.error}"
    if rendered.late is not None:
        return "has a prompt that its dspy is still making; it can be recorded in a moment."
    if rendered.slow is not None:
        return "has a reply that is still being read; it can be recorded in a moment."
    if rendered.reading_error:
        return f"has a reply that its adapter broke off reading: {rendered.reading_error}"
    return ""


def _with_session(state: State, session: Session) -> State:
    return replace(state, session=session)
