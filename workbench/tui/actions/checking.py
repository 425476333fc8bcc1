"""Record columns, check recordings against today's results, mark drift and review it.

An explicit check covers the session; marks are updated after each edit of the case on screen. Accepting causes changes
the document.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from textual.notifications import SeverityLevel
from textual.timer import Timer

from adapters.late_dataclasses import dataclass, replace
from adapters.running.runs import Run
from sessions.causes.cause import FixtureName
from sessions.causes.finding import Causes, accepted
from sessions.checking import checking
from sessions.checking.verdicts import FixtureResult
from sessions.errors import SessionError, counted
from sessions.file.whole_files import key_of
from sessions.model.session import Session
from sessions.running import recording
from sessions.source.linking import Follower, add_source_verdict, check_source
from sessions.source.project import SourceError
from workbench.checks.decisions import Decisions, KeptDecisions
from workbench.checks.reviewing import OpenLook, add_program_text
from workbench.output.display import one_line
from workbench.state.document import Place, RenderedColumn, State
from workbench.state.engine import is_late
from workbench.tui.host import Host
from workbench.tui.keys import KeyWords
from workbench.tui.runs.runs import ColumnRun
from workbench.tui.screens.review import Left, ReviewScreen
from workbench.tui.textual_internals.access import take_back
from workbench.tui.widgets.text.plain import plain_notify

REST_S = 0.3
"""Seconds without a change before looking for drift, so that keys are not delayed."""


@dataclass(eq=False)
class DriftWatch:
    """Look for drift in a thread when the session is idle, if the case has recordings."""

    _host: Host
    _seen: tuple[Session, str] | None = None
    _timer: Timer | None = None

    def look(self) -> None:
        """Schedule a check of the shown document if it has changed."""
        state = self._host.document.state
        seen = (state.session, state.case.name)
        if self._seen is not None and seen[0] is self._seen[0] and seen[1] == self._seen[1]:
            return
        is_another_case = self._seen is None or seen[1] != self._seen[1]
        self._seen = seen
        if self._timer is not None:
            self._timer.stop()
        if is_another_case or not state.case.recordings:
            self._host.main.mark_drifted(frozenset())
        if state.case.recordings:
            app = self._host.app
            self._timer = app.set_timer(
                REST_S, lambda: app.run_worker(self._find(*seen), group="drift", exclusive=True, exit_on_error=False)
            )

    async def _find(self, session: Session, case: str) -> None:
        found = await asyncio.to_thread(drifted, session, case)
        if self._seen is not None and self._seen[0] is session and self._seen[1] == case:
            self._host.main.mark_drifted(found)


def drifted(session: Session, case: str) -> frozenset[str]:
    """Return the ids of columns that differ from their recording in prompt, request or parse result."""
    results = checking.check(session, cases=[case])
    return frozenset([one.column for one in results if "drift" in (one.verdicts["render"], one.verdicts["parse"])])


MOST_LINES = 8


def check(host: Host) -> None:
    """Check all recordings of the open session and its linked program, then ask about drift.

    With an invalid signature the check is refused: every recording would report the same error, and nothing could be
    accepted.
    """
    document = host.document
    problem = host.main.engine.read_signature(document.state).error
    if problem is not None and document.session.signature.text.strip():
        said = f"Fix the signature before checking: {problem.message}"
        plain_notify(host.app, said, title="Not checked", severity="warning", timeout=12)
        return
    if any(is_late(column) for column in document.session.columns):

        async def check_beside() -> None:  # in a thread, because columns of another release are slow
            _tell(host, await asyncio.to_thread(judged, host, Follower()))

        host.app.run_worker(check_beside(), group="check", exclusive=True, exit_on_error=False)
    else:
        _tell(host, judged(host, Follower()))


def _tell(host: Host, checked: Sequence[FixtureResult]) -> None:
    # a fixture whose expectations only lack a reply is waiting
    differing = [one for one in checked if one.failed and {drift.message for drift in one.drift} != {checking.NO_REPLY}]
    if differing:
        host.ask(decide(host, differing))
        return
    said = said_of(checked, host.document.state.case.name, host.key_words)
    plain_notify(host.app, said.text, title=said.title, severity=said.severity, timeout=12)


class Said(NamedTuple):
    """A notification."""

    title: str
    text: str
    severity: SeverityLevel


NOTHING_TO_CHECK = "Nothing to check"


def said_of(checked: Sequence[FixtureResult], case: str, keys: KeyWords) -> Said:
    """Return the notification for a check without differences; `case` is the case on screen."""
    results = [one for one in checked if not one.is_empty]
    if not results:
        nothing = keys("Nothing is recorded yet: {app.record|ctrl+r} records the reply of a column.")
        return Said(NOTHING_TO_CHECK, nothing, "warning")
    waiting = [one for one in results if one.failed]
    holding = [one for one in results if one.passed]
    parts: list[str] = []
    if waiting:
        # List the fixtures without a reply by case, with the key that gets a reply
        columns: dict[str, list[str]] = {}
        for one in waiting:
            columns.setdefault(one.case, []).append(one.column)
        listed = "; ".join([f"{name} · {', '.join(ids)}" for name, ids in columns.items()])
        elsewhere = "{app.cases|ctrl+t} goes to a case, {app.send_all|F5} sends it there"
        send = "{app.send_all|F5} sends it" if set(columns) == {case} else elsewhere
        parts.append(f"Expectations without a reply: {one_line(listed, 240)}. {keys(send)}.")
    for one in holding[:MOST_LINES]:
        words = ", ".join([f"{part} {word}" for part, word in one.verdicts.items() if word != "empty"])
        parts.append(f"{one.case} · {one.column}: {words}")
    if len(holding) > MOST_LINES:
        parts.append(f"… and {len(holding) - MOST_LINES} more")
    unsent = f", {len(waiting)} without a reply" if waiting else ""
    recorded = sum(one.verdicts.get("render") == "pass" for one in holding)
    others = len(holding) - recorded
    if recorded:
        title = "✓ the recording matches" if recorded == 1 else f"✓ all {recorded} recordings match"
        title += f"{f', {others} more as expected' if others else ''}{unsent}"
    elif holding:
        title = f"✓ {others} as expected, not recorded{unsent}"
        parts.append(keys("{app.record|ctrl+r} records the reply of a column, and its prompt is then checked too."))
    else:
        title = "No replies to check yet"
    return Said(title, "\n".join(parts), "warning" if waiting else "information")


def judged(host: Host, follower: Follower) -> list[FixtureResult]:
    """Check the session on screen and its linked program, as `workbench check` would after saving."""
    session = host.document.session
    results = checking.check(session, path_of(host))
    return add_source_verdict(results, check_source(session, host.document.folder, follower))


async def decide(host: Host, results: Sequence[FixtureResult]) -> None:
    """Review drift by cause and apply the accepted causes, as a change that can be undone."""
    document = host.document
    causes = Causes()
    causes.add(results)
    decisions = Decisions(causes.found())
    look = OpenLook(document.session, document.folder, results)
    name = document.path.name if document.path is not None else "this session"
    kept = KeptDecisions(f"{key_of(document.path)}-open")
    left = await host.app.push_screen_wait(ReviewScreen(decisions, look, name, "records", kept))
    if take(host, left):
        kept.remove()
    if left.go_to is not None:
        go_to(host, left.go_to[1])


def take(host: Host, left: Left) -> bool:
    """Apply accepted causes to the current session and program, since a reply may have arrived meanwhile.

    Return False after an error, which is reported.
    """
    ids = left.decisions.accepted
    if not ids:
        return True
    session = host.document.session
    follower = Follower()
    try:
        text = add_program_text(session, host.document.folder, judged(host, follower), ids, follower)
    except SourceError as error:
        plain_notify(host.app, one_line(str(error), 300), title="The program", severity="error", timeout=10)
        return False
    done = accepted(text.session, checking.check(text.session, path_of(host)), ids)
    settled = len(done.settled | text.settled)
    count = f"{settled or 'no'} cause{'' if settled < 2 else 's'}"
    taken = "Pulled the program's text. " if text.settled else ""
    waiting = f"{counted(done.waiting, 'waits', 'wait')} for another cause. " if done.waiting else ""
    waiting += f"{text.left[0].upper()}{one_line(text.left[1:], 300)}. " if text.left else ""
    waiting += "{app.check|F9} asks again. " if waiting else ""
    if done.session is not session:
        host.main.edit(lambda state: replace(state, session=done.session), Place("session"), f"accept {count}")
    keys = "{app.save|ctrl+s} saves it, {app.undo|ctrl+z} takes it back." if done.session is not session else ""
    said = f"{taken}{done.recorded} recorded again. {waiting}{keys}".rstrip()
    title = f"{count} accepted".capitalize() if settled or not waiting else "Accepted, waiting for another cause"
    plain_notify(host.app, host.key_words(said), title=title, timeout=10)
    return True


def path_of(host: Host) -> str:
    """Return the name of the open session for fixture names."""
    return str(host.document.path) if host.document.path is not None else "this session"


def go_to(host: Host, fixture: FixtureName) -> None:
    """Show a fixture's case and go to its prompt."""
    if show_case(host, fixture.case):
        host.main.go_to(Place("column", fixture.case, field=fixture.column))


