"""Draw conclusions from a grid: verdict, differences between columns, changes since an earlier bench, gains."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from itertools import combinations
from typing import Literal, NamedTuple

from adapters.late_dataclasses import dataclass, replace
from sessions.bench import statistics
from sessions.bench.grid import Grid, Place
from sessions.bench.statistics import LEVEL, Difference, Share
from sessions.bench.totals import COMPARED, Cell, Measure
from sessions.errors import counted


@dataclass(frozen=True)
class Pair:
    """Two columns compared by a measure, on the cases that count for both."""

    first: str
    second: str
    measure: Measure
    difference: Difference
    among: int
    """The number of pairs compared together."""
    left_out: int = 0
    """The number of cases that do not count for at least one of them."""

    @property
    def words(self) -> str:
        """State which column is better, by how much, and how certain that is.

        `chat parses more often than xml: 19 and 12 of 20, +35 points (9 to 54), p = 0.039`, or
        `chat and xml are not told apart: 19 and 17 of 20 parse, +10 points (-9 to 27), p = 0.5; about 140 cases in all
        would tell them apart (80 %; 41 or more)`.
        """
        pair, cases = self.difference, len(self.difference.first)
        one, two, shares, sign = self.first, self.second, (pair.first, pair.second), 1
        if not cases:
            return f"{one} and {two} have no case in common that both answered"
        if pair.mean < 0 and pair.is_certain:
            one, two, shares, sign = two, one, (pair.second, pair.first), -1
        of, scored = _of(*shares), self.measure == "score"
        verb, plural = VERBS[self.measure]
        out = f"; {counted(self.left_out, 'case')} not counted" if self.left_out else ""
        if pair.needed is None:
            return f"{one} and {two} {plural} {'the same' if scored else 'equally often'}: {of}{out}"
        p = p_words(pair.p_adjusted) + (f" (Holm, {self.among} pairs)" if self.among > 1 else "")
        ends = sorted((round(sign * pair.interval.low * 100), round(sign * pair.interval.high * 100)))
        points = f"{sign * pair.mean * 100:+.0f} points ({ends[0]} to {ends[1]})"
        by = f"{of}{'' if pair.is_certain or scored else f' {plural}'}, {points}, {p}"
        if pair.is_certain:
            return f"{one} {verb} {'higher' if scored else 'more often'} than {two}: {by}{out}"
        low, high = pair.needed_range or (0, None)
        low, needed = [_rounded(max(one, cases + 1)) for one in (low, pair.needed)]
        likely = f"{low:,} or more" if high is None else f"{low:,} to {_rounded(max(high, cases + 1)):,}"
        more = f"about {needed:,} cases in all would tell them apart (80 %; {likely})"
        return f"{one} and {two} are not told apart: {by}{out}; {more}"


VERBS: dict[Measure, tuple[str, str]] = {
    "parsed": ("parses", "parse"),
    "expected": ("is as expected", "are as expected"),
    "score": ("scores", "score"),
    "good": ("is good", "are good"),
}


def _of(first: Sequence[Share], second: Sequence[Share]) -> str:
    """Return the totals of both columns: `19 and 12 of 20`.

    With repeats `190 and 120 of 200 runs of 20 cases`; for scores `0.82 and 0.61 in 20 cases`.
    """
    if any(one.is_scored for one in (*first, *second)):
        means = [float(sum(one.as_fraction for one in shares)) / len(shares) for shares in (first, second)]
        return f"{means[0]:.2f} and {means[1]:.2f} in {counted(len(first), 'case')}"
    (one, of_one), (two, of_two) = [
        (sum(share.successes for share in shares), sum(share.runs for share in shares)) for shares in (first, second)
    ]
    runs = f" runs of {counted(len(first), 'case')}"
    if of_one != of_two:
        return f"{one} of {of_one} and {two} of {of_two}{runs}"
    return f"{one} and {two} of {of_one}{'' if of_one == len(first) else runs}"


def points_words(found: Difference) -> str:
    """Return a mean difference with its interval and p-value: `-35 points (-54 to -9), p = 0.008`."""
    ends = f"{found.interval.low * 100:.0f} to {found.interval.high * 100:.0f}"
    return f"{found.mean * 100:+.0f} points ({ends}), {p_words(found.p_adjusted)}"


def p_words(value: float) -> str:
    return "p < 0.001" if value < 0.001 else f"p = {float(f'{value:.2g}'):g}"


def _rounded(count: int) -> int:
    """Round up to two significant digits; the estimate is no more precise."""
    step = int(10 ** max(0, len(str(count)) - 2))
    return -(-count // step) * step


class Worse(NamedTuple):
    column: str
    p: float
    """The p-value, corrected for all pairs."""


@dataclass(frozen=True)
class Verdict:
    """The best column, columns that may be equally good, and worse columns, by the measure "good"."""

    best: str | None
    """The best column; None unless another column is worse, at 5 % for all pairs together."""
    not_told_apart: tuple[str, ...]
    worse: tuple[Worse, ...]
    without: tuple[str, ...]
    """Columns without a run that counts."""
    cases: int
    not_counted: int
    """The number of these cases that do not count for some column."""
    baseline: str | None = None
    """The column that all others are compared with, if any; `best` is then None."""
    better: tuple[Worse, ...] = ()
    """Columns that are better than the baseline."""

    @property
    def line(self) -> str:
        """`best: json · not told apart: baml, xml · worse: chat (p = 0.004) · 40 cases, 2 not counted`."""
        is_alone = not (self.best or self.worse or self.without) and len(self.not_told_apart) == 1
        parts = [f"only column: {self.not_told_apart[0]}" if is_alone else f"best: {self.best or 'none yet'}"]
        if self.baseline is not None:
            is_alone = False
            parts = [f"baseline: {self.baseline}"]
        if self.better:
            parts.append("better: " + ", ".join(f"{one.column} ({p_words(one.p)})" for one in self.better))
        if self.not_told_apart and not is_alone:
            parts.append(f"not told apart: {', '.join(self.not_told_apart)}")
        if self.worse:
            parts.append("worse: " + ", ".join(f"{one.column} ({p_words(one.p)})" for one in self.worse))
        if self.without:
            parts.append(f"no result: {', '.join(self.without)}")
        out = f", {self.not_counted:,} not counted" if self.not_counted else ""
        return " · ".join([*parts, counted(self.cases, "case") + out])


@dataclass(frozen=True)
class Conclusions:
    """All pairs of a grid's columns, and its verdict."""

    grid: Grid
    baseline: str | None = None
    """The only column to compare the others with; fewer pairs need fewer cases."""

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """Every pair of columns, by each measure except "good"."""
        return (*self._pairs("parsed"), *self._pairs("expected"), *self._pairs("score"))

    def _pairs(self, measure: Measure) -> list[Pair]:
        columns = [one.column for one in self.grid.columns]
        names = list(combinations(columns, 2))
        if self.baseline is not None:
            names = [(one, self.baseline) for one in columns if one != self.baseline]
        shares = [self.grid.shared(one, two, measure) for one, two in names]
        if measure != "parsed" and not any(one for one, _ in shares):
            return []
        return [
            Pair(one, two, measure, difference, len(names), self._left_out(one, two))
            for (one, two), difference in zip(names, statistics.compare(shares), strict=True)
        ]

    def _left_out(self, *columns: str) -> int:
        return sum(
            any((cell := self.grid.by_place.get((*case, one))) is None or not cell.counted for one in columns)
            for case in self.grid.cases
        )

    @cached_property
    def verdict(self) -> Verdict:
        columns = [one for one in self.grid.columns if one.counted]
        names = [one.column for one in columns]
        without = tuple([one.column for one in self.grid.columns if not one.counted])
        pairs = {frozenset((one.first, one.second)): one for one in self._pairs("good")}
        if self.baseline is not None:
            return self._compare_with_baseline(list(pairs.values()), names, without)

        def wins(name: str) -> float:
            """Sum the mean differences from all other columns, on their common cases."""
            found = [pairs[frozenset((name, one))] for one in names if one != name]
            return sum(one.difference.mean * (1 if one.first == name else -1) for one in found)

        best = max(names, key=wins, default=None)
        worse, level = [], []
        for name in names:
            pair = None if best is None or name == best else pairs[frozenset((best, name))]
            if pair is not None and pair.difference.is_certain and (pair.difference.mean > 0) is (pair.first == best):
                worse.append(Worse(name, pair.difference.p_adjusted))
            elif name != best:
                level.append(name)
        return Verdict(
            best if worse else None,
            tuple(level) if worse else tuple(names),
            tuple(sorted(worse, key=lambda one: one.p)),
            without,
            len(self.grid.cases),
            self._left_out(*names),
        )

    def _compare_with_baseline(self, pairs: Sequence[Pair], names: Sequence[str], without: tuple[str, ...]) -> Verdict:
        certain = sorted([one for one in pairs if one.difference.is_certain], key=lambda one: one.difference.p)
        better, worse = [
            tuple([Worse(one.first, one.difference.p_adjusted) for one in certain if (one.difference.mean > 0) is wins])
            for wins in (True, False)
        ]
        told = {one.column for one in (*better, *worse)}
        level = tuple([one for one in names if one not in told and one != self.baseline])
        out = self._left_out(*names)
        return Verdict(None, level, worse, without, len(self.grid.cases), out, self.baseline, better)


