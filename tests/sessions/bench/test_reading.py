"""Results are read as totals: memory does not grow with repeats, and texts are read again when they are shown."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest

from sessions.bench import reading, results
from sessions.bench.grid import latest
from sessions.bench.reading import Results
from sessions.errors import SessionError
from sessions.model.replies import Answer, Measured
from tests.sessions.bench.test_grid import run_of
from tests.support.bench_lines import results_of


def lines_of(path: Path, repeats: int) -> Path:
    """Two cells with these repeats, each with values, flags, failures and a reply of 1,000 characters."""
    with path.open("wb") as file:
        for number in range(1, repeats + 1):
            for column in ("chat", "json"):
                run = run_of(
                    *("one", column, number, number % 3 > 0, number % 2 > 0),
                    reply=Answer(text=f"{number} " * 200),
                    values={"answer": f"yes {number}"},
                    flags=("json-repaired",),
                    failures=(f"answer: expected {number}",),
                )
                file.write(results.written(run))
    return path


def peak_of(path: Path) -> int:
    """The least peak of two readings: a table of the whole process, such as of interned texts, grows in one of them."""
    return min(peak_of_one(path) for _ in range(2))


def peak_of_one(path: Path) -> int:
    tracemalloc.start()
    try:
        grid = latest(Results("q.json", [path]))
        assert [one.share("good") is not None for one in grid.columns] == [True, True]
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_repeat_takes_a_few_bytes_of_memory(tmp_path: Path) -> None:
    few, many = [lines_of(tmp_path / f"{count}.bench.jsonl", count) for count in (300, 1_300)]
    peak_of(few)  # imports and caches
    grown = (peak_of(many) - peak_of(few)) / (2 * 1_000)
    assert grown < 60, "bytes a run; a line has 1,500"


def test_texts_are_read_from_the_file_when_they_are_shown(tmp_path: Path) -> None:
    path = lines_of(tmp_path / "q.bench.jsonl", 5)
    (cell, _) = latest(Results("q.json", [path])).cells
    assert [one.number for one in cell.runs] == [1, 2, 3, 4, 5]
    assert cell.runs[4].reply == Answer(text="5 " * 200)
    path.write_bytes(b"")
    with pytest.raises(SessionError, match="a run that was read before: incomplete"):
        _ = cell.runs
    path.unlink()
    with pytest.raises(SessionError, match="cannot be read"):
        _ = cell.runs


def test_a_cell_is_the_same_whether_its_lines_are_in_a_file_or_in_parts(tmp_path: Path) -> None:
    runs = [run_of("one", "a", number, number > 2, measured=(Measured(duration_ms=number),)) for number in range(1, 6)]
    whole = latest(results_of(tmp_path / "q.bench.jsonl", runs)).cells[0]
    results_of(tmp_path / "q.1-of-3.bench.jsonl", runs[::3])
    results_of(tmp_path / "q.2-of-3.bench.jsonl", runs[1::3])
    results_of(tmp_path / "q.3-of-3.bench.jsonl", [*runs[2::3], runs[0]])
    joined = reading.join(tmp_path / "q.json", tmp_path)
    cell = latest(joined.results).cells[0]
    assert joined.missing == ()
    assert cell.runs == whole.runs == tuple(runs)
    assert (cell.many, cell.parsed, cell.median_ms, cell.causes) == (5, 3, 3.0, whole.causes)


def test_a_failed_run_gives_way_to_its_repetition_in_every_total(tmp_path: Path) -> None:
    failed = replace(run_of("one", "a", 1, True), outcome="failed", error="busy", retries=6, measured=())
    cell = latest(results_of(tmp_path / "q.bench.jsonl", [failed, failed, run_of("one", "a", 2, True)])).cells[0]
    assert (cell.many, cell.failed, cell.retries, cell.reason("failed")) == (2, 1, 6, "busy")
    found = results_of(tmp_path / "q.bench.jsonl", [run_of("one", "a", 1, False), failed])
    cell = latest(found).cells[0]
    assert (cell.many, cell.failed, cell.retries, cell.reason("failed")) == (2, 0, 0, "")
    assert [one.outcome for one in cell.runs] == ["refused", "parsed"]


def test_numbers_of_any_size_are_told_apart(tmp_path: Path) -> None:
    numbers = [3, 10**12, -4, 3, 0, 10**12, 10**6, 10**30]
    cell = latest(results_of(tmp_path / "q.bench.jsonl", [run_of("one", "a", one, True) for one in numbers])).cells[0]
    assert [one.number for one in cell.runs] == [-4, 0, 3, 10**6, 10**12, 10**30]
    assert cell.has(10**12) and not cell.has(10**12 + 1) and not cell.has(2)


def test_the_highest_number_of_runs_below_0_is_0(tmp_path: Path) -> None:
    cell = latest(results_of(tmp_path / "q.bench.jsonl", [run_of("one", "a", -4, True)])).cells[0]
    assert (cell.highest, [one.number for one in cell.runs]) == (0, [-4])
