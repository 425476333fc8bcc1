"""Misses of a bench by cause, and the cases that one column lost to another."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sessions.bench.grid import Grid, lost_cases, misses_by_cause
from sessions.bench.results import NO_REASON, BenchRun, cause_of
from tests.sessions.bench.test_conclusions import failed_cell, grid_of
from tests.sessions.bench.test_grid import Cell

MISS = BenchRun(case="a", column="xml", number=1, outcome="refused", request="", error="no tag")


@pytest.mark.parametrize(
    ("more", "cause"),
    [
        ({"cause": "xml-tag-not-closed"}, "A tag is not closed"),
        ({"cause": "of a later version"}, "of a later version"),
        ({"outcome": "parsed", "expected": False, "fields": ("a", "b"), "wrong": ("b",)}, "b: not as expected"),
        ({"outcome": "parsed", "score": 0.5, "failures": ("m: scored 0.5",)}, "the score is below 1"),
        ({"outcome": "rejected", "error": "too long"}, "too long"),
        ({"outcome": "rejected", "error": "too long", "fields": ("a",), "wrong": ("a",)}, "too long"),
        ({"error": None}, NO_REASON),
        ({"outcome": "failed", "error": "429"}, ""),
        ({"outcome": "parsed", "error": None}, ""),
    ],
)
def test_a_miss_has_one_cause_in_words_that_others_share(more: dict[str, object], cause: str) -> None:
    assert cause_of(replace(MISS, **more)) == cause  # type: ignore[arg-type]


def test_groups_count_runs_and_name_each_cell_once() -> None:
    runs = (replace(MISS, cause="key-missing"), replace(MISS, number=2, cause="key-missing"))
    grid = Grid((Cell("q.json", "a", "xml", runs), Cell("q.json", "b", "xml", (replace(MISS, case="b"),))))
    found = [(one.column, one.cause, one.runs, [cell.case for cell in one.cells]) for one in misses_by_cause(grid)]
    assert found == [("xml", "A JSON key is missing", 2, ["a"]), ("xml", "no tag", 1, ["b"])]


def test_a_column_lost_the_cases_that_it_failed_and_the_other_passed() -> None:
    grid = grid_of(a="+--?", b="-+-+")
    assert lost_cases(grid, "a", "b") == [grid.cases[1]]
    assert lost_cases(grid, "b", "a") == [grid.cases[0]]
    assert lost_cases(Grid((failed_cell("0", "a"),)), "a", "b") == []


def test_cases_that_columns_disagree_on_come_first() -> None:
    grid = grid_of(a="++-+", b="+--+", c="+--+", d="++-+")
    assert [case for _, case in grid.by_disagreement] == [grid.cases[one][1] for one in (1, 0, 2, 3)]
