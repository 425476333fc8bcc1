"""The grid: what a cell, a column and a pair of columns come to, and what became of them."""

from __future__ import annotations

from sessions.bench.grid import Grid, under
from sessions.bench.results import BenchRun
from sessions.bench.totals import Cell, ColumnTotal
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

    assert not Grid((one("a", True, "yes"), one("b", True, "yes"))).disagreement("q.json", "one")[1] > 1
    assert Grid((one("a", True, "yes"), one("b", True, "no"))).disagreement("q.json", "one")[1] > 1
    assert Grid((one("a", True, "yes"), one("b", False, "yes"))).disagreement("q.json", "one")[1] > 1


def test_a_column_adds_up_and_failed_runs_are_in_no_share() -> None:
    failed = BenchRun(case="two", column="a", number=1, outcome="failed", request="", model="offline/exact")
    total = ColumnTotal(
        "a", (cell_of("one", "a", True, False, expected=(True, False)), Cell("q", "two", "a", (failed,)))
    )
    assert (total.parsed, total.counted, total.failed) == (1, 2, 1)
    assert (total.held, total.expecting) == (1, 2)
    assert total.tokens == 10
    assert total.cost == 0.0
    assert list(total.times) == [10.0, 20.0]


def test_the_95th_of_100_times_is_the_one_within_which_95_were_done() -> None:
    def timed(*times: float) -> Cell:
        runs = [run_of("one", "a", at, True, measured=(Measured(duration_ms=time),)) for at, time in enumerate(times)]
        return Cell("q.json", "one", "a", tuple(runs))

    assert timed(*range(1, 101)).p95_ms == 95
    assert timed(7.0).p95_ms == 7.0
    assert timed().p95_ms is None
    assert timed(1.0, 2.0, 9.0).median_ms == 2.0


def test_a_rejected_run_is_a_miss_and_takes_no_time_or_tokens() -> None:
    rejected = BenchRun(case="one", column="a", number=3, outcome="rejected", request="", expected=False, retries=2)
    cell = cell_of("one", "a", True, True, expected=(True, True))
    total = ColumnTotal("a", (Cell("q.json", "one", "a", (*cell.runs, rejected)),))
    assert (total.parsed, total.held, total.expecting, total.counted) == (2, 2, 3, 3)
    assert (total.rejected, total.failed, total.retries) == (1, 0, 2)
    assert (total.tokens, list(total.times)) == (10, [10.0, 20.0])
    assert total.cells[0].flips == ("parsed", "expected")


def test_a_reply_that_should_not_parse_and_does_not_is_good() -> None:
    assert cell_of("one", "a", False, expected=(True,)).standing == "good"


def test_repeats_do_not_narrow_the_interval_of_a_column() -> None:
    once = ColumnTotal("a", tuple([cell_of(str(case), "a", case < 8) for case in range(10)]))
    often = ColumnTotal("a", tuple([cell_of(str(case), "a", *[case < 8] * 20) for case in range(10)]))
    assert once.interval("parsed") == often.interval("parsed")
    assert often.cells[0].interval("parsed").low > 0.8


def test_a_run_that_failed_gives_way_to_its_repetition() -> None:
    failed = BenchRun(case="one", column="a", number=1, outcome="failed", request="sha256:1")
    made = run_of("one", "a", 1, True)
    for runs in ([failed, made], [made, failed]):
        cell = Cell("q.json", "one", "a", runs)
        assert (cell.runs, cell.many, cell.failed) == ((made,), 1, 0)
    assert [one.number for one in Cell("q.json", "one", "a", [run_of("one", "a", 2, True), made]).runs] == [1, 2]


def test_a_column_is_under_a_share_by_parsing_or_by_expectations_and_where_nothing_came() -> None:
    grid = Grid((cell_of("one", "a", True, expected=(False,)), cell_of("one", "b", True), Cell("q.json", "one", "c")))
    assert under(grid, 0.5) == ("a", "c")
    assert under(grid, 0.0) == ("c",)