def show_case(host: Host, name: str) -> bool:
    """Show the case with a name, or say that it is gone."""
    names = [one.name for one in host.document.session.cases]
    if name not in names:
        plain_notify(host.app, f"The case {one_line(name, 60)} no longer exists.", severity="warning")
        return False
    host.main.show_case(names.index(name))
    return True


NO_COLUMN = "No column to record. {app.add_column|alt+c} adds one."
OUTDATED = (
    "the present prompt was recorded with a reply to an earlier prompt or model. "
    "{app.send_column|F8} gets a reply to this prompt; {app.undo|ctrl+z} takes the recording back."
)
UNDER_WAY = "is being sent. Record it when its reply is complete, or cancel it with {app.cancel|esc}."


def record(host: Host) -> None:
    """Record messages, request, reply and parse result of the focused column for `check`."""
    rendered = host.main.shown_column()
    if rendered is None:
        plain_notify(host.app, host.key_words(NO_COLUMN), title="Not recorded", severity="warning")
        return
    record_columns(host, [rendered])


Wanted = Sequence[tuple[RenderedColumn, Run | None]]
"""Columns that can be recorded, each with the run of its shown reply unless its request has changed since."""
Recorded = tuple[Session, list[str], list[str]]
"""The session with the new recordings, the recorded columns, and reasons why others were not recorded."""


