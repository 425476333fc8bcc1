"""Check recordings against today's results, mark columns that drift, and review what drifted.

An explicit check covers the session; marks follow each edit of the case on screen. Accepted causes are a change of the
document.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from textual.notifications import SeverityLevel
from textual.timer import Timer

from sessions.causes.accepting import accepted
from sessions.causes.cause import FixtureName
from sessions.causes.finding import Causes
from sessions.checking import checking
from sessions.checking.checking import NO_REPLY
from sessions.checking.verdicts import FixtureResult
from sessions.model.session import Session
from sessions.source.comparing import check_source, with_source
from sessions.source.linking import Follower
from sessions.source.project import SourceError
from workbench.checks.decisions import Decisions, of_open
from workbench.checks.reviewing import OpenLook, with_text
from workbench.output.display import one_line
from workbench.output.measures import counted
from workbench.state.document import Place
from workbench.state.engine import is_late
from workbench.tui.keys.bindings import KeyWords
from workbench.tui.screens.review import Left, ReviewScreen
from workbench.tui.widgets.text.plain import plain_notify

if TYPE_CHECKING:
    from workbench.tui.host import Host

REST_S = 0.3
"""Seconds without a change after which it is looked: what a key is waited for comes first."""


class DriftWatch:
    """Looks when the session has not changed for a moment, in a thread, and only where something is recorded."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._seen: tuple[Session, str] | None = None
        self._timer: Timer | None = None

    def look(self) -> None:
        """The panes show the document as it is now."""
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
            self._timer = self._host.app.set_timer(REST_S, self._judge)

    def _judge(self) -> None:
        if self._seen is not None:
            work = self._find(*self._seen)
            self._host.app.run_worker(work, group="drift", exclusive=True, exit_on_error=False)

    async def _find(self, session: Session, case: str) -> None:
        found = await asyncio.to_thread(drifted, session, case)
        if self._seen is not None and self._seen[0] is session and self._seen[1] == case:
            self._host.main.mark_drifted(found)


def drifted(session: Session, case: str) -> frozenset[str]:
    """Return the ids of the columns whose prompt, request or parse result differs from the recording, as in `check`."""
    results = checking.check(session, cases=[case])
    return frozenset([one.column for one in results if "drift" in (one.verdicts["render"], one.verdicts["parse"])])


MOST_LINES = 8
LONGEST_REASON = 120


def check(host: Host) -> None:
    """Check all recordings of the open session, and its program; then decide on drift.

    While the signature cannot be read each of them would say the same, and nothing of it can be decided.
    """
    problem = host.main.engine.read_signature(host.document.state).error
    if problem is not None and host.document.session.signature.text.strip():
        said = f"Fix the signature before checking: {problem.message}"
        plain_notify(host.app, said, title="Not checked", severity="warning", timeout=12)
        return
    if any(is_late(column) for column in host.document.session.columns):
        host.app.run_worker(_check_beside(host), group="check", exclusive=True, exit_on_error=False)
    else:
        _tell(host, judged(host, Follower()))


async def _check_beside(host: Host) -> None:
    """Another release is asked away from the keys."""
    _tell(host, await asyncio.to_thread(judged, host, Follower()))


def _tell(host: Host, checked: Sequence[FixtureResult]) -> None:
    differing = [one for one in checked if one.failed and not _waits(one)]
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
    """The words on a check, while the case of this name is on screen."""
    results = [one for one in checked if not one.is_empty]
    if not results:
        nothing = keys("Nothing is recorded yet: {app.record|ctrl+r} records the reply of a column.")
        return Said(NOTHING_TO_CHECK, nothing, "warning")
    waiting = [one for one in results if _waits(one)]
    bad = [one for one in results if one.failed and not _waits(one)]
    holding = [one for one in results if one.passed]
    parts = [*_shortened([_line(one) for one in bad])]
    if waiting:
        # List the fixtures without a reply by case, with the key that gets a reply
        columns: dict[str, list[str]] = {}
        for one in waiting:
            columns.setdefault(one.case, []).append(one.column)
        listed = "; ".join([f"{name} · {', '.join(ids)}" for name, ids in columns.items()])
        send = "{app.send_all|F5} sends it" if set(columns) == {case} else _ELSEWHERE
        parts.append(f"Expectations without a reply: {one_line(listed, 240)}. {keys(send)}.")
    parts += _shortened([_line(one) for one in holding])
    if holding and not bad and not _recorded(holding):
        parts.append(keys("{app.record|ctrl+r} records the reply of a column, and its prompt is then checked too."))
    return Said(
        _title(len(bad), len(waiting), holding),
        "\n".join(parts),
        ("error" if bad else "warning" if waiting else "information"),
    )


