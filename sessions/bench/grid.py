"""The grid of a bench: cases by columns, each cell its runs, and what they have in common."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from statistics import median
from typing import Literal

from sessions.bench.results import BenchRun, RunKey
from sessions.bench.statistics import Difference, Interval, Share, compare, wilson

Measure = Literal["parsed", "expected"]
"""What is counted of a run: that its reply parsed, or that all held that was expected of it."""


def median_ms(times: Sequence[float]) -> float | None:
    return median(times) if times else None


def p95_ms(times: Sequence[float]) -> float | None:
    """The time within which 95 of 100 runs were done, by nearest rank; None without any."""
    return sorted(times)[math.ceil(0.95 * len(times)) - 1] if times else None


class Counted:
    """What runs come to together. A run that failed had no whole reply: it is counted apart and in no share."""

    runs: tuple[BenchRun, ...]

    @cached_property
    def answered(self) -> tuple[BenchRun, ...]:
        return tuple([one for one in self.runs if one.outcome != "failed"])

    @property
    def failed(self) -> int:
        return len(self.runs) - len(self.answered)

    @cached_property
    def parsed(self) -> int:
        return sum(one.outcome == "parsed" for one in self.answered)

    @cached_property
    def expecting(self) -> int:
        """Of how many runs something was expected."""
        return sum(one.expected is not None for one in self.answered)

    @cached_property
    def held(self) -> int:
        """In how many of those all of it held."""
        return sum(one.expected is True for one in self.answered)

    @cached_property
    def good(self) -> int:
        """How many runs parsed, and were as expected where something was."""
        return sum(one.outcome == "parsed" and one.expected is not False for one in self.answered)

    def share(self, measure: Measure) -> Share | None:
        """None where nothing can be said: no run was answered, or nothing expected."""
        found = Share(self.parsed, len(self.answered)) if measure == "parsed" else Share(self.held, self.expecting)
        return found if found.runs else None

    def interval(self, measure: Measure) -> Interval:
        found = self.share(measure)
        return Interval(0.0, 1.0) if found is None else wilson(found.successes, found.runs)

    @cached_property
    def tokens(self) -> int | None:
        known = [one.tokens for one in self.answered]
        return None if not known or any(one is None for one in known) else sum(one or 0 for one in known)

    @property
    def is_estimate(self) -> bool:
        return any(one.is_estimate for one in self.answered)

    @cached_property
    def cost(self) -> float | None:
        """Of all runs, those that failed included where they cost anything; None as soon as one is not known."""
        known = [one.cost for one in self.answered]
        paid = [one.cost or 0.0 for one in self.runs if one.outcome == "failed"]
        return None if not known or any(one is None for one in known) else sum(one or 0.0 for one in known) + sum(paid)

    @cached_property
    def times(self) -> tuple[float, ...]:
        return tuple([one.duration_ms for one in self.answered])

    @cached_property
    def flags(self) -> Mapping[str, int]:
        """In how many runs each flag was up, the most frequent first."""
        return dict(Counter(name for one in self.answered for name in dict.fromkeys(one.flags)).most_common())


@dataclass(frozen=True)
class Cell(Counted):
    """One case under one column. `file` is the session's."""

    file: str
    case: str
    column: str
    runs: tuple[BenchRun, ...] = ()

    @cached_property
    def values(self) -> tuple[tuple[str, int], ...]:
        """The different values that came, as JSON text, with how often; the most frequent first."""
        texts = [json.dumps(one.values, ensure_ascii=False) for one in self.answered if one.outcome == "parsed"]
        return tuple(Counter(texts).most_common())

    @property
    def agreed(self) -> int:
        """How many runs gave the values that came most often."""
        return self.values[0][1] if self.values else 0

    @cached_property
    def flips(self) -> tuple[Measure, ...]:
        """What repeats of the same request said yes and no to."""
        shares: dict[Measure, Share | None] = {"parsed": self.share("parsed"), "expected": self.share("expected")}
        return tuple([name for name, one in shares.items() if one is not None and 0 < one.successes < one.runs])

    @property
    def standing(self) -> Literal["good", "mixed", "bad", "broken", "none"]:
        """The cell in one word: every run parsed and held, some did, none did, no reply came, nothing ran."""
        if not self.answered:
            return "broken" if self.runs else "none"
        return "good" if self.good == len(self.answered) else "mixed" if self.good else "bad"


