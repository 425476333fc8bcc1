"""Adapters that users write: dspy's documented shapes run here with only the import line changed."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

import dspy
import pytest
import user_adapters
from oracle.engines import ScriptedLM
from oracle.outcomes import plain

from adapters.signatures.signature import Signature

QUESTION = dspy.Signature("question, context: list[str] -> reasoning, answer")
INPUTS = {"question": "Is it raining?", "context": ["It pours."]}
DEMO = {**INPUTS, "reasoning": "It pours.", "answer": "yes"}


def under_dspy() -> Any:
    """The same file with dspy's names in its import lines."""
    source = inspect.getsource(user_adapters)
    for name in ("adapters.formats.base", "adapters.formats.chat"):
        source = source.replace(f"from {name} import", "from dspy import")
    source = source.replace("field.description or", "'' or")
    module = ModuleType("user_adapters_under_dspy")
    exec(compile(source, module.__name__, "exec"), vars(module))  # noqa: S102
    return module


THEIRS = under_dspy()


@pytest.mark.parametrize("name", ["PromptAdapter", "PoliteAdapter", "CallAdapter"])
def test_the_same_adapter_does_the_same_under_dspy_and_here(name: str) -> None:
    reply = (
        "[[ ## reasoning ## ]]\nr\n[[ ## answer ## ]]\nyes"
        if name == "PoliteAdapter"
        else "reasoning = r\nanswer = yes"
    )
    model_for_them, model_for_us = ScriptedLM([[reply]]), ScriptedLM([[reply]])
    theirs = getattr(THEIRS, name)()(model_for_them, {"temperature": 0.5}, QUESTION, [DEMO], INPUTS)
    ours = getattr(user_adapters, name)()(
        model_for_us, {"temperature": 0.5}, Signature.from_dspy(QUESTION), [DEMO], INPUTS
    )
    assert ours == theirs
    assert model_for_us.calls == model_for_them.calls
    assert plain(model_for_us.calls) == model_for_us.calls


def test_text_of_a_changed_piece_is_shown_as_the_users_own() -> None:
    prompt = user_adapters.PoliteAdapter().render(Signature.from_dspy(QUESTION), [], INPUTS)
    custom = [segment.text for message in prompt.messages for segment in message.segments if segment.kind == "custom"]
    assert any(text.startswith("Please. ") for text in custom)
