"""Thresholds, cuts and weights as the session keeps them: what is set, what is usual, what will not do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from adapters.requests.decisions import decisions_of
from sessions.model.session import Session, SignatureText
from workbench.editing import decision_edits
from workbench.state.document import State

TRIAGE = '''import dspy
from typing import Annotated, Literal
from dspy.experimental import Choice, Noul, Score


class Triage(dspy.Signature):
    """Triage the message."""

    message: str = dspy.InputField()
    blocked: Noul = dspy.OutputField(desc="Is the customer stuck?")
    quality: Score["poor", "fair", "good"] = dspy.OutputField(desc="How well is it written?")
    topic: Choice[("billing", "money"), ("bug", "it breaks")] = dspy.OutputField(desc="What is it about?")
    urgent: bool = dspy.OutputField(desc="Must it be answered today?")
    kind: Annotated[bool, Noul] = dspy.OutputField(desc="Is it kind?")
    note: str = dspy.OutputField()
    bare: Literal["a", "b"] = dspy.OutputField()
'''


def state(decisions: dict[str, Any] | None = None) -> State:
    return State(Session(SignatureText(TRIAGE, "Triage", decisions=decisions or {})))


def kept(changed: State) -> dict[str, Any]:
    return {name: dict(one) for name, one in changed.session.signature.decisions.items()}


def test_what_can_be_decided_is_known_by_its_type() -> None:
    signature = state().session.signature.read()
    assert decision_edits.decidable(signature) == ("blocked", "quality", "topic", "urgent", "kind", "bare")
    optional = [one for one in decision_edits.decidable(signature) if decision_edits.is_optional(signature, one)]
    assert optional == ["urgent", "bare"]


@pytest.mark.parametrize(
    ("name", "parameter", "usual", "other", "bad"),
    [
        ("blocked", "threshold", 0.5, 0.9, 1.5),
        ("quality", "cuts", [0.5, 1.5], [0.2, 1.0], [1.5, 0.5]),
        ("topic", "weights", {"billing": 1.0, "bug": 1.0}, {"billing": 2.0, "bug": 0.0}, {"billing": 0.0, "bug": 0.0}),
        ("urgent", "threshold", 0.5, 0.1, -1),
    ],
)
def test_what_is_set_decides_and_what_does_not_fit_is_told_in_dspys_words(
    name: str, parameter: str, usual: Any, other: Any, bad: Any
) -> None:
    signature = state().session.signature.read()
    assert decision_edits.usual_of(signature, name) == usual
    assert decision_edits.refusal(signature, name, other) == ""
    assert name in decision_edits.refusal(signature, name, bad)
    changed = decision_edits.set_parameter(state(), name, parameter, other)
    assert kept(changed) == {name: {parameter: other}}
    decided = decisions_of(changed.session.signature.read())
    assert decided is not None and decided.by_name[name].settings[parameter] == other
    back = decision_edits.set_parameter(changed, name, parameter, None)
    assert kept(back) == ({name: {}} if name == "urgent" else {}), "a plain bool is decided because the session says so"
    assert kept(decision_edits.ask_for_itself(changed, name)) == {}


def test_instructions_and_the_other_outputs_stay() -> None:
    own = {"blocked": {"threshold": 0.7, "instructions": "Stuck?"}, "topic": {"weights": {"bug": 2.0}}}
    changed = decision_edits.set_parameter(state(own), "blocked", "threshold", None)
    assert kept(changed) == {"blocked": {"instructions": "Stuck?"}, "topic": {"weights": {"bug": 2.0}}}
    same = state(own)
    assert decision_edits.set_parameter(same, "blocked", "threshold", 0.7) is same


def test_settings_that_do_not_fit_are_shown_as_the_usual_ones() -> None:
    signature = state({"blocked": {"threshold": 7, "instructions": "Stuck?"}}).session.signature.read()
    decision = decision_edits.decision_of(signature, "blocked")
    assert decision.settings == {"threshold": 0.5, "instructions": "Stuck?"}


def test_an_output_without_a_description_cannot_be_decided() -> None:
    signature = state().session.signature.read()
    with pytest.raises(ValueError, match="'bare' requires an OutputField"):
        decision_edits.decision_of(signature, "bare")


def test_a_variant_of_the_text_keeps_its_place() -> None:
    changed = decision_edits.set_parameter(state(), "blocked", "threshold", 0.9)
    assert replace(changed.session.signature, decisions={}) == state().session.signature
