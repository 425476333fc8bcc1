"""`workbench capture`: somebody's program, not changed, and what of its calls stands in sessions afterwards."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import pytest

from sessions.file import store
from sessions.model.session import Session
from workbench.__main__ import main
from workbench.cli.commands import capture

PROGRAM = Path(__file__).parents[3] / "support" / "captured_program.py"
LONG_S = 300
PLANTED = ("planted-in-the-environment-1", "planted-in-a-header-2", "planted-as-api-key-3", "planted-outside-4")


@dataclass(frozen=True)
class Ran:
    """A run of the program."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Run:
    """The program under a capture, and the folder of its sessions."""

    captured: Ran
    folder: Path

    def session(self, name: str) -> Session:
        return store.load(self.folder / f"{name}.session.json")


def ran(*command: str, cwd: Path) -> Ran:
    environment = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "OUTER_TOKEN": PLANTED[3]}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=LONG_S)
    return Ran(done.returncode, done.stdout, done.stderr)


def captured(*command: str, cwd: Path, options: tuple[str, ...] = ("-o", "prompts")) -> Ran:
    return ran(sys.executable, "-m", "workbench", "capture", *options, "--", *command, cwd=cwd)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    home = tmp_path_factory.mktemp("project")
    (home / "pyproject.toml").write_text("", encoding="utf-8")
    shutil.copy(PROGRAM, home / "program.py")
    return Run(captured(sys.executable, "program.py", "3", cwd=home), home / "prompts")


@pytest.mark.slow
def test_the_program_says_and_returns_what_it_does_without_a_capture(run: Run) -> None:
    plain = ran(sys.executable, "program.py", "3", cwd=run.folder.parent)
    assert (run.captured.code, run.captured.out) == (plain.code, plain.out)
    assert plain.code == 3
    theirs = [line for line in run.captured.err.splitlines() if line in plain.err.splitlines()]
    assert "and this is said to people" in theirs


def test_each_predictor_has_a_session_and_each_distinct_input_a_case(run: Run) -> None:
    cases = {path.name.removesuffix(".session.json"): len(store.load(path).cases) for path in run.folder.iterdir()}
    assert cases == {
        "RAG.respond": 7,
        "Extract": 1,
        "question-answer.react": 2,
        "question-answer.extract": 1,
        "Talk": 1,
        "question-answer": 1,
    }
    names = {one.name for one in run.session("RAG.respond").cases}
    assert {"Capital of Switzerland?", "And without waiting?", "in thread 3?"} <= names


def test_all_that_was_captured_is_a_fixture_that_holds(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(run.folder)]) == 0
    assert "13 passed" in capsys.readouterr().out
    assert "makes or reads otherwise" not in run.captured.err


def test_the_report_goes_to_standard_error(run: Run) -> None:
    assert "workbench capture: 14 calls, 6 sessions in prompts" in run.captured.err
    assert "RAG.respond.session.json: 7 cases, 7 of them new\n" in run.captured.err
    assert "1 of them new; 1 call failed or fell back to JSON" in run.captured.err


def test_a_signature_of_the_project_is_linked_to_its_file(run: Run) -> None:
    link = run.session("Extract").signature.source
    assert link is not None
    assert (link.file, link.class_name) == ("../program.py", "Extract")
    assert "class Item(pydantic.BaseModel)" in run.session("Extract").signature.text


def test_one_that_was_made_while_the_program_ran_is_written_out(run: Run) -> None:
    assert run.session("RAG.respond").signature.predictor == "ChainOfThought"
    agent = run.session("question-answer.react").signature.read()
    assert "weather" in agent.instructions
    assert list(agent.output_fields) == ["next_thought", "next_tool_name", "next_tool_args"]


def test_demos_history_model_and_parameters_come_along(run: Run) -> None:
    extract = run.session("Extract")
    assert extract.demos[0].values["invoice"]["items"] == [{"name": "pen", "price": 1.0, "count": 1}]
    assert extract.model == "openai/gpt-4o-mini"
    assert dict(extract.params) == {"temperature": 0.5, "max_tokens": 1000}
    (case,) = run.session("Talk").cases
    assert [dict(turn) for turn in case.history] == [{"question": "hi", "answer": "hello"}]