@dataclass(frozen=True)
class ColumnTotal(Counted):
    """All runs of one column."""

    column: str
    runs: tuple[BenchRun, ...] = ()


@dataclass(frozen=True)
class Pair:
    """Two columns on the cases that both have answered, by one measure."""

    first: str
    second: str
    measure: Measure
    difference: Difference
    among: int
    """How many pairs are told together."""

    @property
    def words(self) -> str:
        """What may be concluded.

        `chat parses more often than xml: 19 and 12 of 20, p = 0.02`, or
        `20 cases cannot tell chat and xml apart: 19 and 17 parse, p = 0.5; about 140 could`.
        """
        pair, cases = self.difference, len(self.difference.first)
        one, two, shares = self.first, self.second, (pair.first, pair.second)
        if not cases:
            return f"{one} and {two} have no case in common that both answered"
        if pair.mean < 0 and pair.is_certain:
            one, two, shares = two, one, (pair.second, pair.first)
        of = _of(*shares)
        verb, plural = ("parses", "parse") if self.measure == "parsed" else ("is as expected", "are as expected")
        p = _p(pair.p_adjusted) + (f" (Holm, {self.among} pairs)" if self.among > 1 else "")
        if pair.is_certain:
            return f"{one} {verb} more often than {two}: {of}, {p}"
        if pair.needed is None:
            return f"{one} and {two} {plural} equally often: {of}"
        more = f"about {_rounded(max(pair.needed, cases + 1)):,} could"
        return f"{_cases(cases)} cannot tell {one} and {two} apart: {of} {plural}, {p}; {more}"


def _cases(count: int) -> str:
    return "1 case" if count == 1 else f"{count:,} cases"


def _of(first: Sequence[Share], second: Sequence[Share]) -> str:
    """`19 and 12 of 20`; with repeats `190 and 120 of 200 runs of 20 cases`."""
    (one, of_one), (two, of_two) = [
        (sum(share.successes for share in shares), sum(share.runs for share in shares)) for shares in (first, second)
    ]
    runs = f" runs of {_cases(len(first))}"
    if of_one != of_two:
        return f"{one} of {of_one} and {two} of {of_two}{runs}"
    return f"{one} and {two} of {of_one}{'' if of_one == len(first) else runs}"


def _p(value: float) -> str:
    return "p < 0.001" if value < 0.001 else f"p = {float(f'{value:.2g}'):g}"


