"""Judge runs by the expectations of their case, and judge again when the expectations change."""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from adapters.late_dataclasses import dataclass, replace
from adapters.lm.secrets import Scrubber
from adapters.replies.reading import Reading
from adapters.running.model_calls import one_line
from adapters.values.plain_json import plain
from sessions.bench.grid import Grid
from sessions.bench.results import BenchRun, digest
from sessions.bench.totals import Cell
from sessions.checking import expectations
from sessions.file.json_values import JSON
from sessions.imports.reading import KEPT
from sessions.model import variants
from sessions.model.replies import Measured
from sessions.running import recording, rendering
from workbench.bench.planning import Job, Plan, price_of
from workbench.config import user_code
from workbench.output.display import excerpt
from workbench.output.exit_codes import CommandError

LONGEST_REASON = 500
NOTHING_TO_READ = "the reply has nothing to read"
NO_REPLY = "there is no reply"
SHOWN = 120
"""The most characters of a value shown in a failure."""


@dataclass(frozen=True)
class UserCheck:
    """A user's `function(inputs, values)`, which returns True or None, False, or a text that says what is wrong.

    A number is a score; it passes if it is at least `threshold`.
    """

    name: str
    function: Callable[[Mapping[str, Any], Mapping[str, Any]], Any]
    threshold: float | None = None

    def why_not(self, inputs: Mapping[str, Any], values: Mapping[str, Any]) -> str:
        """Return why the values are wrong; empty if they are right.

        Raises `CommandError` if the function raises or returns something else, because errors in the function must not
        count as misses of the model.
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


@dataclass(frozen=True)
class UserMetric:
    """A metric as for `dspy.Evaluate`: `function(example, pred)` returns a bool or a number."""

    name: str
    function: Callable[[Any, Any], Any]
    source: str
    """The digest of its module's file."""
    threshold: float | None = None
    """If given, scores from here on become 1, others 0."""

    def judge(self, inputs: Mapping[str, Any], labels: Mapping[str, Any], values: Mapping[str, Any]) -> Scored:
        """Score values; the example has `inputs` and `labels`.

        Raises `CommandError` if the metric raises or does not return a score.
        """
        dspy: Any = sys.modules.get("dspy")  # imported already if the metric uses dspy
        if dspy is None:
            example, pred = Fields(**{**labels, **inputs}), Fields(**values)
        else:
            example, pred = dspy.Example(**{**labels, **inputs}).with_inputs(*inputs), dspy.Prediction(**values)
        tracked = getattr(dspy, "track_usage", nullcontext)
        try:
            with tracked() as usage:
                said = self.function(example, pred)
            score = float(said) if not isinstance(said, str) else math.nan
        except Exception as error:  # a metric of the user's own may raise anything
            raise CommandError(f"--metric {self.name} raised {type(error).__name__}: {error}") from error
        if not math.isfinite(score):
            raise CommandError(f"--metric {self.name} returned {said!r}: expected True, False or a number")
        calls = [(model, one) for model, each in getattr(usage, "usage_data", {}).items() for one in each]
        cost: float | None = 0.0 if calls else None
        for model, one in calls:  # by litellm's prices; unknown if one of them is
            prices, asked, said_tokens = price_of(model), one.get("prompt_tokens"), one.get("completion_tokens")
            if prices is None or asked is None or said_tokens is None or cost is None:
                cost = None
            else:
                cost += float(asked * prices[0] + said_tokens * prices[1]) / 1e6
        scored = score if self.threshold is None else float(score >= self.threshold)
        return Scored(scored, len(calls), cost)


class Fields(SimpleNamespace):
    """An example or a prediction for a metric that does not use dspy: fields as attributes and items."""

    def __getitem__(self, name: str) -> Any:
        return vars(self)[name]

    def get(self, name: str, default: Any = None) -> Any:
        return vars(self).get(name, default)


class Scored(NamedTuple):
    """The score of a run, and the model calls of the metric."""

    score: float | None = 0.0
    metric_calls: int = 0
    metric_cost: float | None = None


Check = UserCheck | UserMetric