def record_columns(host: Host, shown: Sequence[RenderedColumn]) -> None:
    """Record columns of this case, and report those that could not be recorded and why."""
    wanted: list[tuple[RenderedColumn, Run | None]] = []
    left: list[str] = []
    state = host.document.state
    for rendered in shown:
        run = host.main.runs.of(state.case.name, rendered.column.id)
        why = _hindrance(run, rendered, host.key_words)
        if why:
            left.append(f"{rendered.column.id} {why}")
        else:
            sent = None if run is None or host.main.replies.is_outdated(state, rendered) else run.run
            wanted.append((rendered, sent))
    if any(is_late(one.column) for one, _ in wanted):
        host.app.run_worker(_record_beside(host, state, wanted, left), group="record", exit_on_error=False)
    else:
        _tell_recorded(host, state, wanted, _record_each(state, wanted, left))


async def _record_beside(host: Host, state: State, wanted: Wanted, left: list[str]) -> None:
    """Record in a thread, because columns of another release are slow."""
    made = await asyncio.to_thread(_record_each, state, wanted, left)
    if host.document.session is state.session:
        _tell_recorded(host, state, wanted, made)
        return
    said = host.key_words("The session changed meanwhile. Press {app.record|ctrl+r} again.")
    plain_notify(host.app, said, title="Not recorded", severity="warning")


def _record_each(state: State, wanted: Wanted, left: list[str]) -> Recorded:
    session, done = state.session, []
    for one, run in wanted:
        try:
            session = recording.record(session, session.cases[state.case_index], one.column, run)
        except SessionError as error:
            left.append(str(error))
        else:
            done.append(one.column.id)
    return session, done, left


def _tell_recorded(host: Host, state: State, wanted: Wanted, made: Recorded) -> None:
    session, done, left = made
    if done:
        is_unread = len(wanted) == 1 and wanted[0][0].reading is None
        more = ", the reply unparsed" if is_unread else ""
        take_back(host.app, NOTHING_TO_CHECK)
        what = ", ".join(done)
        place = Place("reply", state.case.name, field=f"{what} recorded")  # the user may see another case by now
        host.main.edit(lambda now: replace(now, session=session), place, f"record {what}")
        outdated = [one.column.id for one, _ in wanted if host.main.replies.is_outdated(state, one)]
        outdated = [id for id in outdated if id in done]
        if outdated:
            said = host.key_words(f"{', '.join(outdated)}: {OUTDATED}")
            plain_notify(host.app, said, title="Old reply recorded", severity="warning", timeout=12)
        host.main.status.say(f"recorded {what}{more}; {host.key_words('{app.save|^s} save, {app.check|F9} check')}")
    if left or not done:
        said = "\n".join(left) or host.key_words(NO_COLUMN)
        plain_notify(host.app, said, title="Not recorded", severity="warning", timeout=10)


def _hindrance(run: ColumnRun | None, rendered: RenderedColumn, keys: KeyWords) -> str:
    """Return why the column cannot be recorded and what would help, or ""."""
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
