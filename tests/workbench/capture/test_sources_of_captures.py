"""Captured signatures that no class of their own says: each follows the code that made it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import dspy
import pytest
from scripted_dspy import Scripted, chat

from sessions.checking import checking
from sessions.file import store
from sessions.source.linking import Follower, check_source, why_unlinked
from sessions.source.project import SourceRefusedError
from sessions.source.pull_push import pulled, pushed
from workbench.capture import capture

PROGRAM = '''import dspy
import pydantic
from typing import Literal

class Doc(pydantic.BaseModel):
    title: str = pydantic.Field(description="its title")

class Letter(dspy.Signature):
    """Write a letter."""
    topic: str = dspy.InputField(desc="what about")
    letter: str = dspy.OutputField(desc="the letter")

Short = Letter.with_instructions("Be short.")

def search(query: str) -> str:
    """Look it up."""
    return "found"

class Agent(dspy.Module):
    def __init__(self, given=None):
        super().__init__()
        self.react = dspy.ReAct(Letter, tools=[search])
        self.asked = dspy.ReAct("question -> reply", tools=[search])
        self.inline = dspy.Predict("doc: Doc -> score: int")
        self.tone = dspy.ChainOfThought(Letter.append("tone", dspy.OutputField(desc="its tone")).delete("topic"))
        own = dspy.Signature("left, right -> total: float", "Do it well.")
        self.own = dspy.Predict(own)

        class Inner(dspy.Signature):
            """Inner thing."""
            docs: list[Doc] = dspy.InputField()
            kind: Literal["x", "y"] = dspy.OutputField()

        self.inner = dspy.Predict(Inner)
        self.updated = dspy.Predict(Letter.with_updated_fields("letter", desc="another"))
        self.short = dspy.Predict(Short)
        if given is not None:
            self.given = dspy.Predict(given)

    def forward(self):
        doc = Doc(title="t")
        self.react(topic="t")
        self.asked(question="q")
        self.inline(doc=doc)
        self.tone(topic="t")
        self.own(left="1", right="2")
        self.inner(docs=[doc])
        self.updated(topic="t")
        self.short(topic="t")
        dspy.Predict("last -> thing")(last="x")
'''
CHANGES = {
    ("Write a letter", "Write one letter"): {"Letter.react", "Letter.extract", "tone", "updated"},
    ("question -> reply", "question, hint -> reply"): {"asked.react", "asked.extract"},
    ("score: int", "score: float"): {"inline"},
    ("its tone", "the tone"): {"tone"},
    ("Do it well", "Do it"): {"own"},
    ("Inner thing", "Inner stuff"): {"inner"},
    ('desc="another"', 'desc="the other"'): {"updated"},
    ("Be short", "Be brief"): {"short"},
    ("last -> thing", "last -> things"): {""},
    ("its title", "the title"): {"inline", "inner"},
    ("        self.own =", "        # a comment\n        self.own ="): set(),
}
VALUES = {"next_tool_name": "finish", "next_tool_args": "{}", "score": "1", "total": "1.5", "kind": "x"}
ENDS = ("next_thought", "next_tool_name", "next_tool_args", "reasoning", "letter", "reply", "score", "tone", "total",
        "kind", "thing", "more_text")  # fmt: skip


def answer(text: str) -> str:
    asked = text.rpartition("Respond with")[2]
    return chat(**{name: VALUES.get(name, "text") for name in ENDS if f"[[ ## {name} ## ]]" in asked})


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "guarded_program.py").write_text(PROGRAM)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("guarded_program")
    del sys.modules["guarded_program"]


def kept(folder: Path, program: Any, **given: Any) -> dict[str, Path]:
    agent = program.Agent(**given)
    with dspy.context(lm=Scripted(answer)), capture(folder):
        agent()
        if given:
            agent.given(topic="t")
    return {path.name[: -len(".session.json")].removeprefix("Agent").lstrip("."): path for path in folder.iterdir()}


def test_every_change_of_the_code_that_makes_a_signature_is_noticed_and_no_other(program: Any, folder: Path) -> None:
    sessions = kept(folder, program)
    assert len(sessions) == 11
    assert {why_unlinked(store.load(path)) for path in sessions.values()} == {""}
    for path in sessions.values():
        assert all(one.passed for one in checking.check(store.load(path), path.name))
    for (before, after), meant in CHANGES.items():
        Path(program.__file__).write_text(PROGRAM.replace(before, after, 1))
        follower = Follower()
        found = {name: check_source(store.load(path), folder, follower) for name, path in sessions.items()}
        assert {name for name, one in found.items() if one is None or one.word != "pass"} == meant, after
        for name in meant:
            now = pulled(store.load(sessions[name]), folder, follower).session
            verdict = check_source(now, folder, follower)
            assert verdict is not None
            assert verdict.word == "pass"


def test_a_reacts_inner_signatures_are_dspys_own_to_the_byte(program: Any, folder: Path) -> None:
    sessions = kept(folder, program)
    agent = program.Agent()
    for name, live in (
        ("Letter.react", agent.react.react),
        ("Letter.extract", agent.react.extract.predict),
        ("asked.react", agent.asked.react),
        ("asked.extract", agent.asked.extract.predict),
    ):
        read = store.load(sessions[name]).signature.read()
        assert read.instructions == live.signature.instructions
        assert list(read.fields) == list(live.signature.fields)


def test_a_signature_that_only_the_caller_knows_follows_no_source(program: Any, folder: Path) -> None:
    given = program.Letter.append("more_" + "text", dspy.OutputField(), str)
    sessions = kept(folder, program, given=given)
    (path,) = (path for name, path in sessions.items() if "more_text" in name)
    assert why_unlinked(store.load(path))


def test_an_edit_of_the_class_in_an_agents_session_is_pushed_and_of_other_code_is_rejected(
    program: Any, folder: Path
) -> None:
    sessions = kept(folder, program)
    for name, said in (("Letter.extract", ""), ("inline", "edit it in the program")):
        session = store.load(sessions[name])
        text = session.signature.text.replace('desc="what about"', 'desc="its topic"').replace("score", "points")
        edited = replace(session, signature=replace(session.signature, text=text))
        if said:
            with pytest.raises(SourceRefusedError, match=said):
                pushed(edited, folder)
        else:
            (written,) = pushed(edited, folder).files.values()
            assert written == PROGRAM.replace('desc="what about"', 'desc="its topic"')
