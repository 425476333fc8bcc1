"""Check recordings against today's results, and mark columns that drift.

An explicit check covers the session; marks follow each edit of the case on screen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from textual.notifications import SeverityLevel
from textual.timer import Timer

from sessions.checking import checking
from sessions.checking.checking import NO_REPLY
from sessions.checking.verdicts import FixtureResult
from sessions.model.session import Session
from sessions.source.linking import Follower
from workbench.output.display import one_line
from workbench.state.engine import is_late
from workbench.tui.actions import deciding
from workbench.tui.keys.key_words import KeyWords
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
        _tell(host, deciding.judged(host, Follower()))


async def _check_beside(host: Host) -> None:
    """Another release is asked away from the keys."""
    _tell(host, await asyncio.to_thread(deciding.judged, host, Follower()))


def _tell(host: Host, checked: Sequence[FixtureResult]) -> None:
    differing = [one for one in checked if one.failed and not _waits(one)]
    if differing:
        host.ask(deciding.decide(host, differing))
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