def test_what_dspy_read_is_recorded_with_its_types(run: Run) -> None:
    recording = run.session("Extract").cases[0].recordings["chat"]
    reading = recording.attempts[0].completions[0].reading
    assert reading is not None
    assert reading.values["sure"] is True
    invoice = reading.values["invoice"]
    assert invoice["name"] == "Invoice"
    assert invoice["value"]["kind"] == {"$type": "enum", "name": "Kind.OFFICE", "value": "office"}


def test_a_fallback_is_an_attempt_of_its_own(run: Run) -> None:
    recording = run.session("question-answer").cases[0].recordings["chat"]
    assert [(one.adapter, one.role) for one in recording.attempts] == [("chat", "main"), ("json", "fallback")]
    readings = [one.completions[0].reading for one in recording.attempts]
    assert [one.ok for one in readings if one is not None] == [False, True]


def test_no_key_header_or_variable_of_the_environment_is_in_a_file(run: Run) -> None:
    texts = [path.read_text(encoding="utf-8") for path in run.folder.rglob("*") if path.is_file()]
    assert texts
    assert [secret for secret in PLANTED if any(secret in text for text in texts)] == []


@pytest.mark.slow
def test_captured_again_nothing_is_lost_and_nothing_doubled(run: Run) -> None:
    before = {path.name: path.read_bytes() for path in run.folder.iterdir()}
    again = captured(sys.executable, "program.py", cwd=run.folder.parent)
    assert again.code == 0
    assert {path.name: path.read_bytes() for path in run.folder.iterdir()} == before
    assert "RAG.respond.session.json: 7 cases, 0 of them new" in again.err


def test_a_program_that_is_not_there_is_said(tmp_path: Path) -> None:
    done = captured("no-such-program", cwd=tmp_path)
    assert done.code == 2
    assert "no-such-program: no such file or directory; is no-such-program installed here?" in done.err


def test_a_source_file_as_the_program_is_told_how_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("prog.py").write_text("")
    assert main(["capture", "-o", "captured", "prog.py"]) == 2
    assert "prog.py is a source file: write `python prog.py`" in capsys.readouterr().err


def test_a_program_without_dspy_runs_and_has_nothing_to_capture(tmp_path: Path) -> None:
    done = captured(sys.executable, "-c", "print('mine'); raise SystemExit(7)", cwd=tmp_path)
    assert (done.code, done.out) == (7, "mine\n")
    assert "nothing was captured" in done.err


def test_a_program_that_was_killed_ends_as_in_a_shell(tmp_path: Path) -> None:
    done = captured(sys.executable, "-c", "import os; os.kill(os.getpid(), 15)", cwd=tmp_path)
    assert done.code == 128 + 15


KILLED = """
import glob, os, signal, threading
from program import RAG, Scripted, dspy
dspy.configure(lm=Scripted())
RAG()(question="the last words")
for _ in range(6_000):
    if glob.glob("prompts/*.session.json"):
        break
    threading.Event().wait(0.01)
else:
    raise AssertionError("no session was written within a minute")
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
def test_what_a_program_asked_before_it_was_killed_is_there(tmp_path: Path) -> None:
    shutil.copy(PROGRAM, tmp_path / "program.py")
    (tmp_path / "killed.py").write_text(KILLED, encoding="utf-8")
    done = captured(sys.executable, "killed.py", cwd=tmp_path)
    assert done.code == 128 + 9
    (path,) = (tmp_path / "prompts").iterdir()
    assert [one.name for one in store.load(path).cases] == ["the last words"]


ASKED = """
import gc, os, sys, threading, dspy
from dspy.utils import DummyLM
dspy.configure(lm=DummyLM([{"answer": "a"}] * 99))
predict = dspy.Predict("question -> answer")
def ask(*questions):
    for one in questions:
        predict(question=one)
"""
ENDS = {
    "os._exit": "ask(*'abcdefg'); os._exit(0)",
    "SIGKILL": "ask(*'abcdefg'); os.kill(os.getpid(), 9)",
    "a fork": "ask(*'ab'); os.fork() or (ask(*'cde'), os._exit(0)); os.wait(); ask(*'fg')",
    "forks before any call": """
for one in ("abc", "defg"):
    if not os.fork():
        ask(*one)
        os.kill(os.getpid(), 15)
