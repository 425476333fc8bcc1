"""A fixture with history recorded now, checked against dspy 3.3.1 in an environment of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sessions.file import store
from workbench.output import exit_codes

Run = Callable[..., Any]


@pytest.fixture(scope="module")
def python_with_331(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("dspy331")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    command = [str(python), "-m", "pip", "install", "-q", "--no-compile", "dspy==3.3.1"]
    done = subprocess.run(command, check=False)
    if done.returncode:
        pytest.skip("the package registry cannot be reached")
    return str(python)


@pytest.mark.slow
def test_the_reminder_that_3_4_1_adds_to_history_is_named(python_with_331: str, run: Run) -> None:
    signature = "question, history: dspy.History -> answer, score: int"
    assert run("new", signature, "-o", "q.json", "--input", "question=And tomorrow?").code == 0
    session = store.load("q.json")
    turn = {"question": "Is it raining?", "answer": "yes", "score": 3}
    case = session.cases[0]
    store.save(session.replace_case(type(case)(case.name, case.inputs, history=(turn,))), "q.json")
    assert run("send", "q.json", "--save").code == 0
    before = Path("q.json").read_bytes()
    done = run("check", "q.json", "--dspy-python", python_with_331, "--json")
    assert done.code == exit_codes.DIFFERENT
    for fixture in done.json["fixtures"]:
        assert fixture["verdicts"]["render"] == fixture["verdicts"]["parse"] == "pass"
        assert fixture["verdicts"]["upstream"] == "drift"
        (drift,) = fixture["drift"]
        assert drift["message"] == "against dspy 3.3.1: the reminder of history turn 1 is missing there"
    assert Path("q.json").read_bytes() == before
