"""`workbench capture --live` in a real terminal: a program that is killed, and one that never calls dspy."""

from __future__ import annotations

import json
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


def live(folder: Path, program: str) -> Terminal:
    (folder / "program.py").write_text(program)
    own = {"XDG_STATE_HOME": str(folder / "state"), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    own["PYTHONPATH"] = f"{ROOT}:{ROOT}/tests/support"
    words = [sys.executable, "-m", "workbench", "capture", "-o", "prompts", "--json", "r.json", "--live"]
    return Terminal([*words, "--", sys.executable, "program.py"], folder, (120, 35), own)


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
