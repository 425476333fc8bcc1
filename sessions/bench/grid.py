"""Total the runs of a bench by cell (a case in a column), by column, and overall."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from statistics import median, pvariance
from typing import Literal

from sessions.bench.results import BenchRun, RunKey
from sessions.bench.statistics import Interval, Share, clustered, wilson

Measure = Literal["parsed", "expected", "score", "good"]
"""The measure of success. parsed: the reply parsed · expected: it met all expectations · score: the metric's score ·
good: the score if any, else the expectations if any, else whether it parsed."""


class Counted:
    """Totals of several runs.

    A run without a complete reply because of the column counts as a miss (`BenchRun.outcome` "rejected"). A run that
    the infrastructure failed ("failed") says nothing about the column: it is counted in `failed`, and in no share.
    """

    @property
    def runs(self) -> Sequence[BenchRun]:
        raise NotImplementedError

    @cached_property
    def counted(self) -> tuple[BenchRun, ...]:
        return tuple([one for one in self.runs if one.outcome != "failed"])

    @cached_property
    def replied(self) -> tuple[BenchRun, ...]:
        return tuple([one for one in self.counted if one.outcome != "rejected"])

    @property
    def failed(self) -> int:
        return len(self.runs) - len(self.counted)

    @property
    def rejected(self) -> int:
        return len(self.counted) - len(self.replied)

    @property
    def retries(self) -> int:
        return sum(one.retries for one in self.runs)

    @property
    def asked_again(self) -> int:
        return sum(one.asked_again for one in self.runs)

    @cached_property
    def parsed(self) -> int:
        return sum(one.outcome == "parsed" for one in self.counted)

    @cached_property
    def expecting(self) -> int:
        """The number of runs with expectations."""
        return sum(one.expected is not None for one in self.counted)

    @cached_property
    def held(self) -> int:
        """The number of runs that met all expectations."""
        return sum(one.expected is True for one in self.counted)

    @cached_property
    def good(self) -> int:
        """The number of runs with a `worth` of at least 1."""
        return sum(one.worth >= 1 for one in self.counted)

    @cached_property
    def worth(self) -> float:
        """The mean worth of the runs that count; 0 if there are none."""
        return math.fsum(one.worth for one in self.counted) / len(self.counted) if self.counted else 0.0

    @cached_property
    def by_field(self) -> Mapping[str, tuple[int, int]]:
        """For each field with expectations: the number of runs that met them, and of all runs that have them."""
        every = Counter(name for one in self.counted for name in one.fields)
        wrong = Counter(name for one in self.counted for name in one.wrong)
        return {name: (many - wrong[name], many) for name, many in every.items()}

    @cached_property
    def scores(self) -> tuple[float, ...]:
        """The metric's scores, without runs that have none."""
        return tuple([one.score for one in self.counted if one.score is not None])

    @cached_property
    def score(self) -> float | None:
        """The mean score, as `dspy.Evaluate` computes it; None without scores."""
        return math.fsum(self.scores) / len(self.scores) if self.scores else None

    @cached_property
    def is_graded(self) -> bool:
        """Tell whether any score is neither 0 nor 1."""
        return any(one not in (0, 1) for one in self.scores)

    def share(self, measure: Measure) -> Share | None:
        """Return the share of successes; None if no runs count, or none have expectations or scores."""
        if measure == "expected":
            found = Share(self.held, self.expecting)
        elif measure == "parsed":
            found = Share(self.parsed, len(self.counted))
        else:
            runs = [one for one in self.counted if measure == "good" or one.score is not None]
            worth = sum([Fraction(one.worth) for one in runs], Fraction(0))
            found = Share(worth if self.is_graded else int(worth), len(runs))
        return found if found.runs else None

    @cached_property
    def tokens(self) -> int | None:
        known = [one.tokens for one in self.replied]
        return None if not known or any(one is None for one in known) else sum(one or 0 for one in known)

    @property
    def is_estimate(self) -> bool:
        return any(one.is_estimate for one in self.replied)

    @cached_property
    def cost(self) -> float | None:
        """The cost of all runs, with or without a reply; None if the cost of a reply is unknown."""
        if not self.replied or any(one.cost is None for one in self.replied):
            return None
        return sum(one.cost or 0.0 for one in self.runs)

    @cached_property
    def times(self) -> tuple[float, ...]:
        """The duration of each run with a reply, in milliseconds, without waits and failed calls."""
        return tuple([one.duration_ms for one in self.replied])

    @property
    def median_ms(self) -> float | None:
        return median(self.times) if self.times else None

    @property
    def p95_ms(self) -> float | None:
        """The 95th percentile of `times`, by nearest rank."""
        return sorted(self.times)[math.ceil(0.95 * len(self.times)) - 1] if self.times else None

    @cached_property
    def flags(self) -> Mapping[str, int]:
        """The number of runs with each flag, most frequent first."""
        return dict(Counter(name for one in self.replied for name in dict.fromkeys(one.flags)).most_common())


