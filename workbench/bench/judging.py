"""Judge a run by what its case expects, and again when the expectations have changed since."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from adapters.lm.secrets import Scrubber
from adapters.replies.reading import Reading
from adapters.values.plain_json import plain
from sessions.bench.results import BenchRun, RunKey, digest
from sessions.checking import expectations
from sessions.file.json_values import JSON
from sessions.model import variants
from sessions.model.replies import Measured
from sessions.running import recording, rendering
from workbench.bench.planning import Job
from workbench.config import user_code
from workbench.output.exit_codes import CommandError

LONGEST_REASON = 500
NOTHING_TO_READ = "the reply has nothing to read"
NO_REPLY = "there is no reply"
SHOWN = 120
"""Characters of a value in a failure."""


@dataclass(frozen=True)
class UserCheck:
    """`function(inputs, values)` judges values: True or None, False, or a text that says what is wrong.

    A number is a score, which is right from `threshold` on.
    """

    name: str
    function: Callable[[Mapping[str, Any], Mapping[str, Any]], Any]
    threshold: float | None = None

    def why_not(self, inputs: Mapping[str, Any], values: Mapping[str, Any]) -> str:
        """Return why the values are not right; empty when they are.

        Raises `CommandError` when the function raises, and for what is no judgement: a mistake of the function is no
        miss of the model.
        """
        try:
            said = self.function(inputs, values)
        except Exception as error:  # a function of the user's own may raise anything
            raise CommandError(f"--expect {self.name} raised {type(error).__name__}: {error}") from error
        if isinstance(said, str):
            return said
        if said is None or isinstance(said, bool) or (type(said).__module__ == "numpy" and said.dtype == bool):
            return "" if said is None or said else f"said {bool(said)}"
        try:
            score = float(said)
        except (TypeError, ValueError):
            expected = "expected True, False, None, a text or a number"
            raise CommandError(f"--expect {self.name} returned {said!r}: {expected}") from None
        if self.threshold is None:
            raise CommandError(
                f"--expect {self.name} returned the score {score:g}: say from where on it is right, "
                "as with --threshold 0.5"
            )
        is_right = not math.isnan(score) and score >= self.threshold
        return "" if is_right else f"scored {score:g}, below {self.threshold:g}"


def user_checks(names: Iterable[str], threshold: float | None = None) -> tuple[UserCheck, ...]:
    """Import the functions of these names, which were typed on the command line: nothing else is ever imported.

    Raises `CommandError` for a name that cannot be imported, or is not a function.
    """
    found: dict[str, UserCheck] = {}
    for name in names:
        module, _, function = name.partition(":")
        if not (module and function):
            raise CommandError(f"--expect {name}: write module:function, e.g. my_checks:total_is_right")
        found[name] = UserCheck(name, user_code.function(name, f"--expect {name}"), threshold)
    return tuple(found.values())


class Judged(NamedTuple):
    """The digest of the expectations (None: there are none), and the failed ones."""

    expectations: str | None
    failures: tuple[str, ...] = ()

    @property
    def held(self) -> bool | None:
        return None if self.expectations is None else not self.failures


def judge(job: Job, reading: Reading | None, measured: Sequence[Measured], checks: Sequence[UserCheck]) -> Judged:
    """Judge a reading (None: the reply had nothing to read) by the case's expectations and the user's own functions.

    Raises `CommandError` for invalid expectations, and for a function that fails.
    """
    try:
        expect = expectations.for_column(job.case.expect, job.column.id)
        found = [] if reading is None else expectations.judge(expect, reading, measured)
    except expectations.ExpectationError as error:
        raise CommandError(f"{_where(job)}: expect.{error.place}: {error.message}") from error
    if not expect and not checks:
        return Judged(None)
    failures = [one_line(difference(one)) for one in found]
    if reading is None and expect and expect.get("reply") != "does_not_parse":
        failures.append(NOTHING_TO_READ)
    for check in checks:
        if reading is None or not reading.ok:
            said = "it does not parse"
        else:
            try:
                said = check.why_not(plain(dict(job.case.inputs)), reading.values)
            except CommandError as error:
                raise CommandError(f"{_where(job)}, column {job.column.id}: {error}") from error
        if said:
            failures.append(one_line(f"{check.name}: {said}"))
    scrub = Scrubber()
    return Judged(expected_now(job, checks), tuple([scrub.scrubbed(one) for one in failures]))


def missed(job: Job, checks: Sequence[UserCheck]) -> Judged:
    """Judge a run without a reply: it meets no expectation. Raises `CommandError` for invalid expectations."""
    try:
        expected = expected_now(job, checks)
    except expectations.ExpectationError as error:
        raise CommandError(f"{_where(job)}: expect.{error.place}: {error.message}") from error
    return Judged(expected, () if expected is None else (NO_REPLY,))


def _where(job: Job) -> str:
    return f"{job.target.file}: case {job.case.name!r}"


def difference(failure: expectations.Failure) -> str:
    """Say what differed: `answer: expected yes, got no`, `total: expected approx 12.5, got 3`."""
    if not failure.place.startswith("fields."):
        return f"{failure.place}: {failure.message}"
    name, _, word = failure.place.removeprefix("fields.").rpartition(".")
    if word not in expectations.TESTS:
        return f"{failure.place.removeprefix('fields.')}: {failure.message}"
    texts = [_text(one) for one in (failure.expected, failure.found)]
    same = next((at for at, (one, two) in enumerate(zip(*texts, strict=False)) if one != two), 0)
    start = max(0, same - SHOWN // 3) if max(map(len, texts)) > SHOWN else 0
    expected, got = [
        ("…" if start else "") + one[start : start + SHOWN] + "…" * (len(one) > start + SHOWN) for one in texts
    ]
    if word == "equals":
        return f"{name}: expected {expected}, got {got}"
    why = f" ({failure.message})" if word in ("members", "schema", "length") else ""
    return f"{name}: expected {word} {expected}, got {got}{why}"


def _text(value: JSON) -> str:
    """A text as it is, where that cannot be mistaken; everything else as JSON."""
    is_plain = isinstance(value, str) and value.isprintable() and value.strip() == value != ""
    return str(value) if is_plain else json.dumps(value, ensure_ascii=False)


def expected_now(job: Job, checks: Sequence[UserCheck]) -> str | None:
    """Return the digest of a job's expectations; None without any. Raises `ExpectationError`."""
    expect = expectations.for_column(job.case.expect, job.column.id)
    return digest([dict(expect), [one.name for one in checks]]) if expect or checks else None