def user_metric(name: str, threshold: float | None = None) -> UserMetric:
    """Import a metric named on the command line; a class is instantiated.

    Raises `CommandError` if the name cannot be imported or is not a function.
    """
    found = user_code.function(name, f"--metric {name}", "dspy.evaluate:answer_exact_match")
    try:
        made = found() if isinstance(found, type) else found
        source = Path(sys.modules[name.partition(":")[0]].__file__ or "").read_bytes()
    except Exception as error:  # the class may raise anything
        raise CommandError(f"--metric {name}: {type(error).__name__}: {error}") from error
    return UserMetric(name, made, hashlib.sha256(source).hexdigest(), threshold)


def expected_outputs(expect: Mapping[str, Any]) -> dict[str, Any]:
    """Return the outputs that a case expects: values that its fields should equal, contain, or be close to."""
    found = {}
    for name, tests in expect.get("fields", {}).items():
        word = next(
            (one for one in ("equals", "members", "in", "approx", "fuzzy", "overlap", "contains") if one in tests), None
        )
        if word is not None:
            found[name] = tests[word]
    return found


class Judged(NamedTuple):
    """The judgement of a run, as the fields of `BenchRun` of these names."""

    expectations: str | None = None
    expected: bool | None = None
    failures: tuple[str, ...] = ()
    metric: str | None = None
    score: float | None = None
    metric_calls: int = 0
    metric_cost: float | None = None
    fields: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    cause: str | None = None


def judge(job: Job, reading: Reading | None, measured: Sequence[Measured], checks: Sequence[Check]) -> Judged:
    """Judge a parse result by the case's expectations and the user's functions.

    `reading` is None if the reply had nothing to parse. Raises `CommandError` for invalid expectations and failing
    functions.
    """
    with _naming(job):
        expect = expectations.column_expectations(job.case.expect, job.column.id)
        found = [] if reading is None else expectations.judge(expect, reading, measured)
    failures = [one_line(difference(one), LONGEST_REASON) for one in found]
    if reading is None and expect and expect.get("reply") != "does_not_parse":
        failures.append(NOTHING_TO_READ)
    scored = Scored(None)
    inputs = plain(dict(job.case.inputs))
    for check in checks:
        parsed = reading is not None and reading.ok
        values = reading.values if reading is not None else {}
        said = "" if parsed else "it does not parse"
        try:
            if isinstance(check, UserMetric):
                labels = {**_labels(job), **expected_outputs(expect)}
                scored = check.judge(inputs, labels, values) if parsed else Scored()
                said = said or (f"scored {scored.score:g}" if (scored.score or 0) < 1 else "")
            elif parsed:
                said = check.why_not(inputs, values)
        except CommandError as error:
            raise CommandError(f"{_where(job)}, column {job.column.id}: {error}") from error
        if said:
            failures.append(one_line(f"{check.name}: {said}", LONGEST_REASON))
    scrub = Scrubber()
    said_so = tuple([scrub.scrubbed(one) for one in failures])
    fields = tuple(expect.get("fields", {}))
    places = {one.place for one in found} | {one.place.rpartition(".")[0] for one in found}
    wrong = fields if reading is None else tuple([one for one in fields if f"fields.{one}" in places])
    is_miss = reading is not None and (failures or not reading.ok)
    cause = next((one.cause for one in reading.diagnosis), None) if reading is not None and is_miss else None
    digests = digests_of(job, checks)
    expected = None if digests[0] is None else not failures
    return Judged(digests[0], expected, said_so, digests[1], *scored, fields, wrong, cause)


def missed(job: Job, checks: Sequence[Check]) -> Judged:
    """Judge a run without a reply: it meets no expectation. Raises `CommandError` for invalid expectations."""
    with _naming(job):
        expected, metric = digests_of(job, checks)
        fields = tuple(expectations.column_expectations(job.case.expect, job.column.id).get("fields", {}))
    why = (NO_REPLY,) if expected or metric else ()
    scored = Scored(0.0 if metric else None)
    return Judged(expected, False if expected else None, why, metric, *scored, fields, fields)


def _where(job: Job) -> str:
    return f"{job.target.file}: case {job.case.name!r}"


@contextmanager
def _naming(job: Job) -> Iterator[None]:
    """Turn an `ExpectationError` into a `CommandError` that names the case."""
    try:
        yield
    except expectations.ExpectationError as error:
        raise CommandError(f"{_where(job)}: expect.{error.place}: {error.message}") from error


