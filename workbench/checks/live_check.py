"""The verdict `live` of `check`: sends a fixture again, and judges the new replies by what the case expects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adapters.running.runs import Run
from sessions.fixtures import expectations
from sessions.fixtures.verdicts import Drift, Word
from sessions.model.session import Case, Column, Session
from sessions.running import recording
from workbench.sending import sending
from workbench.sending.allowed_hosts import Allowed

PARSES: Mapping[str, Any] = {"reply": "parses"}
"""What is expected of a live reply where a case expects nothing."""


def check(
    session: Session, case: Case, column: Column, repeat: int, allowed: Allowed, allow_code: bool
) -> tuple[Word, tuple[Drift, ...]]:
    """Sends the column `repeat` times. `error` when a run had no reply at all, or what is expected makes no sense."""
    try:
        every = rounds(session, case, column, repeat, allowed, allow_code)
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


def rounds(
    session: Session, case: Case, column: Column, repeat: int, allowed: Allowed, allow_code: bool = False
) -> list[list[Drift]]:
    """What is not as expected of each of `repeat` runs; one whose place is `request` says why there was no reply.

    Raises `expectations.ExpectationError`.
    """
    expect = expectations.for_column(case.expect, column.id) or PARSES
    return [_round(session, case, column, expect, allowed, allow_code) for _ in range(repeat)]


def _round(
    session: Session,
    case: Case,
    column: Column,
    expect: Mapping[str, Any],
    allowed: Allowed,
    allow_code: bool,
) -> list[Drift]:
    try:
        run = sending.send(
            session,
            column,
            case,
            allow_hosts=allowed.hosts,
            allow_variables=allowed.variables,
            allow_code=allow_code,
        )
    except Exception as error:  # what cannot be sent at all: a signature, an adapter, values, a model's name
        return [Drift("live", "request", str(error) or type(error).__name__)]
    return _judged(run, expect)


def _judged(run: Run, expect: Mapping[str, Any]) -> list[Drift]:
    """What is not as expected. Raises `expectations.ExpectationError`."""
    reading = recording.last_reading(run)
    if reading is None:
        return [Drift("live", "request", run.error.message if run.error is not None else "the run broke off")]
    failures = expectations.judge(expect, reading, recording.measured_of_run(run))
    return [Drift("live", one.place, one.message, (), (), one.expected, one.found) for one in failures]