def judged_again(jobs: Sequence[Job], runs: Sequence[BenchRun], checks: Sequence[UserCheck]) -> list[BenchRun]:
    """Judge runs whose expectations have changed again, and all runs if functions of the user's own judge.

    Those may have been edited under the same name. A run of several calls (a fallback, tools, an extraction) is more
    than its reply: it keeps its judgement. Raises `CommandError` for invalid expectations.
    """
    by_key: Mapping[RunKey, Job] = {job.key: job for job in jobs}
    return [_judged_again(by_key[run.key], run, checks) if run.key in by_key else run for run in runs]


def _judged_again(job: Job, run: BenchRun, checks: Sequence[UserCheck]) -> BenchRun:
    if run.outcome == "rejected":
        judged = missed(job, checks)
        return replace(run, expectations=judged.expectations, expected=judged.held, failures=judged.failures)
    if run.outcome == "failed" or run.reply is None or len(run.measured) > 1:
        return run
    try:
        if not checks and run.expectations == expected_now(job, checks):
            return run
    except expectations.ExpectationError:
        pass  # judging says where it is
    judged = judge(job, _read_again(job, run), run.measured, checks)
    return replace(run, expectations=judged.expectations, expected=judged.held, failures=judged.failures)


def _read_again(job: Job, run: BenchRun) -> Reading | None:
    assert run.reply is not None
    if not run.reply.text and not run.reply.tool_calls:
        return None
    session = variants.session_of(job.target.session, job.column)
    adapter = rendering.adapter_of(job.column, allow_code=job.column.adapter in job.target.allow_code)
    request = rendering.request_of(session, job.column, job.case, adapter=adapter)
    return recording.read_completion(adapter, request, session.signature.read(), run.reply)


def one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_REASON else line[:LONGEST_REASON] + "…"
