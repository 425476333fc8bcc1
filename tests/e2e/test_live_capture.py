"""`workbench capture --live` in a real terminal: a program that is killed, and one that never calls dspy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sessions.file import store
from tests.support.terminal import Terminal

ROOT = str(Path(__file__).parents[2])
KILLED = """
import os, signal, sys
import dspy
from scripted_dspy import Scripted, chat

sys.stdout.buffer.write(b"printed \\xff by the program\\n")
sys.stdout.flush()
dspy.configure(lm=Scripted(lambda text: "no markers" if "second" in text else chat(answer="fine")))
dspy.configure(adapter=dspy.ChatAdapter(use_json_adapter_fallback=False))
ask = dspy.Predict("question -> answer")
ask(question="first")
try:
    ask(question="second")
except Exception:
    os.kill(os.getpid(), signal.SIGKILL)
"""


SERVES = """
import sys
import dspy
from dspy.utils import DummyLM

dspy.configure(lm=DummyLM([{"answer": "yes"}] * 3))
ask = dspy.Predict("question -> answer")
for line in sys.stdin:
    ask(question=line.strip())
    print("answered", flush=True)
"""


def live(folder: Path, program: str) -> Terminal:
    (folder / "program.py").write_text(program)
    return started(folder, "--json", "r.json", "--", sys.executable, "program.py")


def environment(folder: Path) -> dict[str, str]:
    own = {"XDG_STATE_HOME": str(folder / "state"), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    own["PYTHONPATH"] = f"{ROOT}:{ROOT}/tests/support"
    return own


def started(folder: Path, *program: str) -> Terminal:
    words = [sys.executable, "-m", "workbench", "capture", "-o", "prompts", "--live"]
    return Terminal([*words, *program], folder, (120, 35), environment(folder))


@pytest.mark.slow
def test_the_calls_of_a_program_that_is_killed_are_listed_opened_and_kept(tmp_path: Path) -> None:
    with live(tmp_path, KILLED) as terminal:
        terminal.wait_for("ended with -9")
        terminal.wait_for("2 runs")
        terminal.press("enter")
        terminal.wait_for("no markers")
        terminal.press("ctrl+q")
        terminal.wait_for("by the program")
        assert terminal.wait_for_end() == 128 + 9
    (session,) = map(store.load, (tmp_path / "prompts").iterdir())
    assert [one.name for one in session.cases] == ["first", "second"]
    report = json.loads((tmp_path / "r.json").read_text())
    assert (report["processes"][0]["calls"], report["not_captured"]) == (2, 0)


@pytest.mark.slow
def test_a_program_that_fails_at_once_says_why(tmp_path: Path) -> None:
    with live(tmp_path, "import no_such_module") as terminal:
        terminal.wait_for("No module named")
        terminal.press_until("escape", "class of your program")
        terminal.press_until("ctrl+q", "nothing was captured")
        assert terminal.wait_for_end() == 1


@pytest.mark.slow
def test_the_app_attaches_to_a_running_program_and_detaches(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(SERVES)
    words = [sys.executable, "-m", "workbench", "capture", "-o", "prompts", "--", sys.executable, "program.py"]
    running = {**os.environ, **environment(tmp_path)}
    pipe = subprocess.PIPE
    with subprocess.Popen(words, cwd=tmp_path, env=running, stdin=pipe, stdout=pipe, text=True) as program:
        assert program.stdin is not None and program.stdout is not None

        def ask(question: str) -> None:
            program.stdin.write(f"{question}\n")
            program.stdin.flush()
            assert program.stdout.readline() == "answered\n"

        ask("before")
        with started(tmp_path) as terminal:
            terminal.wait_for("attached to prompts")
            terminal.wait_for("Programs that capture into prompts")
            ask("while attached")
            terminal.wait_for("1 run")
            terminal.wait_for("while attached")
            terminal.press("ctrl+q")
            assert terminal.wait_for_end() == 0
        ask("after")
    assert program.returncode == 0
    (session,) = map(store.load, (tmp_path / "prompts").iterdir())
    assert [one.name for one in session.cases] == ["before", "while attached", "after"]
