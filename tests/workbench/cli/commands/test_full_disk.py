"""Whatever a command writes: a disk that takes no more leaves the old file, exit code 2 and one line."""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.workbench.conftest import Run
from workbench.output import exit_codes

ROOM = 10
"""Bytes that a file may have: less than any of these files."""


OLD = b"what was there before\n"


@contextmanager
def full_disk() -> Iterator[None]:
    """No file of this process grows beyond `ROOM` bytes, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    said = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, said)


@pytest.mark.parametrize(
    "words",
    [
        "export q.json --as dspy -o OUT",
        "export q.json --as page -o OUT",
        "check q.json --html OUT",
        "check q.json --junit OUT",
        "check q.json --markdown OUT",
        "bench q.json --no-send --html OUT",
        "bench q.json --no-send --markdown OUT",
        "bench q.json --no-send --junit OUT",
        "stress q.json --html OUT",
        "capture -o prompts --json OUT -- true",
        "new question->reply -o OUT --force",
        "--screenshot OUT",
    ],
)
def test_the_old_file_stays(words: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    assert run("new", "question -> answer: float", "-o", "q.json", "--input", "question=x").code == exit_codes.OK
    assert run("send", "q.json", "--save").code == exit_codes.OK
    assert run("bench", "q.json").code == exit_codes.OK
    Path("OUT").write_bytes(OLD)
    names = sorted(one.name for one in Path().iterdir())
    with full_disk():
        done = run(*words.split(" "))
    assert done.code == exit_codes.USAGE, done.err
    assert Path("OUT").read_bytes() == OLD
    said = [line for line in done.err.splitlines() if "OUT" in line]
    assert len(said) == 1, done.err
    assert "file too large" in said[0].lower() and "the file is as it was" in said[0]
    assert "Traceback" not in done.err
    assert sorted(one.name for one in Path().iterdir()) == names


def test_a_session_that_merge_or_pull_cannot_write_stays(run: Run) -> None:
    program = Path("prog.py")
    program.write_text('import dspy\n\n\nclass QA(dspy.Signature):\n    """Old."""\n\n    q = dspy.InputField()\n')
    program.write_text(program.read_text() + "    a = dspy.OutputField()\n")
    assert run("new", "prog.py:QA", "-o", "linked.json").code == exit_codes.OK
    program.write_text(program.read_text().replace("Old.", "New."))
    assert run("new", "q -> a", "-o", "base.json", "--input", "q=x").code == exit_codes.OK
    base = Path("base.json").read_text()
    Path("ours.json").write_text(base)
    Path("theirs.json").write_text(base.replace('"x"', '"y"'))
    for words, file in (("merge base.json ours.json theirs.json", "ours.json"), ("pull linked.json", "linked.json")):
        before = Path(file).read_bytes()
        with full_disk():
            done = run(*words.split(" "))
        assert done.code == exit_codes.USAGE, (words, done.err)
        assert Path(file).read_bytes() == before
        assert len(done.err.splitlines()) == 1 and "file too large" in done.err.lower()
        assert run(*words.split(" ")).code == exit_codes.OK
        assert Path(file).read_bytes() != before
