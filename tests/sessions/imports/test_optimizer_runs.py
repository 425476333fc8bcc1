"""Candidates of GEPA and MIPROv2 become variants with their scores; no pickle is opened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.teleprompt.utils import save_candidate_program
from dspy.utils.dummies import DummyLM

from sessions.errors import SessionError
from sessions.imports import merging, sources
from sessions.model.session import Session, SignatureText, Variant

QA = SignatureText("question -> answer")
BEFORE = QA.read().instructions
PROPOSED = "Answer in one word [/x].\n\nIf you do not know, say unknown."


def test_a_real_run_of_gepa_is_read_from_its_details_and_from_its_log(tmp_path: Path) -> None:
    def metric(gold: Any, pred: Any, trace: Any = None, pred_name: Any = None, pred_trace: Any = None) -> Any:
        right = "one word" in task.history[-1]["messages"][0]["content"]
        return dspy.Prediction(score=1.0 if right else 0.25, feedback="be brief")

    task = DummyLM([{"answer": "yes"}] * 400)

    def propose(candidate: dict[str, str], reflective_dataset: Any, components_to_update: list[str]) -> dict[str, str]:
        return dict.fromkeys(components_to_update, PROPOSED)

    examples = [dspy.Example(question=f"q{n}", answer="yes").with_inputs("question") for n in range(3)]
    optimizer = dspy.GEPA(
        metric=metric,
        max_metric_calls=14,
        instruction_proposer=propose,
        reflection_minibatch_size=2,
        track_stats=True,
        log_dir=str(tmp_path / "log"),
        num_threads=1,
        seed=0,
    )
    with dspy.context(lm=task):
        program = optimizer.compile(dspy.Predict("question -> answer"), trainset=examples, valset=examples)
    details = tmp_path / "gepa.json"
    details.write_text(json.dumps(program.detailed_results.to_dict(), default=str))

    scored = sources.load(str(details), given=QA)
    assert [(one.text, one.score) for one in scored.session.variants] == [(PROPOSED, 1.0)]
    assert "gepa-0 has the instructions of the session, score 0.25" in scored.notes
    for source in (tmp_path / "log", tmp_path / "log" / "candidates.json"):
        (logged,) = sources.load(str(source), given=QA).session.variants
        assert (logged.text, logged.score, logged.original) == (PROPOSED, None, Variant.hash_of(BEFORE))
    with pytest.raises(SessionError, match="pickle"):
        sources.load(str(tmp_path / "log" / "gepa_state.bin"), given=QA)


def program_of(instructions: str, demos: int = 0) -> Any:
    program = dspy.ChainOfThought("question -> answer")
    predictor = program.predict
    predictor.signature = predictor.signature.with_instructions(instructions)
    predictor.demos = [dspy.Example(question=f"q{n}", answer="a") for n in range(demos)]
    return program


def test_programs_that_mipro_logged_are_read_with_the_scores_of_the_trials(tmp_path: Path) -> None:
    tried = {-1: BEFORE, 1: "Be brief.", 2: "Be exact.", 10: "Be brief."}
    paths = {
        number: save_candidate_program(program_of(text, 2), str(tmp_path), number) for number, text in tried.items()
    }
    imported = sources.load(str(tmp_path), given=QA)
    assert [(one.tag, one.text, one.score) for one in imported.session.variants] == [
        ("mipro-1", "Be brief.", None),
        ("mipro-2", "Be exact.", None),
    ]
    assert any("candidate_programs" in note for note in imported.notes)
    assert any("demos are not imported" in note for note in imported.notes)
    trials = {
        "1": {"full_eval_program_path": paths[-1], "full_eval_score": 40.0},
        "2": {"mb_program_path": paths[1], "mb_score": 90.0},
        "3": {"full_eval_program_path": paths[1], "full_eval_score": 55.5},
        "4": {"mb_program_path": paths[2], "mb_score": 30},
        "5": {"full_eval_program_path": paths[10], "full_eval_score": 60.0},
    }
    (tmp_path / "trial_logs.json").write_text(json.dumps(trials))
    scored = sources.load(str(tmp_path), given=QA)
    assert [(one.tag, one.score) for one in scored.session.variants] == [("mipro-1", 60.0), ("mipro-2", 30.0)]
    assert "mipro-start has the instructions of the session, score 40" in scored.notes


def test_candidate_programs_are_read_as_they_are_saved(tmp_path: Path) -> None:
    candidates = [
        {"score": 80.0, "program": program_of("Be brief.")},
        {"score": 20.5, "program": program_of("Be long.")},
    ]
    file = tmp_path / "mipro.json"
    saved = [{"score": one["score"], "program": one["program"].dump_state()} for one in candidates]
    file.write_text(json.dumps(saved, default=str))
    found = sources.load(str(file), given=QA).session.variants
    assert [(one.tag, one.text, one.score) for one in found] == [
        ("mipro-0", "Be brief.", 80.0),
        ("mipro-1", "Be long.", 20.5),
    ]


def run_of(*candidates: dict[str, str], scores: Any = ()) -> str:
    return json.dumps({"candidates": candidates, "val_aggregate_scores": scores})


def load(text: str, tmp_path: Path, **how: Any) -> Any:
    file = tmp_path / "run.json"
    file.write_text(text)
    return sources.load(str(file), **{"given": QA, **how})


def test_of_several_predictors_one_is_named(tmp_path: Path) -> None:
    text = run_of({"plan": "Plan.", "act": "Act."}, {"plan": "Plan.", "act": "Act at once."}, scores=[1, 2])
    with pytest.raises(SessionError, match=r"--predictor plan \| act"):
        load(text, tmp_path)
    with pytest.raises(SessionError, match="there are `plan`, `act`"):
        load(text, tmp_path, predictor="nobody")
    assert [one.text for one in load(text, tmp_path, predictor="act").session.variants] == ["Act.", "Act at once."]
    (plan,) = load(text, tmp_path, predictor="plan").session.variants
    assert (plan.tag, plan.score) == ("gepa-0", 2.0)


def test_a_second_import_adds_nothing_and_a_tag_that_is_taken_gets_a_number(tmp_path: Path) -> None:
    session = Session(QA, variants=(Variant("gepa-0", "instructions", "Mine."),))
    imported = load(run_of({"self": "Theirs."}, scores=[0.5]), tmp_path)
    once = merging.merged(session, imported)
    assert [(one.tag, one.text) for one in once.session.variants] == [("gepa-0", "Mine."), ("gepa-0-2", "Theirs.")]
    again = merging.merged(once.session, imported)
    assert again.session == once.session and "wordings already in the session: 1" in again.notes
    assert not once.questions


@pytest.mark.parametrize("score", [None, "high", True, float("nan"), float("inf"), [1], 10**400])
def test_what_is_no_score_is_none(score: Any, tmp_path: Path) -> None:
    (made,) = load(run_of({"self": "x"}, scores=[score]), tmp_path).session.variants
    assert made.score is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"candidates": [], "val_aggregate_scores": []}', "an unknown kind"),
        ('{"candidates": [{"self": 3}], "val_aggregate_scores": [1]}', "an unknown kind"),
        ('{"candidates": [{}], "val_aggregate_scores": [1]}', "no candidate has instructions"),
    ],
)
def test_what_is_no_run_is_refused_with_what_would_work(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(SessionError, match=said):
        load(text, tmp_path)


@pytest.mark.parametrize("text", ["3", "{}", '{"candidates": 3}', "[]", '[{"program": 3}]', '[{"program": {}}]', "[3]"])
def test_what_is_said_to_be_candidates_and_is_not_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(SessionError) as caught:
        load(text, tmp_path, kind="candidates")
    assert "json.dump" in str(caught.value)


def test_without_a_signature_there_is_nothing_that_they_are_wordings_of(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match="--into"):
        load(run_of({"self": "x"}, scores=[1]), tmp_path, given=None)
