"""Group the misses of a bench by cause, and find the cases that one column lost to another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sessions.bench.grid import Grid
from sessions.bench.totals import Cell


@dataclass(frozen=True)
class Misses:
    """The misses of a column with the same cause, and their cells."""

    column: str
    cause: str
    runs: int
    cells: tuple[Cell, ...]


def by_cause(grid: Grid) -> Iterator[Misses]:
    """Group the misses of each column by cause, most frequent first."""
    for column in grid.columns:
        found: dict[str, list[Cell]] = {}
        for cell in column.cells:
            for cause in cell.causes:
                found.setdefault(cause, []).append(cell)
        groups = [(sum(one.causes[cause] for one in cells), cause, cells) for cause, cells in found.items()]
        for runs, cause, cells in sorted(groups, key=lambda one: -one[0]):
            yield Misses(column.column, cause, runs, tuple(cells))


def lost(grid: Grid, loser: str, winner: str) -> list[tuple[str, str]]:
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
