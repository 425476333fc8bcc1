"""`workbench capture --check`: what a program asks today against the sessions captured from it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pytest

from sessions.checking import checking
from sessions.file import store
from sessions.model.replies import Reply
from sessions.model.session import Case, Column, Session, SignatureText
from sessions.running import recording
from workbench.capture.calls_check import compare
from workbench.output import exit_codes

SUPPORT = Path(__file__).parents[3] / "support"
PROGRAM = """import sys
import dspy
from scripted_dspy import Scripted, chat

def ask(name, **values):
    parts = ["what to ", "ask"]
    signature = dspy.Signature("question -> answer").with_updated_fields("question", desc="".join(parts))
    made = dspy.Predict(signature)
    made.demos = [dspy.Example(question="1+1?", answer="2")]
    made(**values)

def tell():
    dspy.Predict("topic -> story")(topic="frogs")

with dspy.context(lm=Scripted(lambda text: chat(answer="fine", story="fine"))):
    ask("x", question="Why?")
    tell()
sys.exit(0)
"""
DYNAMIC = "question-answer.session.json"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("project")
    (home / "pyproject.toml").touch()
    (home / "program.py").write_text(PROGRAM)
    done = captured(home, "-o", "prompts")
    assert done.returncode == 0, done.stderr
    assert {one.name for one in (home / "prompts").iterdir()} == {DYNAMIC, "topic-story.session.json"}
    return home


def captured(home: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "workbench", "capture", *options, "--", sys.executable, "program.py"]
    environment = {**os.environ, "PYTHONPATH": str(SUPPORT), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    return subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, timeout=300)


def contents(home: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in (home / "prompts").iterdir()}


def test_changes_that_no_source_shows_fail_and_nothing_is_written(home: Path) -> None:
    before = contents(home)
    done = captured(home, "--check", "prompts")
    assert (done.returncode, "2 passed" in done.stderr) == (0, True), done.stderr
    changed = PROGRAM.replace('"what to "', '"whatever to "').replace('answer="2"', 'answer="two"')
    (home / "program.py").write_text(changed)
    done = captured(home, "--check", "prompts", "--junit", "report.xml", "--json", "report.json")
    assert done.returncode == exit_codes.DIFFERENT
    assert "whatever to ask" in done.stderr
    report = json.loads((home / "report.json").read_text())["check"]
    assert {one["path"] for one in report["fixtures"] if "drift" in one["verdicts"].values()} == {f"prompts/{DYNAMIC}"}
    assert (len(report["causes"]), report["new"], report["gone"]) == (2, [], [])
    assert len(ElementTree.parse(home / "report.xml").getroot().findall(".//failure")) == 1
    assert contents(home) == before


def test_another_adapter_is_one_cause(home: Path) -> None:
    changed = PROGRAM.replace('story="fine"))', 'story="fine")), adapter=dspy.XMLAdapter()')
    assert changed != PROGRAM
    (home / "program.py").write_text(changed)
    done = captured(home, "--check", "prompts", "--json", "report.json")
    (cause,) = json.loads((home / "report.json").read_text())["check"]["causes"]
    assert cause["words"] == "the adapter or its options changed: “chat” → “xml”"
    assert "the adapter was chat and is xml" in done.stderr


def test_new_predictors_and_those_that_are_no_longer_asked_fail(home: Path) -> None:
    (home / "program.py").write_text(PROGRAM.replace("topic", "place"))
    done = captured(home, "--check", "prompts")
    assert done.returncode == exit_codes.DIFFERENT
    assert "place-story.session.json: no session has this predictor" in done.stderr
    assert "topic-story.session.json: the program did not ask this predictor" in done.stderr


def test_a_recorded_column_that_is_no_longer_asked_fails(tmp_path: Path) -> None:
    columns = (Column("json", "json"), Column("xml", "xml"))
    replies = {"json": Reply('{"answer": "A"}', source="pasted"), "xml": Reply("<answer>A</answer>", source="pasted")}
    case = Case("case", {"question": "Q?"}, replies=replies)
    before = Session(SignatureText("question -> answer"), (), columns, (case,), name="one")
    for column in columns:
        before = recording.record(before, before.cases[0], column)
    for folder, kept in (("old", columns), ("now", columns[:1])):
        (tmp_path / folder).mkdir()
        store.save(replace(before, columns=kept), tmp_path / folder / "one.session.json")
    compared = compare(tmp_path / "old", tmp_path / "now")
    assert compared.failed
    (lost,) = [one for one in compared.results if one.column == columns[1].id]
    assert [one.message for one in lost.drift] == [checking.NO_COLUMN]


def test_the_programs_own_failure_and_a_folder_that_is_missing_are_reported(home: Path) -> None:
    (home / "program.py").write_text(PROGRAM.replace("sys.exit(0)", "sys.exit(7)"))
    assert captured(home, "--check", "prompts").returncode == 7
    assert captured(home, "--check", "nowhere").returncode == exit_codes.USAGE
    assert captured(home, "-o", "prompts", "--junit", "report.xml").returncode == exit_codes.USAGE
