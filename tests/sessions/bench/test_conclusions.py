"""The conclusions of a bench: its verdict, the differences of columns, and what changed since an earlier one."""

from __future__ import annotations

import random

import pytest

from sessions.bench.conclusions import Comparison, Conclusions, Pair, compare_benches
from sessions.bench.grid import Grid
from sessions.bench.results import BenchRun
from sessions.bench.totals import Cell
from tests.sessions.bench.test_grid import cell_of


def grid_of(**columns: str) -> Grid:
    """A column a word of `+`, `-` (a miss) and `?` (failed by the infrastructure), one a case."""
    return Grid(
        tuple(
            failed_cell(str(case), name) if good == "?" else cell_of(str(case), name, good == "+")
            for name, word in columns.items()
            for case, good in enumerate(word)
        )
    )


def failed_cell(case: str, column: str) -> Cell:
    return Cell("q.json", case, column, (BenchRun(case=case, column=column, number=1, outcome="failed", request=""),))


def line(**columns: str) -> str:
    return Conclusions(grid_of(**columns)).verdict.line


def pairs_of(grid: Grid) -> tuple[Pair, ...]:
    return Conclusions(grid).pairs


def test_the_sentence_says_which_is_better_by_how_much_and_how_certain_it_is() -> None:
    grid = grid_of(Chat="+" * 19 + "-", XML="+" * 11 + "-" * 8 + "+")
    (pair,) = pairs_of(grid)
    assert pair.difference.is_certain
    assert pair.words == "Chat parses more often than XML: 19 and 12 of 20, +35 points (7 to 57), p = 0.039"
    assert pairs_of(grid_of(XML="+" * 12 + "-" * 8, Chat="+" * 20))[0].words == (
        "Chat parses more often than XML: 20 and 12 of 20, +40 points (14 to 58), p = 0.0078"
    )


def test_the_sentence_says_that_there_are_too_few_cases_and_how_many_would_do() -> None:
    (pair,) = pairs_of(grid_of(Chat="+" * 18 + "--", XML="+" * 15 + "-----"))
    assert not pair.difference.is_certain
    assert pair.words == (
        "Chat and XML are not told apart: 18 and 15 of 20 parse, +15 points (-3 to 31), p = 0.25; "
        "about 50 cases in all would tell them apart (80 %; 29 to 190)"
    )
    assert "about 2 cases" not in pairs_of(grid_of(a="+", b="-"))[0].words
    assert pairs_of(grid_of(a="+-", b="-+"))[0].words == "a and b parse equally often: 1 and 1 of 2"


def test_repeats_of_one_case_are_no_further_cases() -> None:
    cells = [cell_of("one", "a", *[True] * 50), cell_of("one", "b", *[False] * 50)]
    (pair,) = pairs_of(Grid(tuple(cells)))
    assert pair.difference.p == 1.0
    assert pair.words.startswith(
        "a and b are not told apart: 50 and 0 of 50 runs of 1 case parse, +100 points (-51 to 100), p = 1; about "
    )


def test_of_many_pairs_the_p_value_is_corrected_and_says_so() -> None:
    grid = grid_of(a="+" * 20, b="+" * 12 + "-" * 8, c="+" * 20)
    words = [one.words for one in pairs_of(grid)]
    assert words[0] == "a parses more often than b: 20 and 12 of 20, +40 points (14 to 58), p = 0.023 (Holm, 3 pairs)"
    assert words[1] == "a and c parse equally often: 20 and 20 of 20"
    assert words[2] == "c parses more often than b: 20 and 12 of 20, +40 points (14 to 58), p = 0.023 (Holm, 3 pairs)"


def test_pairs_are_made_of_the_cases_that_both_answered() -> None:
    broken = Cell("q.json", "two", "b", (BenchRun(case="two", column="b", number=1, outcome="failed", request=""),))
    grid = Grid((cell_of("one", "a", True), cell_of("one", "b", True), cell_of("two", "a", False), broken))
    assert len(pairs_of(grid)[0].difference.first) == 1
    none = Grid((cell_of("one", "a", True), cell_of("two", "b", True)))
    assert pairs_of(none)[0].words == "a and b have no case in common that both answered"


def test_expectations_are_a_measure_of_their_own() -> None:
    cells = [
        cell_of("one", "a", True, expected=(True,)),
        cell_of("one", "b", True, expected=(False,)),
    ]
    parsed, expected = pairs_of(Grid(tuple(cells)))
    assert (parsed.measure, expected.measure) == ("parsed", "expected")
    assert parsed.words == "a and b parse equally often: 1 and 1 of 1"
    assert expected.difference.better == (1, 0)
    assert len(pairs_of(grid_of(a="+", b="-"))) == 1


def test_the_verdict_names_the_best_the_undecided_and_the_worse_columns() -> None:
    assert line(chat="+" * 12 + "-" * 28, json="+" * 38 + "--", xml="+" * 36 + "----") == (
        "best: json · not told apart: xml · worse: chat (p < 0.001) · 40 cases"
    )
    assert line(a="+" * 20, b="+" * 19 + "-", c="+" * 20) == "best: none yet · not told apart: a, b, c · 20 cases"
    assert line(a="+" * 20) == "only column: a · 20 cases"