def _rounded(count: int) -> int:
    """To two digits: nobody knows it better."""
    step = int(10 ** max(0, len(str(count)) - 2))
    return -(-count // step) * step


@dataclass(frozen=True)
class Grid:
    """Everything a bench says. Cells stand by case, then by column, in the session's order."""

    cells: tuple[Cell, ...]
    repeat: int = 1
    """How many runs a cell was to have."""

    @cached_property
    def columns(self) -> tuple[ColumnTotal, ...]:
        runs: dict[str, list[BenchRun]] = {}
        for cell in self.cells:
            runs.setdefault(cell.column, []).extend(cell.runs)
        return tuple([ColumnTotal(name, tuple(found)) for name, found in runs.items()])

    @cached_property
    def cases(self) -> tuple[tuple[str, str], ...]:
        """File and case of each row."""
        return tuple(dict.fromkeys((cell.file, cell.case) for cell in self.cells))

    @cached_property
    def has_several_files(self) -> bool:
        return len({file for file, _ in self.cases}) > 1

    @cached_property
    def by_place(self) -> Mapping[tuple[str, str, str], Cell]:
        return {(cell.file, cell.case, cell.column): cell for cell in self.cells}

    @cached_property
    def numbers(self) -> Mapping[tuple[str, str, str], int]:
        """The place of each cell among all, from 0."""
        return {place: number for number, place in enumerate(self.by_place)}

    def row(self, file: str, case: str) -> tuple[Cell | None, ...]:
        """The case's cells in the order of the columns; None where a session has no such column."""
        return tuple([self.by_place.get((file, case, one.column)) for one in self.columns])

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """Every two columns by each measure; those of one measure are told together."""
        return (*self._pairs("parsed"), *self._pairs("expected"))

    def _pairs(self, measure: Measure) -> list[Pair]:
        names = list(combinations([one.column for one in self.columns], 2))
        shares = [self._shared(one, two, measure) for one, two in names]
        if measure == "expected" and not any(one for one, _ in shares):
            return []
        return [
            Pair(one, two, measure, difference, len(names))
            for (one, two), difference in zip(names, compare(shares), strict=True)
        ]

    def _shared(self, first: str, second: str, measure: Measure) -> tuple[list[Share], list[Share]]:
        found: tuple[list[Share], list[Share]] = ([], [])
        for file, case in self.cases:
            cells = [self.by_place.get((file, case, one)) for one in (first, second)]
            one, two = [None if cell is None else cell.share(measure) for cell in cells]
            if one is not None and two is not None:
                found[0].append(one)
                found[1].append(two)
        return found

    def differs(self, file: str, case: str) -> bool:
        """Whether the columns came to different ends on this case."""
        cells = [cell for cell in self.row(file, case) if cell is not None and cell.runs]
        return len({(cell.standing, cell.values[0][0] if cell.values else "") for cell in cells}) > 1


def newest(runs: Iterable[BenchRun]) -> tuple[BenchRun, ...]:
    """The runs that count, one a key, by number: a run that failed gives way to its repetition."""
    found: dict[RunKey, BenchRun] = {}
    for run in runs:
        if run.key not in found or found[run.key].outcome == "failed":
            found[run.key] = run
    return tuple(sorted(found.values(), key=lambda one: one.number))


def latest(file: str, runs: Sequence[BenchRun], cases: Sequence[str] = (), columns: Sequence[str] = ()) -> Grid:
    """The grid of a results file by itself: of each cell the runs of its last prompt and series.

    `cases` and `columns` are those of the session, in whose order they stand; what is gone from it comes last. Columns
    made on the command line (`chat · MODEL`) stand where their own column does.
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
    """Each name once, those that are known in their order, the others behind as they came."""
    once = dict.fromkeys(names)
    return [*[one for one in known if one in once], *[one for one in once if one not in known]]


def _by_parts(names: Iterable[str], known: Sequence[str]) -> list[str]:
    """Columns by what they were made of, then by what they were made with, whichever run ended first."""
    once = dict.fromkeys(names)
    firsts = _ordered([one.partition(" · ")[0] for one in once], known)
    seconds = list(dict.fromkeys(one.partition(" · ")[2] for one in once))
    return sorted(once, key=lambda one: (firsts.index(one.partition(" · ")[0]), seconds.index(one.partition(" · ")[2])))


def last_of(runs: Sequence[BenchRun]) -> tuple[BenchRun, ...]:
    """Of the runs of one cell those of its last prompt and series."""
    return newest([run for run in runs if run.key[:4] == runs[-1].key[:4]])


Word = Literal["better", "worse", "same", "new", "gone"]


@dataclass(frozen=True)
class Change:
    """A cell beside the one of an earlier bench."""

    file: str
    case: str
    column: str
    word: Word
    before: Cell | None
    now: Cell | None


def changes(old: Grid, now: Grid) -> tuple[Change, ...]:
    """What became of each cell: worse as soon as its runs parse, or are as expected, less often than they did."""
    places = dict.fromkeys([*now.by_place, *old.by_place])
    return tuple([_change(*place, old.by_place.get(place), now.by_place.get(place)) for place in places])


def _change(file: str, case: str, column: str, before: Cell | None, now: Cell | None) -> Change:
    word: Word = "same"
    if now is None or not now.answered:
        word = "gone"
    elif before is None or not before.answered:
        word = "new"
    else:
        steps = []
        measures: tuple[Measure, ...] = ("parsed", "expected")
        for measure in measures:
            old_share, new_share = before.share(measure), now.share(measure)
            if old_share is not None and new_share is not None:
                steps.append(new_share.as_fraction - old_share.as_fraction)
        word = "worse" if any(one < 0 for one in steps) else "better" if any(one > 0 for one in steps) else "same"
    return Change(file, case, column, word, before, now)


def under(grid: Grid, least: float) -> tuple[str, ...]:
    """The columns of which fewer runs than this share parsed, or were as expected."""
    found = []
    for one in grid.columns:
        shares = [share for share in (one.share("parsed"), one.share("expected")) if share is not None]
        if not shares or any(share.successes / share.runs < least for share in shares):
            found.append(one.column)
    return tuple(found)
