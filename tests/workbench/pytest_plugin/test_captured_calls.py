"""`pytest --workbench-capture DIR` and the fixture, in somebody's project."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sessions.file import store

SUPPORT = Path(__file__).parents[2] / "support"
TESTS = """
import dspy, pytest
from scripted_dspy import Scripted, chat

@pytest.mark.parametrize("number", range(4))
def test_asks(number):
    with dspy.context(lm=Scripted(lambda text: chat(answer="fine"))):
        assert dspy.Predict("question -> answer")(question=f"number {number}").answer == "fine"
"""
BY_ITSELF = """
import dspy
from scripted_dspy import Scripted, chat

def test_asks(workbench_capture):
    with dspy.context(lm=Scripted(lambda text: chat(answer="fine"))):
        ask = dspy.Predict("question -> answer")
        ask(question="before")
        with workbench_capture("prompts"):
            ask(question="within")
"""


def run_pytest(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    environment = {**os.environ, "PYTHONPATH": str(SUPPORT), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [(), pytest.param(("-n", "2"), marks=pytest.mark.slow)], ids=["alone", "with two workers"]
)
def test_the_calls_of_a_suite_become_sessions(options: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "test_theirs.py").write_text(TESTS, encoding="utf-8")
    done = run_pytest(tmp_path, "--workbench-capture", "prompts", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    session = store.load(tmp_path / "prompts" / "question-answer.session.json")
    assert {one.name for one in session.cases} == {f"number {number}" for number in range(4)}
    assert "workbench capture: 4 calls, 1 session in" in done.stdout


@pytest.mark.slow
def test_the_fixture_captures_a_part_of_a_test(tmp_path: Path) -> None:
    (tmp_path / "test_theirs.py").write_text(BY_ITSELF, encoding="utf-8")
    assert run_pytest(tmp_path).returncode == 0
    session = store.load(tmp_path / "prompts" / "question-answer.session.json")
    assert [one.name for one in session.cases] == ["within"]