Word = Literal["better", "worse", "same", "new", "gone"]


@dataclass(frozen=True)
class Change:
    """A cell, now and in an earlier bench. `word` describes the change; `p` is its significance."""

    file: str
    case: str
    column: str
    word: Word
    before: Cell | None
    now: Cell | None
    p: float = 1.0
    """The p-value of Fisher's exact test for "worse", corrected for all comparisons; 1 if it is not worse."""


@dataclass(frozen=True)
class ColumnChange:
    """A column, now and in an earlier bench, on the cases that count in both, by the measure "good"."""

    column: str
    difference: Difference
    """The change of each case: now minus before. `p_adjusted` is one-sided and corrected for all comparisons."""
    level: float = LEVEL

    @property
    def word(self) -> Literal["better", "worse", "not told apart"]:
        if self.difference.p_adjusted > self.level:
            return "not told apart"
        return "worse" if self.difference.mean < 0 else "better"

    @property
    def words(self) -> str:
        """`chat is worse than before: 19 and 12 of 20, -35 points (-54 to -9), p = 0.008`."""
        found = self.difference
        if not found.first:
            return f"{self.column} has no case in common with the earlier bench"
        said = "is not told apart from before" if self.word == "not told apart" else f"is {self.word} than before"
        by = points_words(found) if found.mean else "no difference"
        return f"{self.column} {said}: {_of(found.second, found.first)}, {by}"