@dataclass(frozen=True)
class Cell(Counted):
    """A case in a column. `file` is the session file."""

    file: str
    case: str
    column: str
    runs: tuple[BenchRun, ...] = ()

    def interval(self, measure: Measure) -> Interval:
        """Return the interval for more runs of this case."""
        found = self.share(measure)
        if found is not None and found.is_scored:
            return clustered([Share(Fraction(one), 1) for one in self.scores])
        return Interval(0.0, 1.0) if found is None else wilson(float(found.successes), found.runs)

    @cached_property
    def values(self) -> tuple[tuple[str, int], ...]:
        """The distinct values, as JSON text, with their counts; most frequent first."""
        texts = [json.dumps(dict(one.values), ensure_ascii=False) for one in self.counted if one.outcome == "parsed"]
        return tuple(Counter(texts).most_common())

    @property
    def agreed(self) -> int:
        """The number of runs with the most frequent values."""
        return self.values[0][1] if self.values else 0

    @cached_property
    def flips(self) -> tuple[Measure, ...]:
        """The measures by which repeats of the same request disagree; with any, the cell is flaky."""
        shares: dict[Measure, Share | None] = {"parsed": self.share("parsed"), "expected": self.share("expected")}
        return tuple([name for name, one in shares.items() if one is not None and 0 < one.successes < one.runs])

    @property
    def standing(self) -> Literal["good", "mixed", "bad", "broken", "none"]:
        """The state of the cell.

        good: all runs are · mixed: some are, or in part · bad: none is · broken: no run counts · none: no runs.
        """
        if not self.counted:
            return "broken" if self.runs else "none"
        return (
            "good"
            if self.good == len(self.counted)
            else "mixed"
            if any(one.worth > 0 for one in self.counted)
            else "bad"
        )


@dataclass(frozen=True)
class ColumnTotal(Counted):
    """All cells of a column."""

    column: str
    cells: tuple[Cell, ...] = ()

    @cached_property
    def runs(self) -> tuple[BenchRun, ...]:
        return tuple([run for cell in self.cells for run in cell.runs])

    def interval(self, measure: Measure) -> Interval:
        """Return the interval for new cases; repeats do not count as cases."""
        shares = [cell.share(measure) for cell in self.cells]
        return clustered([one for one in shares if one is not None])


