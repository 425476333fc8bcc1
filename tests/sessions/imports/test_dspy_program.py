"""dspy's saved programs: what dspy saved is what a session renders, and what it did not save is asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import dspy
import pytest

from sessions.errors import SessionError
from sessions.file import store
from sessions.imports import merging, proposing, sources
from sessions.imports.reading import KEPT
from sessions.model.session import Session, SignatureText
from sessions.running import rendering

SOURCE = '''
import dspy
class Grade(dspy.Signature):
    """Grade the essay."""
    essay: str = dspy.InputField(desc="what was handed in")
    rubric: list[str] = dspy.InputField()
    score: float = dspy.OutputField(desc="0 to 1")
'''


class Grade(dspy.Signature):
    """Grade the essay."""

    essay: str = dspy.InputField(desc="what was handed in")
    rubric: list[str] = dspy.InputField()
    score: float = dspy.OutputField(desc="0 to 1")


def saved(program: Any, folder: Path) -> str:
    program.save(folder / "program.json")
    return str(folder / "program.json")


def with_demos(predictor: Any) -> Any:
    predictor.demos = [
        dspy.Example(essay="Cats.", rubric=["short"], score=0.5, augmented=True),
        {"essay": "Dogs.", "rubric": [], "score": 1.0},
    ]
    return predictor


def test_with_its_signature_a_program_renders_what_dspy_renders(tmp_path: Path) -> None:
    program = with_demos(dspy.Predict(Grade))
    program.signature = program.signature.with_instructions("Grade it twice.").with_updated_fields("essay", desc="Text")
    made = sources.load(saved(program, tmp_path), given=SignatureText(SOURCE, "Grade"))
    assert made.questions == ()
    session = made.session
    assert session.demos[0].extra == {KEPT: {"augmented": True}}
    inputs = {"essay": "Birds.", "rubric": ["long"]}
    signature = session.signature.read()
    ours = rendering.adapter_of(session.columns[0]).format(signature, rendering.demos_of(session), inputs)
    assert ours == dspy.ChatAdapter().format(program.signature, program.demos, inputs)


def test_unchanged_words_leave_the_users_source_as_it_is(tmp_path: Path) -> None:
    made = sources.load(saved(dspy.Predict(Grade), tmp_path), given=SignatureText(SOURCE, "Grade"))
    assert made.session.signature == SignatureText(SOURCE, "Grade")
    assert made.questions == ()


@pytest.mark.parametrize("instructions", [None, "Grade it twice."])
def test_an_optimised_chain_of_thought_is_one_again_with_the_reasoning_of_its_demos(
    instructions: str | None, tmp_path: Path
) -> None:
    program = dspy.ChainOfThought(Grade)
    predictor = program.predict
    predictor.demos = [dspy.Example(essay="Cats.", rubric=["short"], reasoning="Too short.", score=0.5, augmented=True)]
    predictor.signature = predictor.signature.with_updated_fields("essay", desc="Text")
    if instructions is not None:
        predictor.signature = predictor.signature.with_instructions(instructions)
    made = sources.load(saved(program, tmp_path), given=SignatureText(SOURCE, "Grade"))
    assert made.questions == ()
    assert proposing.SAID in made.notes
    session = made.session
    assert session.signature.predictor == "ChainOfThought"
    assert session.demos[0].values["reasoning"] == "Too short."
    inputs = {"essay": "Birds.", "rubric": ["long"]}
    signature = session.signature.read()
    ours = rendering.adapter_of(session.columns[0]).format(signature, rendering.demos_of(session), inputs)
    assert ours == dspy.ChatAdapter().format(predictor.signature, predictor.demos, inputs)


def test_without_a_signature_names_come_from_demos_and_types_from_their_values(tmp_path: Path) -> None:
    made = sources.load(saved(with_demos(dspy.Predict(Grade)), tmp_path))
    fields = made.session.signature.read().fields
    assert {name: (one.role, one.annotation, one.description) for name, one in fields.items()} == {
        "essay": ("input", str, "what was handed in"),
        "rubric": ("input", list[str], ""),
        "score": ("output", float, "0 to 1"),
    }
    assert made.questions == ("the file does not say which fields are outputs: `score` is proposed",)


def test_dspys_default_sentence_says_names_and_roles_for_sure(tmp_path: Path) -> None:
    made = sources.load(saved(dspy.ChainOfThought("question, context -> answer, source"), tmp_path))
    assert made.session.signature.text == "question, context -> reasoning, answer, source"
    assert made.questions == ()


def test_a_name_that_only_its_prefix_suggests_is_a_question(tmp_path: Path) -> None:
    made = sources.load(saved(dspy.Predict(Grade), tmp_path))
    assert list(made.session.signature.read().fields) == ["essay", "rubric", "score"]
    assert [one for one in made.questions if "'Essay:'" in one and "by its prefix alone" in one]


def test_fields_in_another_order_are_matched_by_name_and_never_swapped(tmp_path: Path) -> None:
    other = SOURCE.replace('    essay: str = dspy.InputField(desc="what was handed in")\n', "").replace(
        "    rubric: list[str] = dspy.InputField()\n",
        "    rubric: list[str] = dspy.InputField()\n    essay: str = dspy.InputField()\n",
    )
    made = sources.load(saved(with_demos(dspy.Predict(Grade)), tmp_path), given=SignatureText(other, "Grade"))
    fields = made.session.signature.read().fields
    assert fields["essay"].description == "what was handed in"
    assert fields["rubric"].description == ""
    assert any("matched by name" in one for one in made.questions)


def test_a_field_that_fits_none_is_asked(tmp_path: Path) -> None:
    given = SignatureText("essay, rubric: list[str] -> grade: float")
    made = sources.load(saved(with_demos(dspy.Predict(Grade)), tmp_path), given=given)
    assert any("'Score:' is taken as the field `grade`, only because of its place" in one for one in made.questions)
    assert any("keys that are not fields" in one and "`score`" in one for one in made.questions)
    assert made.session.demos[1].extra == {KEPT: {"score": 1.0}}


def test_one_of_several_predictors_is_chosen_by_its_path(tmp_path: Path) -> None:
    class Two(dspy.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.ask = dspy.Predict("question -> query")
            self.steps = [dspy.ChainOfThought("query -> answer")]

    path = saved(Two(), tmp_path)
    with pytest.raises(SessionError, match=r"which of its predictors\?.*ask, steps\[0\]\.predict"):
        sources.load(path)
    made = sources.load(path, predictor="steps[0].predict")
    assert made.session.signature.text == "query -> reasoning, answer"


def test_the_model_is_taken_without_where_to_send_it_and_without_secrets(tmp_path: Path) -> None:
    predictor = dspy.Predict("question -> answer")
    predictor.set_lm(dspy.LM("openai/gpt-6-luna", temperature=0.5, api_base="http://evil.example/v1"))
    path = saved(predictor, tmp_path)
    data = json.loads(Path(path).read_text())
    data["lm"]["api_base"] = "http://evil.example/v1"
    data["lm"]["headers"] = {"Authorization": "Bearer 1234567890abcdefghij"}
    Path(path).write_text(json.dumps(data))
    made = sources.load(path)
    assert (made.session.model, dict(made.session.params)) == ("openai/gpt-6-luna", {"temperature": 0.5})
    text = store.dumps(made.session)
    assert "1234567890abcdefghij" not in text
    assert any("api_base" in one for one in made.notes)


def test_what_has_no_place_in_a_session_is_kept(tmp_path: Path) -> None:
    made = sources.load(saved(dspy.Predict("question -> answer"), tmp_path))
    kept = made.session.extra[KEPT]
    assert kept["metadata"]["dependency_versions"]["dspy"] == dspy.__version__
    assert {"traces", "train", "lm"} <= set(kept)
    assert store.loads(store.dumps(made.session)) == made.session


@pytest.mark.parametrize("key", ["extended_signature", "signature"])
def test_programs_of_old_versions_are_read(tmp_path: Path, key: str) -> None:
    fields = [{"prefix": "Question:", "description": "${question}"}, {"prefix": "Answer:", "description": "${answer}"}]
    state = {
        "demos": [],
        key: {"instructions": "Given the fields `question`, produce the fields `answer`.", "fields": fields},
    }
    (tmp_path / "old.json").write_text(json.dumps(state))
    assert sources.load(str(tmp_path / "old.json")).session.signature.text == "question -> answer"


def test_a_program_saved_whole_and_a_pickle_are_refused_unread(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    dspy.Predict("question -> answer").save(whole, save_program=True)
    dspy.Predict("question -> answer").save(tmp_path / "state.pkl")
    (tmp_path / "disguised.json").write_bytes((tmp_path / "state.pkl").read_bytes())
    for name in ("whole", "state.pkl", "disguised.json"):
        with pytest.raises(
            SessionError, match=r"not read because unpickling runs the code in it.*program\.save\('program\.json'\)"
        ):
            sources.load(str(tmp_path / name))


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({"demos": [3], "signature": {"fields": []}}, r"demos\[0\]: expected an object"),
        ({"demos": [], "signature": {"instructions": 3, "fields": []}}, "expected instructions"),
        ({"demos": [], "signature": {"instructions": "", "fields": [{"prefix": 3}]}}, r"fields\[0\]"),
        ({"demos": [], "signature_instructions": "x", "signature_prefix": "Answer:"}, "give the signature"),
        (
            {"demos": [], "signature": {"instructions": "", "fields": [{"prefix": "A:", "description": ""}] * 2}},
            "the same name",
        ),
    ],
)
def test_a_wrong_program_names_its_place(tmp_path: Path, state: Any, said: str) -> None:
    (tmp_path / "x.json").write_text(json.dumps(state))
    with pytest.raises(SessionError, match=said):
        sources.load(str(tmp_path / "x.json"), "program")


def test_what_two_programs_say_beside_a_session_is_kept_of_both(tmp_path: Path) -> None:
    made = [sources.load(saved(dspy.Predict("question -> answer"), tmp_path)) for _ in range(3)]
    session = made[0].session
    for one in made[1:]:
        session = merging.merged(session, one).session
    assert session.extra[KEPT] == [one.session.extra[KEPT] for one in made]


def test_a_model_of_a_class_of_ones_own_is_not_imported(tmp_path: Path) -> None:
    path = Path(saved(dspy.Predict("question -> answer"), tmp_path))
    path.write_text(json.dumps({**json.loads(path.read_text()), "lm": {"model": "m", "_dspy_lm_class": "my.LM"}}))
    imported = sources.load(str(path))
    assert imported.session.model == Session.model
    assert "its model is of the class 'my.LM', which is not imported" in imported.notes
