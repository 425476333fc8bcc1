"""Counts what the parity tests compared, and says so at the end of the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from oracle.tally import COMPARED, NOT_COMPARABLE, Record


@pytest.fixture
def record(record_property: Record) -> Record:
    """Where a `Tally` reports to."""
    return record_property


@pytest.fixture(autouse=True)
def quiet_dspy() -> Iterator[None]:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def pytest_terminal_summary(terminalreporter: Any) -> None:
    reports = [one for group in ("passed", "failed") for one in terminalreporter.stats.get(group, [])]
    properties = [pair for report in reports if report.when == "call" for pair in report.user_properties]
    counts: Counter[str] = Counter()
    for name, value in properties:
        if name == COMPARED:
            counts[value[0]] += value[1]
    if not counts:
        return
    terminalreporter.write_sep("=", "compared with dspy 3.4.1")
    for what, count in sorted(counts.items()):
        terminalreporter.write_line(f"{count:8,}  {what}")
    terminalreporter.write_line(f"{sum(counts.values()):8,}  in all")
    for name, value in properties:
        if name == NOT_COMPARABLE:
            terminalreporter.write_line(f"  not comparable: {value[0]} {value[1]}: {value[2]}")
