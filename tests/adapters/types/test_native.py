"""What a model gives natively leaves the signature exactly when it does in dspy."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import dspy
import pytest
from dspy.adapters.types.citation import Citations as DspyCitations

from adapters.signatures.signature import Signature
from adapters.types import Citations, Reasoning, Type

MODELS = ["openai/gpt-4o", "openai/gpt-5-mini", "anthropic/claude-x", "openai/anthropic/claude", "gpt-5", ""]
EFFORTS: list[dict[str, Any]] = [{}, {"reasoning_effort": None}, {"reasoning_effort": "high"}, {"temperature": 1}]


@dataclass
class StandInLM:
    model: str
    model_type: str = "chat"
    kwargs: dict[str, Any] = field(default_factory=dict)
    supports_reasoning: bool = True


def theirs() -> Any:
    return dspy.Signature("q -> thought, answer")


@pytest.mark.parametrize("model", MODELS)
def test_reasoning_is_asked_for_natively_when_dspy_does(model: str) -> None:
    for own, call, supports, kind in itertools.product(EFFORTS, EFFORTS, (True, False), ("chat", "responses", "text")):
        lm = StandInLM(model, kind, own, supports)
        expected = dict(call)
        reduced = dspy.Reasoning.adapt_to_native_lm_feature(theirs(), "thought", lm, expected)  # type: ignore[arg-type]
        removes = "thought" not in reduced.fields
        told = dict(call)
        mine = Reasoning.adapt_to_native_lm_feature(Signature.from_dspy(theirs()), "thought", lm, told)
        assert ("thought" not in mine.fields, told) == (removes, expected)


@pytest.mark.parametrize("model", MODELS)
def test_citations_are_native_for_anthropic(model: str) -> None:
    lm = StandInLM(model)
    removes = "thought" not in DspyCitations.adapt_to_native_lm_feature(theirs(), "thought", lm, {}).fields
    mine = Citations.adapt_to_native_lm_feature(Signature.from_dspy(theirs()), "thought", lm, {})
    assert ("thought" not in mine.fields) == removes


def test_other_types_change_nothing() -> None:
    signature = Signature.from_dspy(theirs())
    assert Type.adapt_to_native_lm_feature(signature, "thought", StandInLM("m"), {}) is signature
