"""Outcomes of runs: a miss of the column, or a failure of the infrastructure that says nothing about it."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from adapters.errors import RunError
from adapters.lm.protocol import ErrorKind
from adapters.running.runs import Attempt, Run
from sessions.checking.expectations import Failure
from sessions.file import store
from sessions.model.session import Case, Column, Session, SignatureText
from workbench.bench import judging
from workbench.bench.planning import Target, plan
from workbench.bench.running import OF_THE_COLUMN, Bench, Progress, Settings, error_of, outcome_of

MISSES = {"context", "request", "refused"}


def failed(payload: Any, phase: Any = "request", attempts: tuple[Attempt, ...] = ()) -> Run:
    return Run(False, {}, (), attempts, RunError("It failed.", phase, 1, payload))


@pytest.mark.parametrize("kind", get_args(ErrorKind))
def test_a_failure_of_the_column_is_a_miss_and_one_of_the_infrastructure_is_not(kind: ErrorKind) -> None:
    assert outcome_of(failed({"kind": kind})) == ("rejected" if kind in MISSES else "failed")
    assert MISSES == OF_THE_COLUMN


def test_the_columns_own_deadline_is_a_miss_unless_the_provider_used_it_up() -> None:
    deadline = {"deadline_seconds": 2.0}
    limited = Attempt(1, "chat", "m", {}, payload={"kind": "rate limit"})
    assert outcome_of(failed(deadline)) == "rejected"
    assert outcome_of(failed(deadline, attempts=(replace(limited, payload=None),))) == "rejected"
    assert outcome_of(failed(deadline, attempts=(limited,))) == "failed"


def test_a_deadline_that_hides_an_error_names_it() -> None:
    error = RunError("Too late.", "request", 1, {"deadline_seconds": 2.0})
    broken = Attempt(1, "chat", "m", {}, error="connection refused", payload={"kind": "network"})
    assert error_of(failed(None, attempts=(broken,)), error) == "Too late; the last call failed: connection refused"
    assert error_of(failed(None), error) == "Too late."
    assert error_of(failed(None, attempts=(broken,)), RunError("Too late.", "request", 1)) == "Too late."


def test_a_run_whose_tools_failed_is_a_miss_and_an_unknown_failure_is_not() -> None:
    assert outcome_of(failed(None, "tool")) == "rejected"
    assert outcome_of(failed(None)) == "failed"


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (Failure("fields.answer.equals", "is something else", "yes", "no"), "answer: expected yes, got no"),
        (Failure("fields.answer.equals", "is something else", "", " no"), 'answer: expected "", got " no"'),
        (Failure("fields.answer.equals", "is something else", 1, True), "answer: expected 1, got true"),
        (Failure("fields.a.b[0].approx", "is further away", 12.5, 3), "a.b[0]: expected approx 12.5, got 3"),
        (Failure("fields.tags.members", "lacks x", ["x"], []), 'tags: expected members ["x"], got [] (lacks x)'),
        (Failure("fields.answer", "the reply does not parse", {}, None), "answer: the reply does not parse"),
        (Failure("cost", "is more than 1", 1, 2), "cost: is more than 1"),
    ],
)
def test_a_failure_says_what_differed(failure: Failure, said: str) -> None:
    assert judging.difference(failure) == said


def test_of_long_values_the_place_where_they_differ_is_shown() -> None:
    said = judging.difference(Failure("fields.a.equals", "", "x" * 5_000 + "yes", "x" * 5_000 + "no"))
    assert said.endswith("xxno")
    assert "xxyes, got …x" in said
    assert len(said) < 150


def test_the_time_left_is_estimated_from_the_first_reply_on(tmp_path: Path) -> None:
    """Loading litellm, which comes before the first request, is no part of the rate."""
    session = Session(
        SignatureText("question -> answer"),
        cases=tuple([Case(str(number), {"question": "?"}) for number in range(2)]),
        columns=(Column("chat", "chat"),),
        model="offline/exact",
    )
    path = tmp_path / "q.session.json"
    store.save(session, path)
    ticks = iter(range(100, 10_000, 10))
    seen: list[Progress] = []
    Bench(
        plan([Target(str(path), session, session.columns, session.cases)], 1),
        Settings(),
        stop=threading.Event(),
        cancel=threading.Event(),
        watch=lambda run, progress: seen.append(progress),
        clock=lambda: float(next(ticks)),
    ).run()
    assert Progress(2).left_s is None
    assert [one.done for one in seen] == [1, 2]
    assert seen[0].seconds < 60  # of the run alone, by a clock that goes on by 10 s at each look
    assert seen[0].left_s == seen[0].seconds
