"""Arrange the cells of a bench as a grid of cases and columns, and group its misses by cause."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from statistics import pvariance

from adapters.late_dataclasses import dataclass, field
from sessions.bench.reading import Results
from sessions.bench.statistics import Share
from sessions.bench.totals import COMPARED, Cell, ColumnTotal, Measure


@dataclass(frozen=True)
class Grid:
    """All cells of a bench, sorted by case, then by column, in the session's order."""

    cells: tuple[Cell, ...]
    repeat: int = 1
    """The number of runs planned for each cell."""
    unrenderable: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Cells that are in no row because they cannot be rendered, by reason."""
    missing: int = 0
    """The number of planned runs that were not made."""

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
        cells = [cell for cell in self.row(file, case) if cell is not None and cell.many]
        means = [cell.worth for cell in cells if cell.counted] or [0.0]
        results = {(cell.standing, cell.values[0][0] if cell.values else 0) for cell in cells}
        return pvariance(means), len(results)

    @cached_property
    def by_disagreement(self) -> tuple[tuple[str, str], ...]:
        """The cases, largest disagreement between columns first."""
        return tuple(sorted(self.cases, key=lambda place: self.disagreement(*place), reverse=True))


def latest(found: Results, cases: Sequence[str] = (), columns: Sequence[str] = ()) -> Grid:
    """Build a grid from results alone, with the last prompt and series of each cell.

    `cases` and `columns` are the session's, and set the order; any others come last. Columns added on the command line
    (`chat · MODEL`) come next to the column they extend.
    """
    # By the session's column, then by the addition (`· MODEL`), independent of which run ended first.
    parts = {column: column.partition(" · ")[::2] for _, column in found.places}
    firsts = _ordered([first for first, _ in parts.values()], columns)
    seconds = list(dict.fromkeys(second for _, second in parts.values()))
    names = sorted(parts, key=lambda one: (firsts.index(parts[one][0]), seconds.index(parts[one][1])))
    rows = _ordered([case for case, _ in found.places], cases)
    cells = [found.last(case, column) for case in rows for column in names]
    return Grid(tuple(cells), max((cell.many for cell in cells), default=1))


def _ordered(names: Iterable[str], known: Sequence[str]) -> list[str]:
    """Remove duplicates and sort: known names in their order, then the others."""
    once = dict.fromkeys(names)
    return [*[one for one in known if one in once], *[one for one in once if one not in known]]


def under(grid: Grid, least: float) -> tuple[str, ...]:
    """List the columns with a share below `least` in any measure, or without any share."""
    found = {one.column: [share for name in COMPARED if (share := one.share(name))] for one in grid.columns}
    lowest = {name: min([one.as_fraction for one in shares], default=-1) for name, shares in found.items()}
    return tuple([name for name, share in lowest.items() if share < least])


@dataclass(frozen=True)
class Misses:
    """The misses of a column with the same cause, and their cells."""

    column: str
    cause: str
    runs: int
    cells: tuple[Cell, ...]


def misses_by_cause(grid: Grid) -> Iterator[Misses]:
    """Group the misses of each column by cause, most frequent first."""
    for column in grid.columns:
        found: dict[str, list[Cell]] = {}
        for cell in column.cells:
            for cause in cell.causes:
                found.setdefault(cause, []).append(cell)
        groups = [(sum(one.causes[cause] for one in cells), cause, cells) for cause, cells in found.items()]
        for runs, cause, cells in sorted(groups, key=lambda one: -one[0]):
            yield Misses(column.column, cause, runs, tuple(cells))


def lost_cases(grid: Grid, loser: str, winner: str) -> list[tuple[str, str]]:
    """Find the cases that `loser` failed and `winner` passed; with graded scores, where `loser` scored lower."""
    found = []
    for place in grid.cases:
        one, other = [grid.by_place.get((*place, name)) for name in (loser, winner)]
        if one is None or other is None or not one.counted or not other.counted:
            continue
        is_graded = one.is_graded or other.is_graded
        if one.worth < other.worth if is_graded else one.standing != "good" == other.standing:
            found.append(place)
    return found


Place = tuple[str, str]


def half(grid: Grid) -> frozenset[Place]:
    """Choose half of the cases with a miss and half of the others.

    Cases are ordered by a hash of their names, so the same names give the same half.
    """
    cases = sorted(grid.cases, key=lambda place: hashlib.sha256(repr(place[1]).encode()).digest())
    missed = [place for place in cases if any(cell and cell.good < cell.counted for cell in grid.row(*place))]
    others = [place for place in cases if place not in set(missed)]
    return frozenset([*missed[::2], *others[::2]])
