"""A bench that is killed in the middle goes on where it stood: no run lost, none twice."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sessions.bench import results
from sessions.file import store
from sessions.model.session import Case, Column, Session, SignatureText
from tests.support.bench_lines import key_of, runs_in, unread_in

ROOT = Path(__file__).parents[3]


def a_session(path: Path) -> Path:
    """Two cases under three columns; gives where its results go."""
    cases = tuple([Case(name, {"question": name}) for name in ("one", "two")])
    columns = tuple([Column(name, name) for name in ("chat", "json", "xml")])
    store.save(Session(SignatureText("question -> answer"), cases=cases, columns=columns), path)
    return results.path_beside(path)


@pytest.mark.parametrize("kills", [4, pytest.param(500, marks=pytest.mark.slow)])
def test_killed_in_the_middle_no_run_is_lost_and_none_is_made_twice(kills: int, tmp_path: Path) -> None:
    path = tmp_path / "q.session.json"
    held = a_session(path)
    words = [sys.executable, str(ROOT / "tests" / "support" / "bench_kills.py"), str(path), str(kills), "7"]
    done = subprocess.run(words, capture_output=True, timeout=600, cwd=ROOT, text=True)
    assert done.returncode == 0, done.stderr
    assert all("not valid JSON" in one for one in unread_in(held))
    found = runs_in(held)
    keys = [key_of(one) for one in found]
    assert len(set(keys)) == len(keys), "a run was made twice"
    told = {tuple(json.loads(line)) for line in done.stdout.splitlines()}
    assert told <= set(keys), "a run that was told of is not in the file"
    last = max(one.series for one in found)
    wanted = {
        (case, column, number)
        for case in ("one", "two")
        for column in ("chat", "json", "xml")
        for number in range(1, 7)
    }
    for series in range(1, last + 1):
        assert {(one.case, one.column, one.number) for one in found if one.series == series} == wanted
    assert all(one.outcome == "parsed" for one in found)


def test_a_run_that_is_half_written_is_made_again(tmp_path: Path) -> None:
    from workbench.bench.planning import Target, plan

    path = tmp_path / "q.session.json"
    held = a_session(path)
    session = store.load(path)
    target = Target(str(path), session, session.columns, session.cases)
    first = plan([target], 1).first[0]
    line = results.written(
        results.BenchRun(case="one", column="chat", number=1, outcome="parsed", request=first.request)
    )
    held.write_bytes(line[:-20])
    assert plan([target], 1).open_count == 6
    held.write_bytes(line)
    assert plan([target], 1).open_count == 5
    failed = replace(runs_in(held)[0], outcome="failed")
    held.write_bytes(results.written(failed))
    assert plan([target], 1).open_count == 6
