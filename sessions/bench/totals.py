"""Total the runs of a bench, by cell (a case in a column) and by column.

A run is added when its line is read, and only numbers are kept: a few bytes a run. Texts stay in the results file and
are read from there when they are shown.
"""

from __future__ import annotations

import json
import math
from array import array
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from copy import copy
from fractions import Fraction
from statistics import median
from sys import intern
from typing import Literal, Self

from sessions.bench.results import BenchRun, cause_of
from sessions.bench.statistics import Interval, Share, clustered, wilson

Measure = Literal["parsed", "expected", "score", "good"]
"""The measure of success. parsed: the reply parsed · expected: it met all expectations · score: the metric's score ·
good: the score if any, else the expectations if any, else whether it parsed."""
COMPARED: tuple[Measure, ...] = ("parsed", "expected", "score")
"""The measures by which runs are compared and columns must reach a least share."""
MOST_ERRORS = 8
"""The most distinct errors of a cell that are counted; later ones are only in its runs."""
MOST_CAUSES, OTHERS = 20, "other causes"
"""The most distinct causes of a cell's misses; the misses of later ones are counted together."""
LONGEST_EXAMPLE = 200
HIGHEST_NUMBER = 2**63 - 1
"""The highest number of a run; higher numbers count as this number."""


class Totals:
    """Totals of several runs.

    A run without a complete reply because of the column counts as a miss (`BenchRun.outcome` "rejected"). A run that
    the infrastructure failed ("failed") says nothing about the column: it is counted in `failed`, and in no share.
    Every annotated number is a sum, which `include` adds up over cells; whatever is not a sum needs its own line there.
    """

    many: int
    """The number of all runs."""
    failed: int
    rejected: int
    retries: int
    asked_again: int
    asked: int
    """The number of runs that sent an error back to the model."""
    asked_and_parsed: int
    parsed: int
    copied: int
    """The number of parsed runs whose values repeat a demo."""
    expecting: int
    """The number of runs with expectations."""
    held: int
    """The number of runs that met all expectations."""
    good: int
    """The number of runs with a `worth` of at least 1."""
    above_0: int
    """The number of runs with a `worth` above 0."""
    unscored_worth: int
    scores_sum: Fraction | int
    metric_calls: int
    known_cost: float
    """The cost of the runs whose cost is known."""
    known_tokens: int
    unknown_tokens: int
    unknown_costs: int
    estimates: int
    """The number of runs whose tokens are estimates."""
    _SUMS = tuple(__annotations__)
    __slots__ = (*_SUMS, "_errors", "_fields", "_flags", "adapter", "model", "scores", "times")

    def __init__(self) -> None:
        for name in self._SUMS:
            setattr(self, name, 0)
        self._errors: dict[tuple[str, str], int] = {}
        self._flags: dict[str, int] = {}
        self._fields: dict[tuple[tuple[str, ...], tuple[str, ...]], int] = {}
        self.adapter = self.model = ""
        """The adapter and model of the first run."""
        self.scores = array("d")
        self.times = array("d")
        """The duration of each run with a reply, in milliseconds, without waits and failed calls."""

    def include(self, other: Totals) -> None:
        """Add the runs of `other`."""
        if not self.many:
            self.adapter, self.model = other.adapter, other.model
        for name in self._SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("_errors", "_flags", "_fields"):
            own = getattr(self, name)
            for key, many in getattr(other, name).items():
                own[key] = own.get(key, 0) + many
        self.scores.extend(other.scores)
        self.times.extend(other.times)

    @property
    def counted(self) -> int:
        """The number of runs that count."""
        return self.many - self.failed

    @property
    def replied(self) -> int:
        return self.counted - self.rejected

    @property
    def worth(self) -> float:
        """The mean worth of the runs that count; 0 if there are none."""
        return float(self.scores_sum + self.unscored_worth) / self.counted if self.counted else 0.0

    @property
    def by_field(self) -> dict[str, list[int]]:
        """For each field with expectations: the number of runs that met them, and of all runs that have them."""
        every: Counter[str] = Counter()
        missed: Counter[str] = Counter()
        for (fields, wrong), many in self._fields.items():
            every.update(dict.fromkeys(fields, many))
            missed.update(dict.fromkeys(wrong, many))
        return {name: [many - missed[name], many] for name, many in every.items()}

    @property
    def score(self) -> float | None:
        """The mean score, as `dspy.Evaluate` computes it; None without scores."""
        return float(self.scores_sum) / len(self.scores) if self.scores else None

    @property
    def is_graded(self) -> bool:
        """Tell whether any score is neither 0 nor 1."""
        return isinstance(self.scores_sum, Fraction)

    def share(self, measure: Measure) -> Share | None:
        """Return the share of successes; None if no runs count, or none have expectations or scores."""
        if measure == "expected":
            found = Share(self.held, self.expecting)
        elif measure == "parsed":
            found = Share(self.parsed, self.counted)
        elif measure == "score":
            found = Share(self.scores_sum, len(self.scores))
        else:
            found = Share(self.scores_sum + self.unscored_worth, self.counted)
        return found if found.runs else None

    @property
    def tokens(self) -> int | None:
        return self.known_tokens if self.replied and not self.unknown_tokens else None

    @property
    def cost(self) -> float | None:
        """The cost of all runs, with or without a reply; None if the cost of a reply is unknown."""
        return self.known_cost if self.replied and not self.unknown_costs else None

    @property
    def median_ms(self) -> float | None:
        return median(self.times) if self.times else None

    @property
    def p95_ms(self) -> float | None:
        """The 95th percentile of `times`, by nearest rank."""
        return sorted(self.times)[math.ceil(0.95 * len(self.times)) - 1] if self.times else None

    @property
    def flags(self) -> dict[str, int]:
        """The number of runs with each flag, most frequent first."""
        return dict(Counter(self._flags).most_common())

    def reason(self, outcome: Literal["rejected", "failed"]) -> str:
        """Return the most frequent error of runs with this outcome; empty if there are none."""
        found = {error: many for (of, error), many in self._errors.items() if of == outcome and many}
        return max(found, key=found.__getitem__, default="")


