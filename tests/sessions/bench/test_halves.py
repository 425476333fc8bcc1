"""Cases withheld from the author of a rewrite decide whether it helps."""

from __future__ import annotations

import pytest

from sessions.bench import conclusions
from sessions.bench.grid import half
from tests.sessions.bench.test_conclusions import grid_of


def test_the_halves_share_misses_evenly_and_stay_the_same() -> None:
    grid = grid_of(a="+" * 10 + "-" * 10)
    shown = half(grid)
    missed = [place for place in grid.cases[10:] if place in shown]
    assert (len(shown), len(missed)) == (10, 5)
    assert half(grid_of(a="+" * 10 + "-" * 10)) == shown


@pytest.mark.parametrize(
    ("shown", "withheld", "says"),
    [
        ("+" * 8, "+" * 8, "a: better on cases that `suggest` did not see."),
        ("+" * 8, "-" * 8, "a: the gain is certain only on the half that `suggest` was shown."),
        ("-" * 8, "-" * 8, "a: no gain is certain on the withheld half."),
    ],
)
def test_the_verdict_says_on_which_half_the_gain_was_seen(shown: str, withheld: str, says: str) -> None:
    grid = grid_of(**{"a": "-" * 16, "a · new": shown + withheld, "b": "-" * 16})
    (gain,) = conclusions.gains(grid, "new", frozenset(grid.cases[:8]))
    assert gain.words.startswith(says)
    assert "in 8 cases; shown half: " in gain.words


def test_a_rewrite_that_harms_is_called_worse() -> None:
    grid = grid_of(**{"a": "+" * 16, "a · new": "-" * 16})
    (gain,) = conclusions.gains(grid, "new", frozenset(grid.cases[:8]))
    assert gain.words.startswith("a: worse on cases that `suggest` did not see.")
