"""The grid: what a cell, a column and a pair of columns come to, and what became of them."""

from __future__ import annotations

import pytest

from sessions.bench.grid import Cell, ColumnTotal, Grid, changes, median_ms, newest, p95_ms, under
from sessions.bench.results import BenchRun
from sessions.model.replies import Measured


def run_of(case: str, column: str, number: int, good: bool, expected: bool | None = None, **more: object) -> BenchRun:
    given = {"measured": (Measured(duration_ms=10.0 * number),), "model": "offline/exact", "tokens": 5, **more}
    return BenchRun(
        case=case,
        column=column,
        number=number,
        outcome="parsed" if good else "refused",
        request="sha256:1",
        expected=expected,
        **given,  # type: ignore[arg-type]
    )


def cell_of(case: str, column: str, *outcomes: bool, expected: tuple[bool | None, ...] | None = None) -> Cell:
    wanted = expected or (None,) * len(outcomes)
    runs = [
        run_of(case, column, number, good, held)
        for number, (good, held) in enumerate(zip(outcomes, wanted, strict=True), 1)
    ]
    return Cell("q.json", case, column, tuple(runs))


def grid_of(**columns: str) -> Grid:
    """A column a word of `+` and `-`, one a case."""
    return Grid(
        tuple(cell_of(str(case), name, good == "+") for name, word in columns.items() for case, good in enumerate(word))
    )


def test_the_sentence_says_which_is_better_by_how_much_and_how_certain_it_is() -> None:
    grid = grid_of(Chat="+" * 19 + "-", XML="+" * 11 + "-" * 8 + "+")
    (pair,) = grid.pairs
    assert pair.difference.is_certain
    assert pair.words == "Chat parses more often than XML: 19 and 12 of 20, p = 0.039"
    assert grid_of(XML="+" * 12 + "-" * 8, Chat="+" * 20).pairs[0].words == (
        "Chat parses more often than XML: 20 and 12 of 20, p = 0.0078"
    )


def test_the_sentence_says_that_there_are_too_few_cases_and_how_many_would_do() -> None:
    (pair,) = grid_of(Chat="+" * 18 + "--", XML="+" * 15 + "-----").pairs
    assert not pair.difference.is_certain
    assert pair.words == "20 cases cannot tell Chat and XML apart: 18 and 15 of 20 parse, p = 0.25; about 50 could"
    assert "about 2 could" not in grid_of(a="+", b="-").pairs[0].words
    assert grid_of(a="+-", b="-+").pairs[0].words == "a and b parse equally often: 1 and 1 of 2"


def test_repeats_of_one_case_are_no_further_cases() -> None:
    cells = [cell_of("one", "a", *[True] * 50), cell_of("one", "b", *[False] * 50)]
    (pair,) = Grid(tuple(cells)).pairs
    assert pair.difference.p == 1.0
    assert pair.words.startswith("1 case cannot tell a and b apart: 50 and 0 of 50 runs of 1 case parse, p = 1; about ")


def test_of_many_pairs_the_p_value_is_corrected_and_says_so() -> None:
    grid = grid_of(a="+" * 20, b="+" * 12 + "-" * 8, c="+" * 20)
    words = [one.words for one in grid.pairs]
    assert words[0] == "a parses more often than b: 20 and 12 of 20, p = 0.023 (Holm, 3 pairs)"
    assert words[1] == "a and c parse equally often: 20 and 20 of 20"
    assert words[2] == "c parses more often than b: 20 and 12 of 20, p = 0.023 (Holm, 3 pairs)"


def test_pairs_are_made_of_the_cases_that_both_answered() -> None:
    broken = Cell("q.json", "two", "b", (BenchRun(case="two", column="b", number=1, outcome="failed", request=""),))
    grid = Grid((cell_of("one", "a", True), cell_of("one", "b", True), cell_of("two", "a", False), broken))
    assert len(grid.pairs[0].difference.first) == 1
    none = Grid((cell_of("one", "a", True), cell_of("two", "b", True)))
    assert none.pairs[0].words == "a and b have no case in common that both answered"


