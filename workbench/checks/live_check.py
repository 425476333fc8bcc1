"""Send prompts again: judge new replies against expectations, and compare two sides of an upgrade."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from adapters.late_dataclasses import dataclass, replace
from adapters.running.runner import Run
from sessions.bench import statistics
from sessions.bench.conclusions import Pair
from sessions.bench.statistics import Share
from sessions.checking import expectations
from sessions.checking.verdicts import Drift, Word
from sessions.model.session import Case, Column, Session
from sessions.running import recording
from sessions.upgrades.sides import Change, Ours
from workbench.config.confinement import Allowed
from workbench.sending import sending

PARSES: Mapping[str, Any] = {"reply": "parses"}
"""The expectation of a live reply for a case without expectations."""


def check(
    session: Session,
    case: Case,
    column: Column,
    repeat: int,
    allowed: Allowed,
    allow_code: bool,
    deadline_s: float | None = None,
) -> tuple[Word, tuple[Drift, ...]]:
    """Send the column `repeat` times and judge the replies.

    The verdict is `error` if a run had no reply, or if the expectations are invalid.
    """
    try:
        ask = partial(sending.send, session, column, case, allowed=allowed, allow_code=allow_code)
        every = rounds(partial(ask, deadline_s=deadline_s or sending.TIMEOUT_S), case, column, repeat)
    except expectations.ExpectationError as error:
        return "error", (Drift("live", f"expect.{error.place}", error.message),)
    drift: list[Drift] = []
    for found in every:
        for one in found:
            if all((one.place, one.message) != (other.place, other.message) for other in drift):
                drift.append(one)
    if repeat > 1:
        bad = sum(bool(found) for found in every)
        drift = [Drift("live", "runs", f"{bad} of {repeat} runs are not as expected"), *drift] if bad else []
    broken = any(one.place == "request" for one in drift)
    return ("error" if broken else "fail" if drift else "pass"), tuple(drift)


def rounds(send: Callable[[], Run], case: Case, column: Column, repeat: int) -> list[list[Drift]]:
    """Send `repeat` times; list the failed expectations of each run.

    Place `request` gives the reason for a missing reply. Raises `expectations.ExpectationError`.
    """
    expect = expectations.column_expectations(case.expect, column.id) or PARSES

    def send_once() -> list[Drift]:
        try:
            run = send()
        except Exception as error:  # cannot be sent at all: a signature, an adapter, values, a model's name
            return [Drift("live", "request", str(error) or type(error).__name__)]
        reading = recording.last_reading(run)
        if reading is None:
            return [Drift("live", "request", run.error.message if run.error is not None else "the run broke off")]
        failures = expectations.judge(expect, reading, recording.measured_of_run(run))
        return [Drift("live", one.place, one.message, (), (), one.expected, one.found) for one in failures]

    return [send_once() for _ in range(repeat)]


@dataclass(frozen=True)
class Sent:
    """A case and column sent under both sides. A side without any reply has no share."""

    column: str
    before: Share | None
    after: Share | None
    errors: tuple[str, ...] = ()
    """The distinct reasons for missing replies."""


def send(change: Change, session: Session, case: Case, column: Column, repeat: int, allowed: Allowed) -> Sent:
    """Send the case `repeat` times under each side and judge its expectations, by default that it parses."""
    errors: dict[str, None] = {}
    shares: list[Share | None] = []
    for side in (change.before, change.after):
        used = side.column_of(column)
        if not isinstance(side.engine, Ours):
            used = replace(used, adapter=f"{used.adapter}@{side.engine.version}")
        ask = partial(sending.send, session, used, case, deadline_s=sending.TIMEOUT_S, allowed=allowed)
        found = rounds(ask, case, used, repeat)
        missing = [[drift.message for drift in one if drift.place == "request"] for one in found]
        answered = [one for one, why in zip(found, missing, strict=True) if not why]
        errors |= dict.fromkeys(message for why in missing for message in why)
        shares.append(Share(sum(not one for one in answered), len(answered)) if answered else None)
    return Sent(column.id, shares[0], shares[1], tuple(errors))


def conclusions(change: Change, sent: Iterable[Sent]) -> tuple[Pair, ...]:
    """Compare the sides of each column over the cases that both answered, with a joint correction."""
    by_column: dict[str, tuple[list[Share], list[Share]]] = {}
    for one in sent:
        before, after = by_column.setdefault(one.column, ([], []))
        if one.before is not None and one.after is not None:
            before.append(one.before)
            after.append(one.after)
    pairs: Sequence[tuple[list[Share], list[Share]]] = list(by_column.values())
    found = zip(by_column, statistics.compare(pairs), strict=True)
    return tuple(
        Pair(f"{id} under {change.before.name}", f"{id} under {change.after.name}", "expected", one, len(pairs))
        for id, one in found
    )
