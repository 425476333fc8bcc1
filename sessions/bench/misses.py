"""Group the misses of a bench by cause, and find the cases that one column lost to another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from adapters.replies.diagnosis import CAUSES
from sessions.bench.grid import Cell, Grid
from sessions.bench.results import BenchRun

LONGEST_CAUSE = 90
NO_REASON = "no reason given"


@dataclass(frozen=True)
class Misses:
    """The misses of a column with the same cause, and their cells."""

    column: str
    cause: str
    runs: int
    cells: tuple[Cell, ...]


def cause_of(run: BenchRun) -> str:
    """Return the cause of a miss, worded alike for similar misses; "" if the run is not a miss."""
    if run.outcome == "failed" or (run.worth >= 1 and not run.failures):
        return ""
    if run.cause is not None:
        return CAUSES.get(run.cause, run.cause)
    if run.wrong:
        return f"{', '.join(run.wrong)}: not as expected"
    if run.score is not None and run.outcome == "parsed":
        return "the score is below 1"
    return next((one[:LONGEST_CAUSE] for one in (run.error, *run.failures) if one), NO_REASON)


def by_cause(grid: Grid) -> Iterator[Misses]:
    """Group the misses of each column by cause, most frequent first."""
    for column in grid.columns:
        found: dict[str, list[Cell]] = {}
        for cell in column.cells:
            for run in cell.runs:
                if cause := cause_of(run):
                    found.setdefault(cause, []).append(cell)
        for cause, cells in sorted(found.items(), key=lambda one: -len(one[1])):
            yield Misses(column.column, cause, len(cells), tuple({(one.file, one.case): one for one in cells}.values()))


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
