"""The results file: a line a run, whole or not at all, by one bench at a time; what is broken in it is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.bench import reading, results
from sessions.bench.reading import Results
from sessions.bench.results import BenchRun, ResultsFile
from sessions.errors import SessionError
from sessions.model.replies import Answer, Measured
from tests.support.bench_lines import runs_in, unread_in


def run_of(number: int = 1, **more: object) -> BenchRun:
    made = BenchRun(case="rain", column="chat", number=number, outcome="parsed", request="sha256:1")
    return replace(made, **more)  # type: ignore[arg-type]


FULL = run_of(
    3,
    series=2,
    adapter="chat",
    model="openai/gpt-6-luna",
    at="2026-11-22T15:04:05Z",
    reply=Answer(text="[[ ## answer ## ]]\nyes", reasoning="hm", finish_reason="stop"),
    values={"answer": "yes", "when": {"$type": "date", "value": "2026-11-22"}},
    error=None,
    flags=("markers_missing",),
    expected=False,
    failures=("fields.answer.equals: is something else",),
    expectations="sha256:2",
    tokens=412,
    is_estimate=True,
    measured=(Measured(usage={"prompt_tokens": 400}, cost=0.002, duration_ms=812.5),),
)


@pytest.mark.parametrize("run", [run_of(), FULL])
def test_a_run_is_one_line_that_is_read_as_it_was(run: BenchRun, tmp_path: Path) -> None:
    path = tmp_path / "q.bench.jsonl"
    with ResultsFile(path) as file:
        file.append(run)
    assert path.read_bytes().count(b"\n") == 1
    assert runs_in(path) == (run,)
    assert unread_in(path) == ()


@given(text=st.text(st.characters(exclude_categories=())), number=st.integers(1, 10**6))
def test_whatever_a_reply_says_stays_one_line_of_ascii(text: str, number: int) -> None:
    line = results.written(run_of(number, reply=Answer(text=text), values={"answer": text}, error=text))
    assert line.isascii()
    assert line.count(b"\n") == 1
    made = reading._read_line(line, "x", 1)
    assert made.reply is not None
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")  # two halves are one character
    assert made.reply.text.encode("utf-16", "surrogatepass") == joined.encode("utf-16", "surrogatepass")
    assert made.number == number


def test_keys_of_a_later_version_stay(tmp_path: Path) -> None:
    path = tmp_path / "q.bench.jsonl"
    data = {**json.loads(results.written(FULL)), "seed": 7}
    path.write_text(json.dumps(data) + "\n")
    (run,) = runs_in(path)
    assert run.extra == {"seed": 7}
    assert json.loads(results.written(run)) == data


def test_a_line_that_broke_off_is_told_and_the_next_stands_on_a_line_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "q.bench.jsonl"
    path.write_bytes(results.written(run_of(1)) + results.written(run_of(2))[:40])
    assert unread_in(path) == ("line 2: incomplete",)
    with ResultsFile(path) as file:
        file.append(run_of(3))
    assert [one.number for one in runs_in(path)] == [1, 3]
    assert unread_in(path) == ("line 2: not valid JSON",)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{]", "line 1: not valid JSON"),
        ("[1]", "line 1: expected an object, got a list"),
        ('{"case": "a"}', "has no"),
        ('{"case": 1, "column": "c", "number": 1, "outcome": "parsed", "request": ""}', "line 1.case: expected a text"),
        ('{"case": "a", "column": "c", "number": 1.5, "outcome": "parsed", "request": ""}', "expected a whole number"),
        (
            '{"case": "a", "column": "c", "number": 1, "outcome": "won", "request": ""}',
            'expected "parsed" or "refused"',
        ),
        pytest.param("[" * 100_000, "not valid JSON", id="deep"),
        pytest.param("\x00\x1b[2J", "not valid JSON", id="control characters"),
    ],
)
def test_a_line_that_says_something_else_is_named_with_its_place(line: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "q.bench.jsonl"
    path.write_text(line + "\n" + results.written(run_of()).decode())
    assert len(runs_in(path)) == 1
    (unread,) = unread_in(path)
    assert said in unread


def test_thousands_of_bad_lines_are_told_in_one(tmp_path: Path) -> None:
    path = tmp_path / "q.bench.jsonl"
    path.write_text("no\n" * 3000)
    assert Results("q.json", [path]).told.endswith("; and 2,995 more")


def test_there_is_nothing_where_there_is_no_file(tmp_path: Path) -> None:
    assert runs_in(tmp_path / "none.bench.jsonl") == ()


def test_what_is_no_plain_file_is_refused_without_waiting(tmp_path: Path) -> None:
    pipe = tmp_path / "q.bench.jsonl"
    os.mkfifo(pipe)
    for open_it in (lambda: runs_in(pipe), lambda: ResultsFile(pipe).__enter__()):
        with pytest.raises(SessionError, match="not a regular file"):
            open_it()
    with pytest.raises(SessionError, match=r"cannot be written|not a regular file"):
        ResultsFile(tmp_path).__enter__()


def test_a_second_bench_is_kept_out_while_the_first_one_writes(tmp_path: Path) -> None:
    path = tmp_path / "q.bench.jsonl"
    with ResultsFile(path), pytest.raises(SessionError, match="another bench is writing it"):
        ResultsFile(path).__enter__()
    with ResultsFile(path) as file:
        file.append(run_of())


def test_the_lock_goes_with_the_process_that_held_it(tmp_path: Path) -> None:
    path = tmp_path / "q.bench.jsonl"
    words = f"from sessions.bench.results import ResultsFile; import os; ResultsFile({str(path)!r}).__enter__(); "
    subprocess.run([sys.executable, "-c", words + "os.kill(os.getpid(), 9)"], check=False, timeout=60)
    with ResultsFile(path) as file:
        file.append(run_of())


def test_lines_of_many_threads_do_not_run_into_each_other(tmp_path: Path) -> None:
    path = tmp_path / "q.bench.jsonl"
    with ResultsFile(path) as file:
        threads = [
            threading.Thread(target=lambda start=start: [file.append(run_of(start + n)) for n in range(50)])  # type: ignore[misc]
            for start in range(0, 400, 50)
        ]
        for one in threads:
            one.start()
        for one in threads:
            one.join(60)
    assert sorted(one.number for one in runs_in(path)) == list(range(400))
    assert unread_in(path) == ()


def test_a_full_disk_is_one_clear_line_and_no_empty_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    path = tmp_path / "q.bench.jsonl"
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(SessionError) as refused:
        with ResultsFile(path) as file:
            file.append(run_of())
    assert str(refused.value) == (
        f"{path}: cannot be written: no space left on device (make room and run the same command again; it repeats no "
        "run that is in the file)"
    )
    assert not path.exists(), "a bench that wrote nothing leaves nothing"


def test_what_a_run_cost_is_known_or_not_and_offline_is_free() -> None:
    assert FULL.cost == 0.002
    assert FULL.duration_ms == 812.5
    assert run_of(model="openai/x").cost is None
    assert run_of(model="offline/exact").cost == 0.0
    assert run_of(model="openai/x", measured=(Measured(cost=1.0), Measured(cost=None))).cost is None