def _waits(result: FixtureResult) -> bool:
    """Tell whether only replies are missing, to compare with expectations."""
    return result.failed and bool(result.drift) and all(one.message == NO_REPLY for one in result.drift)


def _title(bad: int, waiting: int, holding: Sequence[FixtureResult]) -> str:
    unsent = f", {waiting} without a reply" if waiting else ""
    if bad:
        return f"{bad} of {bad + len(holding)} differ{unsent}"
    if not holding:
        return "No replies to check yet"
    recorded = _recorded(holding)
    others = len(holding) - recorded
    if not recorded:
        return f"✓ {others} as expected, not recorded{unsent}"
    holds = "✓ the recording matches" if recorded == 1 else f"✓ all {recorded} recordings match"
    return f"{holds}{f', {others} more as expected' if others else ''}{unsent}"


def _recorded(holding: Sequence[FixtureResult]) -> int:
    return sum(one.verdicts.get("render") == "pass" for one in holding)


_ELSEWHERE = "{app.cases|ctrl+t} goes to a case, {app.send_all|F5} sends it there"


def _line(one: FixtureResult) -> str:
    words = ", ".join([f"{part} {word}" for part, word in one.verdicts.items() if word != "empty"])
    why = f": {one_line(one.drift[0].message, LONGEST_REASON)}" if one.drift else ""
    return f"{one.case} · {one.column}: {words}{why}"


def _shortened(lines: list[str]) -> list[str]:
    more = [f"… and {len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else []
    return [*lines[:MOST_LINES], *more]


THEN = "records"
"""Effect of leaving the review on what is accepted."""


def judged(host: Host, follower: Follower) -> list[FixtureResult]:
    """Check the session as it is on screen, its program included, as `workbench check` would once saved."""
    session = host.document.session
    results = checking.check(session, path_of(host))
    return with_source(results, check_source(session, host.document.folder, follower))


async def decide(host: Host, results: Sequence[FixtureResult]) -> None:
    """Shows what drifted by its cause; what is accepted is taken over, which undo takes back, and saved with ^s."""
    causes = Causes()
    causes.add(results)
    decisions = Decisions(causes.found())
    look = OpenLook(host.document.session, host.document.folder, results)
    name = host.document.path.name if host.document.path is not None else "this session"
    kept = of_open(host.document.path)
    left = await host.app.push_screen_wait(ReviewScreen(decisions, look, name, THEN, kept))
    if take(host, left):
        kept.remove()
    if left.go_to is not None:
        go_to(host, left.go_to[1])


def take(host: Host, left: Left) -> bool:
    """Takes over what is accepted, as the session and its program are now: a reply may have come in meanwhile.

    False when it could not be, which is said.
    """
    ids = left.decisions.accepted
    if not ids:
        return True
    session = host.document.session
    follower = Follower()
    try:
        text = with_text(session, host.document.folder, judged(host, follower), ids, follower)
    except SourceError as error:
        plain_notify(host.app, one_line(str(error), 300), title="The program", severity="error", timeout=10)
        return False
    done = accepted(text.session, checking.check(text.session, path_of(host)), ids)
    settled = len(done.settled | text.settled)
    count = f"{settled or 'no'} cause{'' if settled < 2 else 's'}"
    taken = "Pulled the program's text. " if text.was_pulled else ""
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
    """Return the name of the open session in the names of fixtures."""
    return str(host.document.path) if host.document.path is not None else "this session"


def go_to(host: Host, fixture: FixtureName) -> None:
    """The prompt of a fixture, in its case."""
    names = [one.name for one in host.document.session.cases]
    if fixture.case not in names:
        plain_notify(host.app, f"The case {one_line(fixture.case, 60)} is gone.", severity="warning")
        return
    host.document.look_at_case(names.index(fixture.case))
    host.main.show()
    host.main.go_to(Place("column", fixture.case, field=fixture.column))