os.wait(), os.wait()
""",
    "a thread": "one = threading.Thread(target=ask, args='abcdefg'); one.start(); one.join(); os._exit(1)",
}
HARSH = ("SIGKILL", "forks before any call")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
@pytest.mark.parametrize(
    "how", [*HARSH, *[pytest.param(one, marks=pytest.mark.slow) for one in ENDS if one not in HARSH]]
)
def test_calls_are_captured_however_their_process_ends(how: str, tmp_path: Path) -> None:
    done = captured(sys.executable, "-c", ASKED + ENDS[how], cwd=tmp_path, options=("-o", "o", "--json", "r.json"))
    assert "workbench capture: 7 calls, 1 session in o" in done.err and "lost" not in done.err
    assert json.loads((tmp_path / "r.json").read_text())["not_captured"] == 0
    (path,) = (tmp_path / "o").iterdir()
    assert sorted(one.name for one in store.load(path).cases) == list("abcdefg")


def test_calls_that_were_made_and_lost_are_counted(tmp_path: Path) -> None:
    """The folder of calls is taken away, as a cleaner of temporary files does."""
    gone = """
import shutil
ask(*"abc")
shutil.rmtree(os.environ["WORKBENCH_CAPTURE"])
"""
    done = captured(sys.executable, "-c", ASKED + gone, cwd=tmp_path, options=("-o", "o"))
    assert "nothing was captured" not in done.err and "the process that writes the sessions has ended" in done.err


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_worker_of_multiprocessing_loses_none_of_its_calls(tmp_path: Path) -> None:
    """It ends without `atexit`, as processes that are forked off do."""
    forked = """
import multiprocessing
context = multiprocessing.get_context("fork")
workers = [context.Process(target=ask, args=(one, one * 2)) for one in "ab"]
[one.start() for one in workers]
[one.join() for one in workers]
"""
    done = captured(sys.executable, "-c", ASKED + forked, cwd=tmp_path)
    assert "workbench capture: 4 calls, 1 session in prompts" in done.err and "lost" not in done.err
    (path,) = (tmp_path / "prompts").iterdir()
    assert sorted(one.name for one in store.load(path).cases) == ["a", "aa", "b", "bb"]


def test_the_programs_own_start_up_module_is_run_too(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import builtins; builtins.MINE = 'mine'\n", encoding="utf-8")
    code = "import sys, sitecustomize; print(MINE, sitecustomize.__file__, any('startup' in one for one in sys.path))"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-m", "workbench", "capture", "-o", "prompts", "--", sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=LONG_S)
    assert done.stdout == f"mine {tmp_path / 'sitecustomize.py'} False\n"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-o", "x"], "expected a program"),
        (["-o", __file__, "--", "python"], "expected a folder"),
        (["-o", "x", "--cases", "0", "--", "python"], "at least 1"),
        (["-o", "x", "--sample", "2", "--", "python"], "a share above 0"),
        (["--", "python"], "-o/--out"),
        (["--check", ".", "--live", "--", "python"], "--live requires -o"),
        (["-o", "x", "--live", "--", "python"], "--live requires a terminal"),
        (["-o", "x", "--live", "--json", "r.json"], "--json: expected a program; `--live` alone only shows calls"),
        (["-o", "x", "--live", "--cases", "3", "--only", "failures"], "--cases, --only: expected a program"),
        (["-o", "x", "--live", "--sample", "0.5", "--redact", "a"], "--redact, --sample: expected a program"),
    ],
)
def test_what_cannot_be_meant_is_said_in_a_line(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["capture", *options]) == 2
    assert said in capsys.readouterr().err


def test_ctrl_c_still_belongs_to_the_program_while_its_kept_output_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    handled: list[object] = []
    copy = shutil.copyfileobj

    def copy_slowly(file: BinaryIO, stream: BinaryIO) -> None:
        handled.append(signal.getsignal(signal.SIGINT))
        copy(file, stream)

    monkeypatch.setattr(shutil, "copyfileobj", copy_slowly)
    before = signal.getsignal(signal.SIGINT)
    program = [sys.executable, "-c", "print('all of it')"]
    assert capture._run(program, os.environ, tmp_path, tmp_path / "calls", lambda *shown: 0) == 0
    assert handled == [signal.SIG_IGN, signal.SIG_IGN]
    assert signal.getsignal(signal.SIGINT) is before
    assert b"all of it" in capfdbinary.readouterr().out
