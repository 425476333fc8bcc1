"""The runs of a results file, as its lines have them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sessions.bench.reading import Results, lines
from sessions.bench.results import BenchRun, ResultsFile


def runs_in(path: Path) -> tuple[BenchRun, ...]:
    return tuple(one for _, one in lines(path) if isinstance(one, BenchRun))


def unread_in(path: Path) -> tuple[str, ...]:
    return tuple(one for _, one in lines(path) if isinstance(one, str))


def key_of(run: BenchRun) -> tuple[int, str, str, str, int]:
    """What makes it that run, in the order of `tests/support/bench_kills.py`."""
    return run.series, run.case, run.column, run.request, run.number


def results_of(path: Path, runs: Iterable[BenchRun]) -> Results:
    with ResultsFile(path) as file:
        for run in runs:
            file.append(run)
    return Results("q.json", [path])