@dataclass(frozen=True)
class Comparison:
    """An earlier bench and this one, compared by column and by cell.

    With an unchanged model, at most a share `level` of all comparisons report anything as `worse`. Columns are compared
    by the paired test over their cases. If there are enough repeats for single cells to show a change, the columns get
    half of the level, and the cells, by Fisher's exact test, the other half. Each half is corrected after Tarone
    (1990), which ignores tests that cannot reach the level.
    """

    columns: tuple[ColumnChange, ...]
    cells: tuple[Change, ...]
    level: float = LEVEL

    @property
    def is_empty(self) -> bool:
        """True if no cell has runs that count in both benches."""
        return all(one.word in ("new", "gone") for one in self.cells)

    @property
    def worse(self) -> tuple[str, ...]:
        """A sentence for each column and cell that is significantly worse."""
        columns = [one.words for one in self.columns if one.word == "worse"]
        cells = [
            f"{one.case} · {one.column} is worse than before: {one.before.good} of {one.before.counted} and "
            f"{one.now.good} of {one.now.counted} runs, {p_words(one.p)}"
            for one in self.cells
            if one.p <= self.level and one.before is not None and one.now is not None
        ]
        return (*columns, *cells)


def compare_benches(old: Grid, now: Grid, level: float = LEVEL) -> Comparison:
    """Compare two benches of the same cases."""
    places = dict.fromkeys([*now.by_place, *old.by_place])
    cells = [_change(*place, old.by_place.get(place), now.by_place.get(place)) for place in places]
    shares = [_shares(one) for one in cells]
    # Fisher's test counts successes, so graded scores are not tested.
    tests = [(1.0, 1.0) if one.is_scored or two.is_scored else statistics.fisher(one, two) for one, two in shares]
    among_cells = statistics.tarone([least for _, least in tests], level / 2)
    share = level / 2 if among_cells else level
    if among_cells:
        cells = [
            replace(one, p=min(1.0, p * among_cells * 2)) if one.word == "worse" else one
            for one, (p, _) in zip(cells, tests, strict=True)
        ]
    found: dict[str, Difference] = {}
    for total in now.columns:
        both = [_shares(one) for one in cells if one.column == total.column]
        both = [(before, after) for before, after in both if before.runs and after.runs]
        one = Difference(tuple([after for _, after in both]), tuple([before for before, _ in both]), 1.0, 1.0)
        found[total.column] = replace(one, p=statistics.one_sided_p(one.by_case))
    among = statistics.tarone([0.5 ** sum(map(bool, one.by_case)) for one in found.values()], share)
    factor = max(1, among) * level / share
    columns = [
        ColumnChange(name, replace(one, p_adjusted=min(1.0, one.p * factor)), level) for name, one in found.items()
    ]
    return Comparison(tuple(columns), tuple(cells), level)


