"""Another dspy reads the same broken replies: the one that is our reference says of each what we say."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sessions import examples
from sessions.releases.release import Release
from sessions.stress import grid


@pytest.fixture(scope="module")
def dspy() -> Iterator[Release]:
    with Release(sys.executable) as started:
        yield started


@pytest.mark.parametrize(
    "name", [examples.FIRST, *[pytest.param(one, marks=pytest.mark.slow) for one in examples.NAMES]]
)
def test_the_reference_reads_every_broken_reply_as_we_do(dspy: Release, name: str) -> None:
    session = examples.load(name)
    columns = {one: column for one, column in grid.every_adapter(session).items() if grid.has_parser(one)}
    compared = 0
    for ours in grid.grid_of(session, session.cases[0], columns).columns:
        if ours.good is None:
            continue
        theirs = grid.read_by(dspy, session, ours)
        assert theirs is not None and theirs.id == f"{ours.id}@{dspy.version}", theirs
        assert not theirs.problem
        for mutation, cell in ours.cells.items():
            usual = "silently_wrong" if cell.verdict == "flagged" else cell.verdict
            assert theirs.cells[mutation].verdict == usual, (ours.id, mutation)
            assert theirs.cells[mutation].wrong == cell.wrong
            compared += 1
    assert compared > 100


@pytest.mark.parametrize("name", ["twostep", "markdown"])
def test_what_no_dspy_parses_by_itself_has_no_column(dspy: Release, name: str) -> None:
    session = examples.load(examples.FIRST)
    (ours,) = grid.grid_of(session, session.cases[0], {name: grid.every_adapter(session)[name]}).columns
    assert grid.read_by(dspy, session, ours) is None


def test_a_dspy_that_ends_is_one_line_under_its_column(tmp_path: Path) -> None:
    session = examples.load(examples.FIRST)
    (ours,) = grid.grid_of(session, session.cases[0], {"chat": grid.every_adapter(session)["chat"]}).columns
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\necho \'{"dspy": "9.9"}\'\nread question\n')
    python.chmod(0o755)
    with Release(str(python)) as dspy:
        theirs = grid.read_by(dspy, session, ours)
    assert theirs is not None and not theirs.cells
    assert "the process of dspy 9.9 ended" in theirs.problem
