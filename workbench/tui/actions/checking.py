"""Checking: every recording against what is made now, and the words for it: what waits, what holds. What differs is a
place of its own, where it is decided."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from textual.notifications import SeverityLevel

from sessions.checking.checking import NO_REPLY
from sessions.checking.verdicts import FixtureResult
from sessions.source.linking import Follower
from workbench.output.display import one_line
from workbench.state.late_columns import is_late
from workbench.tui.actions import deciding
from workbench.tui.keys.key_words import KeyWords
from workbench.tui.widgets.text.plain import plain_notify

if TYPE_CHECKING:
    from workbench.tui.host import Host

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
        parts.append(_about(waiting, case, keys))
    parts += _shortened([_line(one) for one in holding])
    if holding and not bad and not _recorded(holding):
        parts.append(keys("{app.record|ctrl+r} records the reply of a column, and its prompt is then checked too."))
    return Said(_title(len(bad), len(waiting), holding), "\n".join(parts), _severity(bad, waiting))


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


def _severity(bad: Sequence[FixtureResult], waiting: Sequence[FixtureResult]) -> SeverityLevel:
    return "error" if bad else "warning" if waiting else "information"


def _about(waiting: Sequence[FixtureResult], case: str, keys: KeyWords) -> str:
    """List the fixtures without a reply by case, with the key that gets a reply."""
    columns: dict[str, list[str]] = {}
    for one in waiting:
        columns.setdefault(one.case, []).append(one.column)
    listed = "; ".join([f"{name} · {', '.join(ids)}" for name, ids in columns.items()])
    send = "{app.send_all|F5} sends it" if set(columns) == {case} else _ELSEWHERE
    return f"Expectations without a reply: {one_line(listed, 240)}. {keys(send)}."


_ELSEWHERE = "{app.cases|ctrl+t} goes to a case, {app.send_all|F5} sends it there"


def _line(one: FixtureResult) -> str:
    words = ", ".join([f"{part} {word}" for part, word in one.verdicts.items() if word != "empty"])
    why = f": {one_line(one.drift[0].message, LONGEST_REASON)}" if one.drift else ""
    return f"{one.case} · {one.column}: {words}{why}"


def _shortened(lines: list[str]) -> list[str]:
    more = [f"… and {len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else []
    return [*lines[:MOST_LINES], *more]
