"""`program.json` out: what was imported comes out byte for byte, and dspy loads what we write."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import dspy
import pytest
from dspy.experimental import Noul

from sessions.exports.dspy_program import dspy_program
from sessions.exports.exported import ExportError, dspy_json, source_of
from sessions.file import store
from sessions.imports import sources
from sessions.model.session import DEFAULT_COLUMNS, Case, Demo, Session, SignatureText


class Grade(dspy.Signature):
    """Grade the essay."""

    essay: str = dspy.InputField(desc="what was handed in")
    rubric: list[str] = dspy.InputField()
    score: float = dspy.OutputField(desc="0 to 1")


class Two(dspy.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.ask = dspy.Predict("question -> query")
        self.steps = [dspy.ChainOfThought("query -> answer"), dspy.Predict(Grade)]


def graded() -> Any:
    predictor = dspy.Predict(Grade)
    predictor.demos = [
        dspy.Example(augmented=True, essay="Cats é \u2028 \x7f.", rubric=["short"], score=1e-05, dspy_uuid="x"),
        {"essay": "Dogs.", "rubric": [], "score": 1.0, "augmented": False},
        {"essay": None, "score": 1e-7},
    ]
    predictor.traces = [{"a": 1e300}]
    return predictor


class Triage(dspy.Signature):
    """Triage the ticket."""

    ticket: str = dspy.InputField()
    blocked: Noul = dspy.OutputField(desc="Is the user blocked?")
    kind: Literal["bug", "wish"] = dspy.OutputField(desc="What is it?")


def set_decisions() -> Any:
    predictor = dspy.Predict(Triage)
    predictor.fields = {"kind": {"weights": {"bug": 2.5}}, "blocked": {"threshold": 0.8}}
    return predictor


TRIAGE = SignatureText(
    "import dspy\nfrom typing import Literal\nfrom dspy.experimental import Noul\n"
    'class Triage(dspy.Signature):\n    """Triage the ticket."""\n    ticket: str = dspy.InputField()\n'
    '    blocked: Noul = dspy.OutputField(desc="Is the user blocked?")\n'
    '    kind: Literal["bug", "wish"] = dspy.OutputField(desc="What is it?")\n',
    "Triage",
)


def with_model() -> Any:
    predictor = graded()
    predictor.set_lm(dspy.LM("openai/gpt-6-luna", temperature=0.5, max_tokens=None))
    return predictor


PROGRAMS = {
    "a predictor": (graded, None),
    "a predictor with its model": (with_model, None),
    "a chain of thought": (lambda: dspy.ChainOfThought("question -> answer"), None),
    "one of several": (Two, "steps[0].predict"),
    "another of several": (Two, "steps[1]"),
    "one with decisions": (set_decisions, None),
}


def exported(session: Session) -> str:
    return dspy_program(source_of(session, session.columns[:1], session.cases)).text


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_comes_out_as_it_was_byte_for_byte(name: str, tmp_path: Path) -> None:
    make, predictor = PROGRAMS[name]
    path = tmp_path / "program.json"
    make().save(path)
    session = sources.load(str(path), predictor=predictor).session
    kept = store.loads(store.dumps(session))
    assert exported(kept).encode() == path.read_bytes()


def test_with_its_own_signature_too(tmp_path: Path) -> None:
    path = tmp_path / "program.json"
    graded().save(path)
    given = SignatureText(
        "import dspy\nclass Grade(dspy.Signature):\n    essay: str = dspy.InputField()\n"
        "    rubric: list[str] = dspy.InputField()\n    score: float = dspy.OutputField()\n",
        "Grade",
    )
    assert exported(sources.load(str(path), given=given).session).encode() == path.read_bytes()


def test_thresholds_and_weights_come_with_a_program_and_go_with_it(tmp_path: Path) -> None:
    path = tmp_path / "program.json"
    set_decisions().save(path)
    session = sources.load(str(path), given=TRIAGE).session
    assert session.signature.decisions == {"kind": {"weights": {"bug": 2.5}}, "blocked": {"threshold": 0.8}}
    assert exported(session).encode() == path.read_bytes()
    loaded = dspy.Predict(Triage)
    loaded.load(path)
    assert loaded.fields == session.signature.decisions


def test_dspy_loads_what_is_exported(tmp_path: Path) -> None:
    session = Session(
        SignatureText("question, n: int -> answer", instructions="Be brief."),
        (Demo({"question": "q", "n": 1, "answer": "a"}), Demo({"question": "off"}, enabled=False)),
        DEFAULT_COLUMNS,
        (Case("case 1", {"question": "Q?"}),),
        model="openai/gpt-6-luna",
    )
    made = dspy_program(source_of(session, session.columns, session.cases))
    (tmp_path / "program.json").write_text(made.text, encoding="utf-8")
    predictor = dspy.Predict("question, n: int -> answer")
    predictor.load(tmp_path / "program.json")
    assert predictor.signature.instructions == "Be brief."
    assert [dict(one) for one in predictor.demos] == [{"question": "q", "n": 1, "answer": "a"}]
    assert made.left_out[1:] == (
        "demo 2: switched off",
        "the cases",
        "the model openai/gpt-6-luna: set it with `dspy.configure(lm=dspy.LM(...))`, as for every program without one",
    )


def test_dspy_loads_a_chain_of_thought_and_a_demo_with_an_image_shows_it(tmp_path: Path) -> None:
    pixel = "data:image/png;base64,iVBORw0KGgo="
    session = Session(
        SignatureText("picture: dspy.Image -> answer", predictor="ChainOfThought"),
        (Demo({"picture": {"url": pixel}, "reasoning": "r", "answer": "a"}),),
        DEFAULT_COLUMNS,
    )
    (tmp_path / "program.json").write_text(exported(session), encoding="utf-8")
    program = dspy.ChainOfThought("picture: dspy.Image -> answer")
    program.load(tmp_path / "program.json")
    messages = dspy.ChatAdapter().format(program.predict.signature, program.predict.demos, {"picture": "p"})
    assert {"type": "image_url", "image_url": {"url": pixel}} in messages[1]["content"]


def test_a_changed_model_and_changed_words_are_the_only_change(tmp_path: Path) -> None:
    path = tmp_path / "program.json"
    with_model().save(path)
    session = sources.load(str(path)).session
    changed = replace(session, model="openai/gpt-4o", signature=replace(session.signature, instructions="New."))
    before, after = json.loads(path.read_bytes()), json.loads(exported(changed))
    before["lm"]["model"], before["signature"]["instructions"] = "openai/gpt-4o", "New."
    assert after == before


def test_a_lone_surrogate_is_refused() -> None:
    session = Session(SignatureText("a -> b"), (Demo({"a": "\udc80", "b": ""}),), DEFAULT_COLUMNS)
    with pytest.raises(ExportError, match="unpaired surrogate"):
        exported(session)


def test_the_layout_is_that_of_dspys_files() -> None:
    assert dspy_json({"a": [], "b": {}, "c": [1.0, -0.00001, 1e16, 1.5e-7, float("nan"), True, None, '"\n\x1f']}) == (
        '{\n  "a": [],\n  "b": {},\n  "c": [\n    1.0,\n    -0.00001,\n    1e+16,\n    1.5e-7,\n    null,\n    true,\n'
        '    null,\n    "\\"\\n\\u001f"\n  ]\n}\n'
    )
