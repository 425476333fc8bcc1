"""Write a chat request to Gemini as dspy 3.4.1's own client does."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from adapters.lm.wires.anthropic_wire import BUDGETS
from adapters.lm.wires.dspys_client import (
    REASONING,
    VERBATIM,
    NotTakenError,
    arguments_of,
    choice_of,
    effort_of,
    form_of,
    limit_of,
    taken,
    tools_of,
    top_logprobs_of,
)

NUMBERS: Mapping[str, str] = {
    "temperature": "temperature",
    "top_p": "topP",
    "top_k": "topK",
    "seed": "seed",
    "frequency_penalty": "frequencyPenalty",
    "presence_penalty": "presencePenalty",
}
MODES: Mapping[str, str] = {"none": "NONE", "required": "ANY", "auto": "AUTO"}
HIGHEST = ("xhigh", "max")
"""Efforts that Gemini 3 models do not support; `high` is sent instead."""

_EMBEDDED = re.compile(r"data:([^;,]+);base64,(.+)", re.DOTALL)


def body_for_gemini(model: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """Write the whole body. Raises NotTakenError, also for parts other than text, images and tool calls.

    Omits what Gemini's API does not support. Omits `n`, for which the caller sends several requests.
    Rule: `dspy._vendor.lm15.providers.gemini.GeminiLM._payload`.
    """
    given = taken(request)
    foreign = given.keys() & set(REASONING) - {"reasoning_effort"}
    if foreign:
        raise NotTakenError(f"{min(foreign)}, which is another server's way of asking for reasoning")
    alternatives, tools, form = top_logprobs_of(given), tools_of(given), form_of(given)
    choice = choice_of(given, tools)
    body = _turns(given["messages"])
    config: dict[str, Any] = {written: _number(given[name]) for name, written in NUMBERS.items() if name in given}
    limit = limit_of(given)
    if limit is not None:
        config["maxOutputTokens"] = limit
    if given["stop"]:
        config["stopSequences"] = given["stop"]
    if alternatives is not None:
        config |= {"responseLogprobs": True, **({"logprobs": alternatives} if alternatives else {})}
    if form is not None:
        config["responseMimeType"] = "application/json"
        if form["type"] == "json_schema":
            strict = _has(form["schema"], "additionalProperties")
            config["responseJsonSchema" if strict else "responseSchema"] = form["schema"]
    thinking = _thinking(model, effort_of(given))
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


def _turns(messages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Convert messages to `contents` and `systemInstruction`; consecutive tool results share a turn."""
    system: dict[str, Any] = {}
    turns: list[dict[str, Any]] = []
    names: dict[str, str] = {}
    before = None
    for number, one in enumerate(messages):
        role, content, calls = one.get("role"), one.get("content"), one.get("tool_calls") or []
        if role in ("system", "developer") and number == 0 and isinstance(content, str):
            system = {"systemInstruction": {"parts": [{"text": content}]}} if content else {}
        elif role == "user" and not calls:
            turns.append({"role": "user", "parts": _parts(content)})
        elif role == "assistant":
            names |= {call["id"]: call["function"]["name"] for call in calls}
            parts = [] if content is None and calls else _parts(content)
            turns.append({"role": "model", "parts": [*parts, *map(_call, calls)]})
        elif role == "tool" and isinstance(content, str) and (one.get("name") or one["tool_call_id"] in names):
            name, id = one.get("name") or names[one["tool_call_id"]], one["tool_call_id"]
            result = {"functionResponse": {"name": name, "response": {"result": content}, "id": id}}
            if before == "tool":
                turns[-1]["parts"].append(result)
            else:
                turns.append({"role": "user", "parts": [result]})
        else:
            raise NotTakenError(f"a message of the role {role!r}")
        before = role
    if not turns:
        raise NotTakenError("no message but the system's")
    return {"contents": turns, **system}


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    arguments = json.loads(arguments_of(call))
    return {"functionCall": {"name": call["function"]["name"], "args": arguments, "id": call["id"]}}


def _parts(content: object) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"text": content}]
    if not isinstance(content, list) or not content:
        raise NotTakenError("a message without content")
    return [_part(one) for one in content]


def _part(block: Mapping[str, Any]) -> dict[str, Any]:
    if set(block) == {"type", "text"} and isinstance(block["text"], str):
        return {"text": block["text"]}
    image = block.get("image_url")
    embedded = _EMBEDDED.fullmatch(str(image.get("url"))) if isinstance(image, Mapping) else None
    if embedded is None or set(block) != {"type", "image_url"} or set(image or ()) != {"url"}:
        raise NotTakenError(f"a part of the type {block.get('type')}")
    return {"inlineData": {"mimeType": embedded[1], "data": embedded[2]}}


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
