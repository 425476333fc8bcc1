"""Split the cases of a bench in half, so that a rewrite is judged on cases its author has not seen."""

from __future__ import annotations

import hashlib
from collections.abc import Collection

from adapters.late_dataclasses import dataclass
from sessions.bench.conclusions import cases_words, p_words
from sessions.bench.grid import Grid
from sessions.bench.statistics import Difference, compare

Place = tuple[str, str]


def half(grid: Grid) -> frozenset[Place]:
    """Choose half of the cases with a miss and half of the others.

    Cases are ordered by a hash of their names, so the same names give the same half.
    """
    cases = sorted(grid.cases, key=lambda place: hashlib.sha256(repr(place[1]).encode()).digest())
    missed = [place for place in cases if any(cell and cell.good < cell.counted for cell in grid.row(*place))]
    others = [place for place in cases if place not in set(missed)]
    return frozenset([*missed[::2], *others[::2]])


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
        halves = f"withheld half: {_words(self.withheld)}; shown half: {_words(self.shown)}"
        if self.withheld.is_certain:
            word = "better" if self.withheld.mean > 0 else "worse"
            return f"{self.column}: {word} on cases that `suggest` did not see. {halves}"
        if self.shown.is_certain and self.shown.mean > 0:
            return f"{self.column}: the gain is certain only on the half that `suggest` was shown. {halves}"
        return f"{self.column}: no gain is certain on the withheld half. {halves}"


def _words(one: Difference) -> str:
    ends = f"{one.interval.low * 100:.0f} to {one.interval.high * 100:.0f}"
    return f"{one.mean * 100:+.0f} points ({ends}), {p_words(one.p_adjusted)} in {cases_words(len(one.first))}"


def gains(grid: Grid, tag: str, shown: Collection[Place]) -> list[Gain]:
    """Compare each column with its variant `tag`, on the shown cases and on the others."""
    names = [one.column for one in grid.columns if f"{one.column} · {tag}" in {two.column for two in grid.columns}]
    halves = []
    for is_shown in (True, False):
        part = Grid(tuple([one for one in grid.cells if ((one.file, one.case) in shown) is is_shown]), grid.repeat)
        halves.append(compare([part.shared(f"{name} · {tag}", name, "good") for name in names]))
    return [Gain(*found) for found in zip(names, *halves, strict=True)]