def test_expectations_are_a_measure_of_their_own() -> None:
    cells = [
        cell_of("one", "a", True, expected=(True,)),
        cell_of("one", "b", True, expected=(False,)),
    ]
    parsed, expected = Grid(tuple(cells)).pairs
    assert (parsed.measure, expected.measure) == ("parsed", "expected")
    assert parsed.words == "a and b parse equally often: 1 and 1 of 1"
    assert expected.difference.better == (1, 0)
    assert len(grid_of(a="+", b="-").pairs) == 1


def test_a_cell_whose_repeats_say_yes_and_no_flips() -> None:
    assert cell_of("one", "a", True, False, True).flips == ("parsed",)
    assert cell_of("one", "a", True, True, expected=(True, False)).flips == ("expected",)
    assert cell_of("one", "a", True, True).flips == ()
    assert cell_of("one", "a", False, False).flips == ()


def test_a_cell_is_good_mixed_bad_broken_or_not_run() -> None:
    broken = Cell("q.json", "one", "a", (BenchRun(case="one", column="a", number=1, outcome="failed", request=""),))
    assert cell_of("one", "a", True, True, expected=(True, None)).standing == "good"
    assert cell_of("one", "a", True, False).standing == "mixed"
    assert cell_of("one", "a", True, expected=(False,)).standing == "bad"
    assert broken.standing == "broken"
    assert Cell("q.json", "one", "a").standing == "none"


def test_values_agree_as_often_as_the_most_frequent_came() -> None:
    runs = [run_of("one", "a", n, True, values={"answer": text}) for n, text in enumerate(["yes", "no", "yes"], 1)]
    cell = Cell("q.json", "one", "a", tuple(runs))
    assert cell.agreed == 2
    assert len(cell.values) == 2
    assert Cell("q.json", "one", "a").agreed == 0


def test_columns_differ_on_a_case_by_how_it_ended_or_by_what_came() -> None:
    def one(column: str, good: bool, value: str) -> Cell:
        return Cell("q.json", "one", column, (run_of("one", column, 1, good, values={"answer": value}),))

    assert not Grid((one("a", True, "yes"), one("b", True, "yes"))).differs("q.json", "one")
    assert Grid((one("a", True, "yes"), one("b", True, "no"))).differs("q.json", "one")
    assert Grid((one("a", True, "yes"), one("b", False, "yes"))).differs("q.json", "one")


def test_a_column_adds_up_and_failed_runs_are_in_no_share() -> None:
    failed = BenchRun(case="two", column="a", number=1, outcome="failed", request="", model="offline/exact")
    total = ColumnTotal("a", (*cell_of("one", "a", True, False, expected=(True, False)).runs, failed))
    assert (total.parsed, len(total.answered), total.failed) == (1, 2, 1)
    assert (total.held, total.expecting) == (1, 2)
    assert total.tokens == 10
    assert total.cost == 0.0
    assert total.times == (10.0, 20.0)


def test_the_95th_of_100_times_is_the_one_within_which_95_were_done() -> None:
    assert p95_ms(list(range(1, 101))) == 95
    assert p95_ms([7.0]) == 7.0
    assert p95_ms([]) is None
    assert median_ms([1.0, 2.0, 9.0]) == 2.0


def test_a_run_that_failed_gives_way_to_its_repetition() -> None:
    failed = BenchRun(case="one", column="a", number=1, outcome="failed", request="sha256:1")
    made = run_of("one", "a", 1, True)
    assert newest([failed, made]) == (made,)
    assert newest([made, failed]) == (made,)
    assert [one.number for one in newest([run_of("one", "a", 2, True), made])] == [1, 2]


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
    (change,) = changes(Grid((cell_of("one", "a", *before),)), Grid((cell_of("one", "a", *now),)))
    assert change.word == word


def test_a_cell_that_gains_in_one_and_loses_in_the_other_is_worse() -> None:
    before = cell_of("one", "a", True, False, expected=(True, True))
    now = cell_of("one", "a", True, True, expected=(True, False))
    (change,) = changes(Grid((before,)), Grid((now,)))
    assert change.word == "worse"


def test_a_column_is_under_a_share_by_parsing_or_by_expectations_and_where_nothing_came() -> None:
    grid = Grid((cell_of("one", "a", True, expected=(False,)), cell_of("one", "b", True), Cell("q.json", "one", "c")))
    assert under(grid, 0.5) == ("a", "c")
    assert under(grid, 0.0) == ("c",)
