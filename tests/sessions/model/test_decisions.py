"""Decisions in a session: what decides stands in its file, and replies are read, recorded and checked by it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from adapters.errors import SignatureError
from sessions.checking.checking import check
from sessions.errors import SessionError
from sessions.file import store
from sessions.model.replies import Reply
from sessions.model.session import Case, Column, Demo, Session, SignatureText
from sessions.running import rendering
from sessions.running.recording import read_completion, record
from workbench.editing.edits import rename_field
from workbench.state.document import State

SOURCE = '''import dspy
from dspy.experimental import Choice, Noul, Score


class Triage(dspy.Signature):
    """Triage the ticket."""

    ticket: str = dspy.InputField()
    blocked: Noul = dspy.OutputField(desc="Is the user blocked?")
    quality: Score["poor", "fair", "good"] = dspy.OutputField(desc="How good is it?")
    topic: Choice[("bug", "broken"), ("wish", "wanted")] = dspy.OutputField(desc="What is it about?")
'''
REPLY = json.dumps(
    {
        "blocked": {"noul": 0.6},
        "quality": {"probabilities": {"0": 0.5, "1": 0.25, "2": 0.25}, "confidence": 0.75},
        "topic": {"probabilities": {"bug": 0.6, "wish": 0.4}, "confidence": 0.75},
    }
)
COLUMN = Column("json", "json")


def session(decisions: dict[str, Any] | None = None, demos: tuple[Demo, ...] = ()) -> Session:
    case = Case("case 1", {"ticket": "It is down."}, replies={"json": Reply(REPLY)})
    return Session(SignatureText(SOURCE, decisions=decisions or {}), demos, (COLUMN,), (case,))


def values_of(one: Session) -> dict[str, Any]:
    case = one.cases[0]
    request = rendering.request_of(one, COLUMN, case)
    reading = read_completion(rendering.adapter_of(COLUMN), request, one.signature.read(), case.replies["json"])
    assert reading.error is None, reading.error
    return dict(reading.values)


def test_thresholds_cuts_and_weights_decide() -> None:
    usual = values_of(session())
    assert (usual["blocked"].value, usual["quality"].level, usual["topic"].value) == (True, 1, "bug")
    assert usual["quality"].value == 0.75
    other = values_of(
        session({"blocked": {"threshold": 0.7}, "quality": {"cuts": [0.8, 1.5]}, "topic": {"weights": {"wish": 2}}})
    )
    assert (other["blocked"].value, other["quality"].level, other["topic"].value) == (False, 0, "wish")


def test_a_value_says_how_it_was_decided() -> None:
    one = session({"blocked": {"threshold": 0.7}})
    request = rendering.request_of(one, COLUMN, one.cases[0])
    reply = one.cases[0].replies["json"]
    reading = read_completion(rendering.adapter_of(COLUMN), request, one.signature.read(), reply)
    last = reading.fields["blocked"].steps[-1]
    assert (last.rule, last.before.noul, last.after.value, last.note) == ("threshold", 0.6, False, "threshold 0.7")
    assert reading.fields["blocked"].raw == '{"noul": 0.6}'


def test_they_are_saved_and_loaded() -> None:
    decisions = {"topic": {"weights": {"wish": 2}}, "blocked": {"threshold": 0.7}}
    written = store.dumps(session(decisions))
    assert store.loads(written).signature.decisions == decisions
    assert store.dumps(store.loads(written)) == written
    assert "decisions" not in json.loads(store.dumps(session()))["signature"]


def test_a_file_with_something_else_there_is_refused_at_its_place() -> None:
    data = json.loads(store.dumps(session()))
    data["signature"]["decisions"] = {"blocked": 0.7}
    with pytest.raises(SessionError, match=r"signature\.decisions\.blocked"):
        store.loads(json.dumps(data))


def test_a_name_that_is_no_output_is_told_with_the_signature() -> None:
    with pytest.raises(SignatureError, match="unsupported outputs: \\['gone'\\]") as told:
        session({"gone": {}}).signature.read()
    assert "decisions" in (told.value.hint or "")


@pytest.mark.parametrize(
    ("decisions", "message"),
    [
        ({"blocked": {"threshold": 2}}, "Threshold for 'blocked' must be in"),
        ({"quality": {"cuts": [1.5, 0.5]}}, "Invalid cuts for 'quality'"),
        ({"topic": {"weights": {"gone": 1}}}, "Choice weights for 'topic'"),
        ({"topic": {"threshold": 0.5}}, "Invalid configuration for 'topic'"),
    ],
)
def test_settings_that_do_not_fit_are_told_when_the_prompt_is_made(decisions: dict[str, Any], message: str) -> None:
    one = session(decisions)
    with pytest.raises(ValueError, match=message):
        rendering.request_of(one, COLUMN, one.cases[0])


def test_demos_are_examples_in_the_instructions() -> None:
    demos = (Demo({"ticket": "Thanks!", "blocked": False, "note": "beside"}), Demo({"ticket": "off"}, enabled=False))
    one = session(demos=demos)
    messages = rendering.request_of(one, COLUMN, one.cases[0]).messages
    assert [message.role for message in messages] == ["system", "user"]
    assert 'Task examples (labels or evidence):\n        [{"ticket": "Thanks!", "blocked": false}]' in str(
        messages[0].content
    )


def test_what_was_recorded_drifts_when_another_threshold_decides() -> None:
    one = session()
    recorded = record(one, one.cases[0], COLUMN)
    assert [found.verdicts["parse"] for found in check(recorded)] == ["pass"]
    moved = replace(recorded, signature=replace(recorded.signature, decisions={"blocked": {"threshold": 0.7}}))
    assert [found.verdicts["parse"] for found in check(moved)] == ["drift"]


def test_they_follow_a_field_that_is_renamed() -> None:
    state = State(session({"blocked": {"threshold": 0.7}}))
    renamed = rename_field(state, SOURCE.replace("blocked", "stuck"), "blocked", "stuck")
    assert renamed.session.signature.decisions == {"stuck": {"threshold": 0.7}}