class Cell(Totals):
    """A case in a column. `file` is the session file; the runs have the same request and series.

    A run whose number is there already is ignored, unless it repeats a failed one, which it replaces.
    """

    __slots__ = (
        *("_failed", "_numbers", "_places", "_read", "_values"),
        *("case", "causes", "column", "examples", "file", "highest_cost", "is_judged_alike", "judged_by", "request"),
    )

    def __init__(self, file: str, case: str, column: str, runs: Sequence[BenchRun] = ()) -> None:
        super().__init__()
        self.file, self.case, self.column = file, case, column
        self.request = ""
        """The digest of the request of the runs; "" without runs."""
        self.causes: dict[str, int] = {}
        """The number of misses by cause."""
        self.examples: dict[str, str] = {}
        """The start of what the first run with a cause got wrong, by cause; with "", of the first good run's values."""
        self.judged_by: tuple[str | None, str | None] | None = None
        """The digests of the expectations and the metric of the first run that counts."""
        self.is_judged_alike = True
        """True if all runs that count have the same digests."""
        self.highest_cost: float | None = None
        self._numbers = array("q")
        """The numbers of the runs that count, sorted."""
        self._places = array("Q")
        self._values = array("q")
        """A hash of the values of each parsed run."""
        self._failed: dict[int, int] = {}
        """The place of the failed run with a number."""
        self._read: Callable[[int], BenchRun] = runs.__getitem__
        for place, run in enumerate(runs):
            self.add(run, place, self._read)

    def add(self, run: BenchRun, place: int, read: Callable[[int], BenchRun]) -> None:
        """Count a run that `read` returns for `place`."""
        if self.has(run.number):
            return
        if (before := self._failed.pop(run.number, None)) is not None:
            self._places.remove(before)
            self._count_calls(read(before), -1)
        self._read = read
        self._places.append(place)
        if not self.many:
            self.adapter, self.model, self.request = intern(run.adapter), intern(run.model), run.request
        if run.outcome == "failed":
            self._failed[run.number] = place
            self._count_calls(run, 1)
        else:
            insort(self._numbers, _bounded(run.number))
            self._count(run)

    def _count_calls(self, run: BenchRun, by: int) -> None:
        self.many += by
        self.failed += by * (run.outcome == "failed")
        self.retries += by * run.retries
        self.asked_again += by * run.asked_again
        self.metric_calls += by * run.metric_calls
        self.known_cost += by * (run.cost or 0.0)
        if run.outcome in ("failed", "rejected"):
            error = (run.outcome, intern(run.error or "?"))
            if error in self._errors or len(self._errors) < MOST_ERRORS:
                self._errors[error] = self._errors.get(error, 0) + by

    def _count(self, run: BenchRun) -> None:
        self._count_calls(run, 1)
        digests = run.expectations and intern(run.expectations), run.metric and intern(run.metric)
        self.judged_by = self.judged_by or digests
        self.is_judged_alike &= self.judged_by == digests
        self.expecting += run.expected is not None
        self.held += run.expected is True
        worth = run.worth
        self.good += worth >= 1
        self.above_0 += worth > 0
        if run.score is None:
            self.unscored_worth += int(worth)
        else:
            self.scores.append(run.score)
            self.scores_sum += int(run.score) if run.score in (0, 1) else Fraction(run.score)
        if run.fields:
            met = tuple(map(intern, run.fields)), tuple(map(intern, run.wrong))
            self._fields[met] = self._fields.get(met, 0) + 1
        cause = intern(cause_of(run))
        if cause and cause not in self.causes and len(self.causes) >= MOST_CAUSES:
            cause = OTHERS
        if cause:
            self.causes[cause] = self.causes.get(cause, 0) + 1
        if cause not in self.examples:
            self.examples[cause] = _example(run, cause)[:LONGEST_EXAMPLE]
        cost = run.cost
        if cost is not None:
            self.highest_cost = max(cost, self.highest_cost or 0.0)
        if run.outcome == "rejected":
            self.rejected += 1
            return
        self.asked += run.asked_again > 0
        self.unknown_costs += cost is None
        self.unknown_tokens += run.tokens is None
        self.known_tokens += run.tokens or 0
        self.estimates += run.is_estimate
        self.times.append(run.duration_ms)
        for flag in dict.fromkeys(run.flags):
            self._flags[flag] = self._flags.get(flag, 0) + 1
        if run.outcome == "parsed":
            self.parsed += 1
            self.copied += run.copied_demo > 0
            self.asked_and_parsed += run.asked_again > 0
            self._values.append(hash(json.dumps(dict(run.values), ensure_ascii=False)))

    @property
    def detail(self) -> str:
        """The reason for the most frequent misses; if there are none, the values of the first run."""
        found = max(self.causes, key=self.causes.__getitem__, default="")
        return self.reason("failed") if self.failed and not found else self.examples.get(found, "")

    def has(self, number: int) -> bool:
        """Tell whether a run with this number counts."""
        place = bisect_left(self._numbers, _bounded(number))
        return self._numbers[place : place + 1] == array("q", [_bounded(number)])

    @property
    def highest(self) -> int:
        """Return the highest number of a run that counts; 0 if there is none."""
        return max([0, *self._numbers[-1:]])

    def is_within(self, numbers: Collection[int]) -> bool:
        """Tell whether no run has a number other than these."""
        return self.many == sum(self.has(one) or one in self._failed for one in numbers)

    @property
    def runs(self) -> tuple[BenchRun, ...]:
        """The runs with their texts, sorted by number; read from the results file."""
        return tuple(sorted(map(self._read, self._places), key=lambda one: one.number))

    def under(self, file: str) -> Self:
        """Return these runs as a cell of another session file."""
        found = copy(self)
        found.file = file
        return found

    def interval(self, measure: Measure) -> Interval:
        """Return the interval for more runs of this case."""
        found = self.share(measure)
        if found is not None and found.is_scored:
            return clustered([Share(Fraction(one), 1) for one in self.scores])
        return Interval(0.0, 1.0) if found is None else wilson(float(found.successes), found.runs)

    @property
    def values(self) -> tuple[tuple[int, int], ...]:
        """Hashes of the distinct values, with their counts; most frequent first."""
        return tuple(Counter(self._values).most_common())

    @property
    def agreed(self) -> int:
        """The number of runs with the most frequent values."""
        return self.values[0][1] if self._values else 0

    @property
    def flips(self) -> tuple[Measure, ...]:
        """The measures in which repeats of the same request disagree; any of these makes the cell flaky."""
        shares: dict[Measure, Share | None] = {"parsed": self.share("parsed"), "expected": self.share("expected")}
        return tuple([name for name, one in shares.items() if one is not None and 0 < one.successes < one.runs])

    @property
    def standing(self) -> Literal["good", "mixed", "bad", "broken", "none"]:
        """The state of the cell.

        good: all runs are good · mixed: some or partly good · bad: none good · broken: no run counts · none: no runs.
        """
        if not self.counted:
            return "broken" if self.many else "none"
        if self.good == self.counted:
            return "good"
        return "mixed" if self.above_0 else "bad"


def _bounded(number: int) -> int:
    return max(-HIGHEST_NUMBER, min(number, HIGHEST_NUMBER))


def _example(run: BenchRun, cause: str) -> str:
    if cause:
        return run.failures[0] if run.outcome == "parsed" and run.failures else cause
    return ", ".join(
        one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in run.values.values()
    )


class ColumnTotal(Totals):
    """All cells of a column."""

    def __init__(self, column: str, cells: tuple[Cell, ...] = ()) -> None:
        super().__init__()
        self.column, self.cells = column, cells
        self._intervals: dict[Measure, Interval] = {}
        for cell in cells:
            self.include(cell)

    def interval(self, measure: Measure) -> Interval:
        """Return the interval for new cases; repeats do not count as cases."""
        if measure not in self._intervals:
            shares = [cell.share(measure) for cell in self.cells]
            self._intervals[measure] = clustered([one for one in shares if one is not None])
        return self._intervals[measure]
