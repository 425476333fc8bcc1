"""Changes within the classes of a program's types: one drift each, under the name of the class and its field."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from sessions.causes.cause import Cause
from sessions.causes.finding import Causes
from sessions.checking import checking
from sessions.file import store
from sessions.model.session import Case, Column, Session
from sessions.source.linking import Follower, add_source_verdict, check_source, linked
from workbench.__main__ import main
from workbench.checks import github_annotations
from workbench.output import exit_codes

MODELS = '''\
from enum import Enum
from typing import Literal, Optional

from pydantic import BaseModel, Field


class Kind(Enum):
    BUG = "bug"
    IDEA = "idea"


class ReviewFinding(BaseModel):
    """A finding."""

    title: str = Field(description="Concise title")
    severity: Literal["low", "high"] = "low"
    line: Optional[int] = None
    kind: Kind = Kind.BUG


class SlowFinding(ReviewFinding):
    """A slow place."""

    seconds: float = 0.0


class Report(BaseModel):
    findings: list[ReviewFinding]
    summary: str
'''
PROGRAM = '''\
import dspy
from models import Report, ReviewFinding, SlowFinding


class A(dspy.Signature):
    """Review."""

    code: str = dspy.InputField()
    findings: list[ReviewFinding] = dspy.OutputField(desc="found")


class B(dspy.Signature):
    code: str = dspy.InputField()
    report: Report = dspy.OutputField()


class C(dspy.Signature):
    findings: list[ReviewFinding] = dspy.InputField()
    verdict: str = dspy.OutputField()


class D(dspy.Signature):
    code: str = dspy.InputField()
    best: ReviewFinding = dspy.OutputField()


class E(dspy.Signature):
    code: str = dspy.InputField()
    by_name: dict[str, ReviewFinding] = dspy.OutputField()
    slow: list[SlowFinding] = dspy.OutputField()
'''
IN_ORDER = "    findings: list[ReviewFinding]\n    summary: str\n"


def causes_after(folder: Path, old: str, new: str) -> tuple[Cause, ...]:
    """Links five sessions to a program, changes it, and finds the causes of what a check then says."""
    (folder / "pyproject.toml").touch()
    files = {folder / "models.py": MODELS, folder / "app.py": PROGRAM}
    for file, text in files.items():
        file.write_text(text)
    sessions = [linked(folder / "app.py", name, folder) for name in "ABCDE"]
    for file, text in files.items():
        file.write_text(text.replace(old, new))
    found, follower = Causes(), Follower()
    for signature in sessions:
        session = Session(signature, (), (Column("chat", "chat"),), cases=(Case("first"),))
        path = folder / f"{signature.class_name}.session.json"
        store.save(session, path)
        found.add(add_source_verdict(checking.check(session, str(path)), check_source(session, folder, follower)))
    return found.found()


@pytest.mark.parametrize(
    ("old", "new", "said", "sessions"),
    [
        ("Concise", "Short", "the description of `ReviewFinding.title` has changed: “Concise” → “Short”", 5),
        ("    title:", "    headline:", "`ReviewFinding.title` is now `headline`", 5),
        ("A finding", "One finding", "the docstring of `ReviewFinding` has changed: “A” → “One”", 5),
        ('["low", "high"]', '["low", "high", "top"]',
         "the type of `ReviewFinding.severity` has changed: nothing → “top”", 5),
        ('= "low"', '= "high"', "the default of `ReviewFinding.severity` has changed: “low” → “high”", 5),
        ('"idea"', '"plan"', "the members of `Kind` have changed: “idea” → “plan”", 5),
        ("Optional[int] = None", "int", None, 5),
        ("ReviewFinding", "Finding", "the class `ReviewFinding` is now `Finding`", 5),
        ("    seconds:", "    minutes:", "`SlowFinding.seconds` is now `minutes`", 1),
        ("    summary: str\n", "", "`Report.summary` is gone", 1),
        ("    summary: str\n", "    summary: str\n    score: float\n", "`Report.score` is new", 1),
        (IN_ORDER, "".join(IN_ORDER.splitlines(keepends=True)[::-1]), "the order of the fields of `Report` changed", 1),
        ("    verdict:", "    judgement:", "`verdict` is now `judgement`", 1),
        ("    code:", "    source:", "`code` is now `source`", 4),
        ("    verdict: str", "    judgement: float", None, 1),
        ('desc="found"', 'desc="all found"', "the description of `findings` has changed: nothing → “all”", 1),
    ],
)  # fmt: skip
def test_a_change_is_one_cause_in_all_sessions(
    old: str, new: str, said: str | None, sessions: int, tmp_path: Path
) -> None:
    causes = causes_after(tmp_path, old, new)
    assert {one.key.kind for one in causes} == {"source"} and len(causes) == (1 if said else 2)
    assert said is None or causes[0].words == f"source: {said}"
    assert {len(one.fixtures) for one in causes} == {sessions}


def test_two_changes_of_a_class_are_two_causes(tmp_path: Path) -> None:
    both = 'title: str = Field(description="Concise title")\n    severity: Literal["low", "high"] = "low"'
    causes = causes_after(tmp_path, both, 'title: str\n    severity: Literal["low"] = "low"')
    assert [one.key.name for one in causes] == ["types.ReviewFinding.title", "types.ReviewFinding.severity"]


def test_a_change_in_another_file_is_annotated_at_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(github_annotations.VARIABLE, "true")
    monkeypatch.chdir(tmp_path)
    (command,) = github_annotations.commands(causes_after(tmp_path, "Concise", "Short"), {})
    assert command.startswith("::error file=models.py,line=15,title=source%3A the description of `ReviewFinding.title`")


def test_a_push_tells_which_other_sessions_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    causes_after(tmp_path, "", "")
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "A.session.json"
    session = store.load(path)
    text = session.signature.text.replace("Concise", "Short")
    store.save(replace(session, signature=replace(session.signature, text=text)), path)
    (tmp_path / "broken.session.json").write_text('{"format": 1, "signature"')
    others = [f"{name}.session.json" for name in "BCDE"]
    assert main(["push", "A.session.json"]) == exit_codes.DIFFERENT
    said = capsys.readouterr().out
    assert '+    title: str = Field(description="Short title")' in said
    assert f"0 fixtures of 4 other sessions will differ; then `workbench pull {' '.join(others)}`" in said
    assert main(["push", "A.session.json", "--yes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["others"] == dict.fromkeys(others, 0)
    assert main(["pull", *others]) == 0
    assert capsys.readouterr().out.count("the description of `ReviewFinding.title` has changed") == 4
    assert main(["push", "B.session.json", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["others"] == {}