def _shares(one: Change) -> tuple[Share, Share]:
    found = [Share(0, 0) if cell is None else cell.share("good") or Share(0, 0) for cell in (one.before, one.now)]
    return found[0], found[1]


def _change(file: str, case: str, column: str, before: Cell | None, now: Cell | None) -> Change:
    word: Word = "same"
    if now is None or not now.counted:
        word = "gone"
    elif before is None or not before.counted:
        word = "new"
    else:
        steps = []
        for measure in COMPARED:
            old_share, new_share = before.share(measure), now.share(measure)
            if old_share is not None and new_share is not None:
                steps.append(new_share.as_fraction - old_share.as_fraction)
        if any(one < 0 for one in steps):
            word = "worse"
        elif any(one > 0 for one in steps):
            word = "better"
    return Change(file, case, column, word, before, now)


@dataclass(frozen=True)
class Gain:
    """The gain of a column from a rewrite, on the half shown to its author and on the withheld half."""

    column: str
    shown: Difference
    withheld: Difference

    @property
    def words(self) -> str:
        """Describe the gain on both halves.

        `chat: better on cases that `suggest` did not see. withheld half: +30 points (5 to 51), p = 0.03 in 20 …`.
        """
        withheld, shown = (
            f"{points_words(one)} in {counted(len(one.first), 'case')}" for one in (self.withheld, self.shown)
        )
        halves = f"withheld half: {withheld}; shown half: {shown}"
        if self.withheld.is_certain:
            word = "better" if self.withheld.mean > 0 else "worse"
            return f"{self.column}: {word} on cases that `suggest` did not see. {halves}"
        if self.shown.is_certain and self.shown.mean > 0:
            return f"{self.column}: the gain is certain only on the half that `suggest` was shown. {halves}"
        return f"{self.column}: no gain is certain on the withheld half. {halves}"


def gains(grid: Grid, tag: str, shown: Collection[Place]) -> list[Gain]:
    """Compare each column with its variant `tag`, on the shown cases and on the others."""
    names = [one.column for one in grid.columns if f"{one.column} · {tag}" in {two.column for two in grid.columns}]
    halves = []
    for is_shown in (True, False):
        part = Grid(tuple([one for one in grid.cells if ((one.file, one.case) in shown) is is_shown]), grid.repeat)
        halves.append(statistics.compare([part.shared(f"{name} · {tag}", name, "good") for name in names]))
    return [Gain(*found) for found in zip(names, *halves, strict=True)]
