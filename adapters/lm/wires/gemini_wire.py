"""Write a chat request to Gemini as dspy 3.4.1's own client does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adapters.lm.wires.anthropic_wire import BUDGETS
from adapters.lm.wires.dspys_client import (
    VERBATIM,
    NotTakenError,
    refuse_other_ways,
    taken,
)
from adapters.lm.wires.turns import Call, Data, Part, Result, Words, turns_of

NUMBERS: Mapping[str, str] = {
    "temperature": "temperature",
    "max_tokens": "maxOutputTokens",
    "top_p": "topP",
    "top_k": "topK",
    "seed": "seed",
    "frequency_penalty": "frequencyPenalty",
    "presence_penalty": "presencePenalty",
}
MODES: Mapping[str, str] = {"none": "NONE", "required": "ANY", "auto": "AUTO"}
HIGHEST = ("xhigh", "max")
"""Efforts that Gemini 3 models do not support; `high` is sent instead."""

ROLES: Mapping[str, str] = {"user": "user", "assistant": "model", "tool": "user"}


def body_for_gemini(model: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """Write the whole body. Raises NotTakenError, also for parts other than text, images and tool calls.

    Omits what Gemini's API does not support. Omits `n`, for which the caller sends several requests.
    Rule: `dspy._vendor.lm15.providers.gemini.GeminiLM._payload`.
    """
    given = taken(request)
    refuse_other_ways(given, ("reasoning_effort",))
    alternatives, tools, form = given["top_logprobs"], given["tools"], given["response_format"]
    choice = given["tool_choice"]
    body = _contents(given["messages"])
    config: dict[str, Any] = {
        written: _number(given[name]) for name, written in NUMBERS.items() if given.get(name) is not None
    }
    if given["stop"]:
        config["stopSequences"] = given["stop"]
    if alternatives is not None:
        config |= {"responseLogprobs": True, **({"logprobs": alternatives} if alternatives else {})}
    if form is not None:
        config["responseMimeType"] = "application/json"
        if form["type"] == "json_schema":
            strict = _has(form["schema"], "additionalProperties")
            config["responseJsonSchema" if strict else "responseSchema"] = form["schema"]
    thinking = _thinking(model, given["reasoning_effort"])
    if thinking is not None:
        config["thinkingConfig"] = thinking
    if config:
        body["generationConfig"] = config
    if tools:
        body["tools"] = [{"functionDeclarations": tools}]
    if isinstance(choice, str):
        body["toolConfig"] = {"functionCallingConfig": {"mode": MODES[choice]}}
    elif choice is not None:
        body["toolConfig"] = {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [choice["name"]]}}
    if "service_tier" in given:
        body["serviceTier"] = given["service_tier"]
    return {**body, **{name: given[name] for name in VERBATIM if name in given}}


def _contents(messages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    system, turns = turns_of(messages)
    contents = [{"role": ROLES[one.role], "parts": [_part(part) for part in one.parts]} for one in turns]
    return {"contents": contents, **({"systemInstruction": {"parts": [{"text": system}]}} if system else {})}


def _part(part: Part) -> dict[str, Any]:
    match part:
        case Words(text):
            return {"text": text}
        case Data("image", media_type, data):
            return {"inlineData": {"mimeType": media_type, "data": data}}
        case Call(id, name, arguments):
            return {"functionCall": {"name": name, "args": arguments, "id": id}}
        case Result(id, name, text) if name:
            return {"functionResponse": {"name": name, "response": {"result": text}, "id": id}}
    raise NotTakenError(f"a part of the type {type(part).__name__}")


def _thinking(model: str, effort: str | None) -> dict[str, Any] | None:
    """Rule: the reasoning part of `_payload`, and `gemini_level_class`."""
    if effort is None:
        return None
    if model.lower().removeprefix("models/").startswith("gemini-3"):
        level = "minimal" if effort == "none" else "high" if effort in HIGHEST else effort
        return {"thinkingLevel": level}
    return {"thinkingBudget": 0 if effort == "none" else BUDGETS[effort]}


def _number(value: float) -> float:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _has(schema: object, name: str) -> bool:
    if isinstance(schema, Mapping):
        return name in schema or any(_has(one, name) for one in schema.values())
    return isinstance(schema, list) and any(_has(one, name) for one in schema)