def test_the_verdict_counts_the_cases_left_out_and_names_columns_without_a_result() -> None:
    assert line(a="+" * 20, b="??" + "-" * 18, c="?" * 20) == (
        "best: a · worse: b (p < 0.001) · no result: c · 20 cases, 2 not counted"
    )
    assert line(a="??") == "best: none yet · no result: a · 2 cases"
    assert line(a="++", b="??") == "best: none yet · not told apart: a · no result: b · 2 cases"
    (pair,) = pairs_of(grid_of(a="+" * 20, b="??" + "-" * 18))
    assert pair.words.endswith("p < 0.001; 2 cases not counted")


def test_a_column_that_the_provider_rejects_does_not_win_by_it() -> None:
    """36 of 36 after 24 rejected requests is not better than 49 of 60."""

    def rejected(case: str) -> Cell:
        run = BenchRun(case=case, column="picky", number=1, outcome="rejected", request="")
        return Cell("q.json", case, "picky", (run,))

    picky = [cell_of(str(case), "picky", True) if case < 36 else rejected(str(case)) for case in range(60)]
    steady = [cell_of(str(case), "steady", case % 60 < 49) for case in range(60)]
    verdict = Conclusions(Grid((*picky, *steady))).verdict
    assert verdict.best == "steady"
    assert [one.column for one in verdict.worse] == ["picky"]


@pytest.mark.parametrize(
    ("before", "now", "word"),
    [
        ((True, True), (True, False), "worse"),
        ((False, True), (True, True), "better"),
        ((True, False), (False, True), "same"),
        ((), (True,), "new"),
        ((True,), (), "gone"),
    ],
)
def test_what_became_of_a_cell(before: tuple[bool, ...], now: tuple[bool, ...], word: str) -> None:
    (change,) = compare_benches(Grid((cell_of("one", "a", *before),)), Grid((cell_of("one", "a", *now),))).cells
    assert change.word == word


def test_a_cell_that_gains_in_one_and_loses_in_the_other_is_worse() -> None:
    before = cell_of("one", "a", True, False, expected=(True, True))
    now = cell_of("one", "a", True, True, expected=(True, False))
    (change,) = compare_benches(Grid((before,)), Grid((now,))).cells
    assert change.word == "worse"


def benches(before: str, now: str) -> Comparison:
    return compare_benches(grid_of(a=before), grid_of(a=now))


def test_a_change_is_called_worse_only_where_chance_does_not_explain_it() -> None:
    assert benches("+" * 20, "+" * 17 + "---").worse == ()
    assert benches("+" * 4, "-" * 4).worse == ()
    (worse,) = benches("+" * 5, "-" * 5).worse
    assert worse == "a is worse than before: 5 and 0 of 5, -100 points (-100 to -28), p = 0.031"
    (better,) = benches("-" * 8, "+" * 8).columns
    assert (better.word, benches("-" * 8, "+" * 8).worse) == ("better", ())


def test_repeats_let_one_case_be_worse_for_certain() -> None:
    old = Grid(tuple([cell_of(str(case), "a", *[True] * 20) for case in range(10)]))
    now = Grid(tuple([cell_of(str(case), "a", *[case != 3] * 20) for case in range(10)]))
    assert compare_benches(old, now).worse == ("3 · a is worse than before: 20 of 20 and 0 of 20 runs, p < 0.001",)


@pytest.mark.parametrize(
    ("columns", "repeats"), [(1, 1), (3, 1), *(pytest.param(*one, marks=pytest.mark.slow) for one in ((3, 5), (2, 20)))]
)
def test_an_unchanged_model_is_rarely_called_worse(columns: int, repeats: int) -> None:
    draw = random.Random(repeats)
    trials, red = 200, 0
    for _ in range(trials):
        chances = [draw.choice([0.3, 0.8, 0.95, 1.0]) for _ in range(20)]
        old, now = [
            Grid(
                tuple(
                    cell_of(str(case), str(column), *[draw.random() < chance for _ in range(repeats)])
                    for case, chance in enumerate(chances)
                    for column in range(columns)
                )
            )
            for _ in "ab"
        ]
        red += bool(compare_benches(old, now).worse)
    assert red <= 22  # 5 % of 200 are 10; an honest test has more than 22 once in 3,000 times


def test_a_baseline_is_compared_with_every_other_column_and_needs_fewer_cases() -> None:
    grid = grid_of(a="+" * 12, b="-" * 7 + "+" * 5, c="+" * 12, d="+" * 11 + "-")
    assert Conclusions(grid).verdict.best is None
    verdict = Conclusions(grid, "b").verdict
    assert [one.column for one in verdict.better] == ["a", "c"]
    assert verdict.line == ("baseline: b · better: a (p = 0.047), c (p = 0.047) · not told apart: d · 12 cases")
    assert [one.column for one in Conclusions(grid, "a").verdict.worse] == ["b"]