def difference(failure: expectations.Failure) -> str:
    """Describe a failure: `answer: expected yes, got no`, `total: expected approx 12.5, got 3`."""
    if not failure.place.startswith("fields."):
        return f"{failure.place}: {failure.message}"
    name, _, word = failure.place.removeprefix("fields.").rpartition(".")
    if word not in expectations.TESTS:
        return f"{failure.place.removeprefix('fields.')}: {failure.message}"
    texts = [_text(one) for one in (failure.expected, failure.found)]
    same = next((at for at, (one, two) in enumerate(zip(*texts, strict=False)) if one != two), 0)
    start = max(0, same - SHOWN // 3) if max(map(len, texts)) > SHOWN else 0
    expected, got = [excerpt(one, start, SHOWN) for one in texts]
    if word == "equals":
        return f"{name}: expected {expected}, got {got}"
    why = f" ({failure.message})" if word in ("members", "schema", "length", "fuzzy", "overlap") else ""
    return f"{name}: expected {word} {expected}, got {got}{why}"


def _text(value: JSON) -> str:
    """Return an unambiguous string as it is; everything else as JSON."""
    is_plain = isinstance(value, str) and value.isprintable() and value.strip() == value != ""
    return str(value) if is_plain else json.dumps(value, ensure_ascii=False)


def digests_of(job: Job, checks: Sequence[Check]) -> tuple[str | None, str | None]:
    """Return the digests of a job's expectations and of its metric; None for what it lacks.

    Raises `ExpectationError`.
    """
    expect = expectations.column_expectations(job.case.expect, job.column.id)
    names = [one.name for one in checks if isinstance(one, UserCheck)]
    metrics = [[one.name, one.source, one.threshold] for one in checks if isinstance(one, UserMetric)]
    labels = _labels(job)
    expected = digest([dict(expect), names]) if expect or names else None
    measured = [dict(expect), metrics, labels] if labels else [dict(expect), metrics]
    return expected, digest(measured) if metrics else None


def _labels(job: Job) -> dict[str, Any]:
    """Return data imported with a case that is not in its signature, such as gold labels."""
    found = job.case.extra.get(KEPT)
    return dict(found) if isinstance(found, Mapping) else {}


def grid_of(planned: Plan, checks: Sequence[Check]) -> Grid:
    """Build the grid of the planned runs that exist; judge them again where that is necessary.

    Raises `CommandError` for invalid expectations and `SessionError`.
    """
    cells, missing = [], 0
    for job, cell, numbers in planned.wanted():
        is_current = not cell.judged_by or (cell.is_judged_alike and _is_current(job, cell.judged_by, checks))
        if not is_current or not cell.is_within(numbers):
            old, held = cell, planned.results[job.target.file]
            cell = Cell(cell.file, cell.case, cell.column)
            for run in old.runs:
                if run.number in numbers:
                    held.keep(run if is_current else _judged_again(job, run, checks), cell)
        cells.append(cell)
        missing += len(numbers) - cell.many
    return Grid(tuple(cells), planned.repeat, planned.unrenderable, missing)


def _is_current(job: Job, judged_by: tuple[str | None, str | None] | None, checks: Sequence[Check]) -> bool:
    """Tell whether the expectations and the metric still have these digests.

    A user's functions always judge again, because they may have been edited under the same name.
    """
    if any(isinstance(one, UserCheck) for one in checks):
        return False
    try:
        return judged_by == digests_of(job, checks)
    except expectations.ExpectationError:
        return False  # `judge` reports where it is


def _judged_again(job: Job, run: BenchRun, checks: Sequence[Check]) -> BenchRun:
    """Judge a run again if its expectations or metric have changed, or if the user's functions judge it.

    A metric is called again only if its module has changed, because it may call a model. Runs of several calls (a
    fallback, tools, an extraction) keep their judgement, because their reply is only a part of them.
    """
    if run.outcome == "rejected":
        return replace(run, **missed(job, checks)._asdict())
    if run.outcome == "failed" or run.reply is None or len(run.measured) > 1:
        return run
    if _is_current(job, (run.expectations, run.metric), checks):
        return run
    reading: Reading | None = None
    if run.reply.text or run.reply.tool_calls:
        session = variants.session_of(job.target.session, job.column)
        adapter = rendering.adapter_of(job.column, allow_code=job.column.adapter in job.target.allow_code)
        request = rendering.request_of(session, job.column, job.case, adapter=adapter)
        reading = recording.read_completion(adapter, request, session.signature.read(), run.reply)
    return replace(run, **judge(job, reading, run.measured, checks)._asdict())
