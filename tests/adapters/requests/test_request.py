"""Completions become values and a parse result that accounts for every output."""

from __future__ import annotations

from typing import Any

from adapters import ChatAdapter
from adapters.prompts.text import Prompt
from adapters.requests.request import Request, postprocess
from adapters.signatures.notation import read


def test_an_output_that_was_not_asked_for_has_its_field_though_an_adapter_parses_it() -> None:
    class Mine(ChatAdapter):
        def parse(self, signature: Any, completion: str) -> dict[str, Any]:
            return {"reasoning": "so", "answer": completion}

    signature, asked = read("q -> reasoning: dspy.Reasoning, answer"), Request(Prompt(()), {}, read("q -> answer"))
    outcome = postprocess(Mine(), asked, signature, {"text": "yes"})
    assert outcome.reading.values == outcome.values == {"reasoning": "so", "answer": "yes"}
    fields = {name: (one.state, one.value) for name, one in outcome.reading.fields.items()}
    assert fields == {"answer": ("read", "yes"), "reasoning": ("native", "so")}