@dataclass(frozen=True)
class Grid:
    """All cells of a bench, sorted by case, then by column, in the session's order."""

    cells: tuple[Cell, ...]
    repeat: int = 1
    """The number of runs planned for each cell."""

    @cached_property
    def columns(self) -> tuple[ColumnTotal, ...]:
        cells: dict[str, list[Cell]] = {}
        for cell in self.cells:
            cells.setdefault(cell.column, []).append(cell)
        return tuple([ColumnTotal(name, tuple(found)) for name, found in cells.items()])

    @cached_property
    def cases(self) -> tuple[tuple[str, str], ...]:
        """The file and case of each row."""
        return tuple(dict.fromkeys((cell.file, cell.case) for cell in self.cells))

    @cached_property
    def has_several_files(self) -> bool:
        return len({file for file, _ in self.cases}) > 1

    @cached_property
    def by_place(self) -> Mapping[tuple[str, str, str], Cell]:
        return {(cell.file, cell.case, cell.column): cell for cell in self.cells}

    @cached_property
    def numbers(self) -> Mapping[tuple[str, str, str], int]:
        """The index of each cell, from 0."""
        return {place: number for number, place in enumerate(self.by_place)}

    def row(self, file: str, case: str) -> tuple[Cell | None, ...]:
        """Return the cells of a case in column order; None where its session lacks the column."""
        return tuple([self.by_place.get((file, case, one.column)) for one in self.columns])

    def shared(self, first: str, second: str, measure: Measure) -> tuple[list[Share], list[Share]]:
        """Return the shares of two columns in the cases that count for both."""
        found: tuple[list[Share], list[Share]] = ([], [])
        for file, case in self.cases:
            cells = [self.by_place.get((file, case, one)) for one in (first, second)]
            one, two = [None if cell is None else cell.share(measure) for cell in cells]
            if one is not None and two is not None:
                found[0].append(one)
                found[1].append(two)
        return found

    @property
    def flaky(self) -> list[Cell]:
        return [cell for cell in self.cells if cell.flips]

    def disagreement(self, file: str, case: str) -> tuple[float, int]:
        """Return the variance of the columns' means for a case, and the number of distinct results."""
        cells = [cell for cell in self.row(file, case) if cell is not None and cell.runs]
        means = [cell.worth for cell in cells if cell.counted] or [0.0]
        results = {(cell.standing, cell.values[0][0] if cell.values else "") for cell in cells}
        return pvariance(means), len(results)

    @cached_property
    def by_disagreement(self) -> tuple[tuple[str, str], ...]:
        """The cases, largest disagreement between columns first."""
        return tuple(sorted(self.cases, key=lambda place: self.disagreement(*place), reverse=True))


def newest(runs: Iterable[BenchRun]) -> tuple[BenchRun, ...]:
    """Keep a single run for each key, sorted by number: a failed run is replaced by its repetition."""
    found: dict[RunKey, BenchRun] = {}
    for run in runs:
        if run.key not in found or found[run.key].outcome == "failed":
            found[run.key] = run
    return tuple(sorted(found.values(), key=lambda one: one.number))


def latest(file: str, runs: Sequence[BenchRun], cases: Sequence[str] = (), columns: Sequence[str] = ()) -> Grid:
    """Build a grid from a results file alone, with the last prompt and series of each cell.

    `cases` and `columns` are the session's, and set the order; any others come last. Columns added on the command line
    (`chat · MODEL`) come next to the column they extend.
    """
    found: dict[tuple[str, str], list[BenchRun]] = {}
    for run in runs:
        found.setdefault((run.case, run.column), []).append(run)
    places = [
        (case, column)
        for case in _ordered([case for case, _ in found], cases)
        for column in _by_parts([column for _, column in found], columns)
    ]
    cells = [Cell(file, *place, last_of(found.get(place, ()))) for place in places]
    return Grid(tuple(cells), max((len(cell.runs) for cell in cells), default=1))


def _ordered(names: Iterable[str], known: Sequence[str]) -> list[str]:
    """Remove duplicates and sort: known names in their order, then the others."""
    once = dict.fromkeys(names)
    return [*[one for one in known if one in once], *[one for one in once if one not in known]]


def _by_parts(names: Iterable[str], known: Sequence[str]) -> list[str]:
    """Sort by the session's column, then by the addition (`· MODEL`), independent of which run ended first."""
    once = dict.fromkeys(names)
    firsts = _ordered([one.partition(" · ")[0] for one in once], known)
    seconds = list(dict.fromkeys(one.partition(" · ")[2] for one in once))
    return sorted(once, key=lambda one: (firsts.index(one.partition(" · ")[0]), seconds.index(one.partition(" · ")[2])))


def last_of(runs: Sequence[BenchRun]) -> tuple[BenchRun, ...]:
    """Keep the runs of the last prompt and series of a cell."""
    return newest([run for run in runs if run.key[:4] == runs[-1].key[:4]])


def under(grid: Grid, least: float) -> tuple[str, ...]:
    """List the columns with a share below `least` in any measure, or without any share."""
    found = []
    for one in grid.columns:
        shares = [share for share in (one.share("parsed"), one.share("expected"), one.share("score")) if share]
        if not shares or any(share.as_fraction < least for share in shares):
            found.append(one.column)
    return tuple(found)
