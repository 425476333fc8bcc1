"""Generated whole calls: options, capabilities, parameters, and what a scripted model answers."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import dspy
from dspy.adapters.types.citation import Citations
from dspy.adapters.types.document import Document
from dspy.adapters.types.reasoning import Reasoning
from dspy.adapters.types.tool import ToolCalls

from oracle import replies, signatures
from oracle.specs import Built

CITATION = {"cited_text": "Paris", "document_index": 0, "start_char_index": 0, "end_char_index": 5}
MODELS = ("scripted/model", "anthropic/claude-x", "openai/gpt-5", "openai/gpt-4o")
PARAMS = ("response_format", "tools", "tool_choice", "parallel_tool_calls", "reasoning_effort", "temperature")


@dataclass(frozen=True)
class Call:
    built: Built
    demos: list[Any]
    inputs: dict[str, Any]
    outputs: list[list[Any]]
    options: dict[str, Any]
    lm: dict[str, Any]
    lm_kwargs: dict[str, Any]


def call(rng: random.Random, name: str) -> Call:
    built = signature(rng)
    return Call(
        built=built,
        demos=[signatures.demo(rng, built) for _ in range(rng.choice((0, 0, 1, 2)))],
        inputs=signatures.inputs(rng, built),
        outputs=[_completions(rng, style, built) for style in (name, "json", "json")],
        options=_options(rng, name),
        lm={
            "model": rng.choice(MODELS),
            "fc": rng.random() < 0.6,
            "reasoning": rng.random() < 0.5,
            "schema": rng.random() < 0.6,
            "params": tuple(one for one in PARAMS if rng.random() < 0.6),
            "model_type": rng.choice(("chat", "chat", "responses")),
        },
        lm_kwargs=_lm_kwargs(rng),
    )


def signature(rng: random.Random) -> Built:
    """A signature that may have tools, reasoning, citations and history, which native features act on."""
    if rng.random() < 0.4:
        return signatures.signature(rng)
    fields: dict[str, Any] = {"question": (str, dspy.InputField())}
    if rng.random() < 0.5:
        fields["tools"] = (rng.choice((list[dspy.Tool], list[dspy.Tool], dspy.Tool)), dspy.InputField())
    if rng.random() < 0.3:
        fields["history"] = (dspy.History, dspy.InputField())
    if rng.random() < 0.3:
        fields["documents"] = (list[Document], dspy.InputField())
    if rng.random() < 0.4:
        fields["reasoning"] = (Reasoning, dspy.OutputField())
    if rng.random() < 0.8:
        fields["answer"] = (signatures.annotation(rng), dspy.OutputField())
    if rng.random() < 0.5:
        fields["tool_calls"] = (ToolCalls, dspy.OutputField())
    if rng.random() < 0.3 or len(fields) == 1:
        fields["citations"] = (Citations, dspy.OutputField())
    if not any(name in fields for name in ("reasoning", "answer", "tool_calls", "citations")):
        fields["answer"] = (str, dspy.OutputField())
    from adapters.signatures.signature import Signature

    try:
        made = signatures.make(fields)
    except Exception:  # a type that dspy refuses in a signature
        return signature(rng)
    return Built(made, Signature.from_dspy(made), {})


def _options(rng: random.Random, name: str) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if rng.random() < 0.5:
        made["use_native_function_calling"] = rng.random() < 0.8
    if rng.random() < 0.2:
        made["parallel_tool_calls"] = rng.random() < 0.5
    if name in ("chat", "xml") and rng.random() < 0.15:
        made["use_json_adapter_fallback"] = False
    if name in ("chat", "xml", "twostep") and rng.random() < 0.15:
        made["native_response_types"] = rng.choice(([Citations], [Reasoning], [], [Citations, Reasoning, dspy.Code]))
    return made


def _lm_kwargs(rng: random.Random) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if rng.random() < 0.3:
        made["temperature"] = 0.5
    if rng.random() < 0.1:
        made["n"] = 2
    if rng.random() < 0.1:
        made["tools"] = [{"type": "function", "function": {"name": "given"}}]
    if rng.random() < 0.1:
        made["tool_choice"] = rng.choice(("auto", "none"))
    if rng.random() < 0.1:
        made["parallel_tool_calls"] = rng.choice((True, False, None))
    if rng.random() < 0.15:
        made["reasoning_effort"] = rng.choice(("high", None, "low"))
    if rng.random() < 0.1:
        made["response_format"] = {"type": "json_object"}
    return made


def _completions(rng: random.Random, style: str, built: Built) -> list[Any]:
    return [_completion(rng, style, built) for _ in range(rng.choice((1, 1, 1, 1, 2, 3)))]


def _completion(rng: random.Random, style: str, built: Built) -> Any:
    text: Any = replies.reply(rng, style, built)
    roll = rng.random()
    if roll < 0.06:
        text = rng.choice((None, "", " "))
    if roll < 0.5:
        return text
    made: dict[str, Any] = {"text": text}
    if rng.random() < 0.3:
        made["logprobs"] = rng.choice(({"content": []}, None, {"content": [{"token": "x"}]}))
    if rng.random() < 0.4:
        made["reasoning_content"] = rng.choice(("step by step", "", "reasoning_content"))
    if rng.random() < 0.5:
        made["tool_calls"] = [_tool_call(rng) for _ in range(rng.choice((0, 1, 2)))]
        if rng.random() < 0.5:
            made["text"] = rng.choice((None, ""))
    if rng.random() < 0.2:
        made["citations"] = [CITATION] * rng.choice((0, 1, 2))
    return made


def _tool_call(rng: random.Random) -> dict[str, Any]:
    arguments = rng.choice(('{"query": "cats"}', '{"query": "cats', "[1, 2]", "", "nonsense", {"query": "dogs"}, None))
    return rng.choice(
        (
            {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": arguments}},
            {"id": "c", "function": {"name": "search", "arguments": arguments}},
            {"id": "fc_1", "call_id": "call_9", "name": "search", "arguments": arguments},
        )
    )
