"""Write a chat request to Anthropic or Gemini as dspy 3.4.1's own client does.

Both APIs have message formats of their own; `turns_of` reads the messages for both.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from adapters.lm.protocol import Object
from adapters.lm.wires.dspys_client import (
    EMBEDDED,
    VERBATIM,
    NotTakenError,
    call_of,
    role_of,
    taken,
)


class Words(NamedTuple):
    """A part that is text."""

    text: str


class Data(NamedTuple):
    """An embedded image or file; `kind` is `image` or `document`."""

    kind: str
    media_type: str
    base64: str


class Link(NamedTuple):
    """An image by address."""

    url: str


class Call(NamedTuple):
    """A tool call; `arguments` are a JSON object."""

    id: str
    name: str
    arguments: Object


class Result(NamedTuple):
    """The result of the tool call `id`; `name` is "" if unknown."""

    id: str
    name: str
    text: str


Part = Words | Data | Link | Call | Result


class Turn(NamedTuple):
    """A turn of `user`, `assistant` or `tool`."""

    role: str
    parts: list[Part]


_KINDS = {"image_url": ("image", "url"), "file": ("document", "file_data")}


def turns_of(messages: Sequence[Object]) -> tuple[str, list[Turn]]:
    """Return the system message and the turns; consecutive tool results share a turn. Raises NotTakenError.

    Rule: `dspy._vendor.lm15.providers.openai_chat._ingest_messages`.
    """
    system = ""
    turns: list[Turn] = []
    names: dict[str, str] = {}
    for number, one in enumerate(messages):
        role, content, calls = role_of(one), one.get("content"), [call_of(call) for call in one.get("tool_calls") or []]
        if role in ("system", "developer") and isinstance(content, str):
            if number == 0:
                system = content
            else:
                turns.append(Turn("user", [Words(f"[developer]\n{content}")]))
        elif role == "user":
            turns.append(Turn("user", _parts(content)))
        elif role == "assistant":
            names |= {id: name for id, name, _ in calls}
            parts = [] if content is None and calls else _parts(content)
            made = [Call(id, name, json.loads(arguments)) for id, name, arguments in calls]
            turns.append(Turn("assistant", [*parts, *made]))
        elif role == "tool" and isinstance(content, str):
            id = one["tool_call_id"]
            result = Result(id, one.get("name") or names.get(id, ""), content)
            if turns and turns[-1].role == "tool":
                turns[-1].parts.append(result)
            else:
                turns.append(Turn("tool", [result]))
        else:
            raise NotTakenError(f"a message of the role {role!r}")
    if not turns:
        raise NotTakenError("no message but the system's")
    return system, turns


def _parts(content: object) -> list[Part]:
    if isinstance(content, str):
        return [Words(content)]
    if not isinstance(content, list) or not content:
        raise NotTakenError("a message without content")
    return [_part_of(one) for one in content]


def _part_of(block: Object) -> Part:
    kind = block.get("type")
    inner = block.get(str(kind))
    if set(block) == {"type", kind}:
        if kind == "text" and isinstance(inner, str):
            return Words(inner)
        made, key = _KINDS.get(str(kind), ("", ""))
        if isinstance(inner, Mapping) and set(inner) == {key} and isinstance(inner[key], str):
            embedded = EMBEDDED.fullmatch(inner[key])
            if embedded is not None:
                return Data(made, embedded[1], embedded[2])
            if made == "image" and inner[key] and not inner[key].startswith("data:"):
                return Link(inner[key])
    raise NotTakenError(f"a part of the type {kind}")


ADAPTIVE = ("sonnet-5", "opus-5", "sonnet-4-6", "opus-4-6", "opus-4-7", "opus-4-8", "fable", "mythos", "haiku-5")
"""Parts of the names of models that take an effort instead of a token budget for thinking.

Rule: `dspy._vendor.lm15.providers.anthropic._ADAPTIVE_CLASS_MARKERS`."""

BUDGETS: Mapping[str, int] = {
    "minimal": 1024,
    "low": 2048,
    "medium": 8192,
    "high": 16384,
    "xhigh": 24576,
    "max": 32768,
}
"""Thinking tokens of all other models by effort, in addition to those of the reply.

Rule: `dspy._vendor.lm15.providers.common.EFFORT_THINKING_BUDGETS`."""

LIMITS = (
    *(("claude-3-haiku", 4096), ("claude-3-opus", 4096), ("claude-3-sonnet", 4096)),
    *(("claude-3-5-", 8192), ("claude-3.5-", 8192)),
)
"""Default token limit of a reply by part of a model's name; `USUAL_LIMIT` for other models.

Rule: `dspy._vendor.lm15.providers.anthropic._DEFAULT_MAX_TOKENS_BY_CLASS`."""

USUAL_LIMIT = 16384
HOTTEST = 1.0

ANTHROPIC_ROLES: Mapping[str, str] = {"user": "user", "assistant": "assistant", "tool": "user"}
CHOICES: Mapping[str, str] = {"none": "none", "required": "any", "auto": "auto"}


def body_for_anthropic(model: str, request: Object) -> dict[str, Any]:
    """Write the body without the model's name. Raises NotTakenError.

    Omits what Anthropic's API does not support: `seed`, penalties and `logprobs`; `prompt_cache_key` marks the system
    message. Omits `n`, for which the caller sends several requests.
    Rule: `dspy._vendor.lm15.providers.anthropic.AnthropicLM._payload`.
    """
    given = taken(request)
    tools, choice, user = given["tools"], given["tool_choice"], given["user"]
    system, turns = turns_of(given["messages"])
    name, effort, form = model.lower(), given["reasoning_effort"], given["response_format"]
    if form is not None and form["type"] != "json_schema":
        raise NotTakenError("JSON without a schema")
    config: dict[str, Any] = {}
    budget = 0
    thinking: dict[str, Any] = {}
    if effort not in (None, "none"):
        if any(part in name for part in ADAPTIVE):
            thinking = {"type": "adaptive"}
            config["effort"] = "low" if effort == "minimal" else effort
        else:
            budget = BUDGETS[str(effort)]
            thinking = {"type": "enabled", "budget_tokens": budget}
    usual = next((limit for part, limit in LIMITS if part in name), USUAL_LIMIT)
    body: dict[str, Any] = {
        "messages": [
            {"role": ANTHROPIC_ROLES[one.role], "content": [_anthropic_part(part) for part in one.parts]}
            for one in turns
        ],
        "max_tokens": (given["max_tokens"] or usual) + budget,
    }
    if system:
        cached = [{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}]
        body["system"] = cached if "prompt_cache_key" in given else system
    if "temperature" in given:
        body["temperature"] = min(given["temperature"], HOTTEST)
    body |= {part: given[part] for part in ("top_p", "top_k") if part in given}
    if given["stop"]:
        body["stop_sequences"] = given["stop"]
    if tools:
        body["tools"] = [
            {"name": one["name"], "description": one["description"], "input_schema": one["parameters"]} for one in tools
        ]
    if choice is not None:
        body["tool_choice"] = {"type": CHOICES[choice]} if isinstance(choice, str) else {"type": "tool", **choice}
        if given.get("parallel_tool_calls") is False:
            body["tool_choice"]["disable_parallel_tool_use"] = True
    if thinking:
        body["thinking"] = thinking
    if form is not None:
        config["format"] = {"type": "json_schema", "schema": form["schema"]}
    if config:
        body["output_config"] = config
    if "service_tier" in given:
        body["service_tier"] = given["service_tier"]
    if user is not None:
        body["metadata"] = {"user_id": user}
    return body | {part: given[part] for part in VERBATIM if part in given}


def _anthropic_part(part: Part) -> dict[str, Any]:
    match part:
        case Words(text):
            return {"type": "text", "text": text}
        case Data(kind, media_type, data):
            return {"type": kind, "source": {"type": "base64", "media_type": media_type, "data": data}}
        case Link(url):
            return {"type": "image", "source": {"type": "url", "url": url}}
        case Call(id, name, arguments):
            return {"type": "tool_use", "id": id, "name": name, "input": arguments}
        case Result(id, _, text):
            return {"type": "tool_result", "tool_use_id": id, "content": text}


NUMBERS: Mapping[str, str] = {
    "temperature": "temperature",
    "max_tokens": "maxOutputTokens",
    "top_p": "topP",
    "top_k": "topK",
    "seed": "seed",
    "frequency_penalty": "frequencyPenalty",
    "presence_penalty": "presencePenalty",
}
HIGHEST = ("xhigh", "max")
"""Efforts that Gemini 3 models do not support; `high` is sent instead."""

GEMINI_ROLES: Mapping[str, str] = {"user": "user", "assistant": "model", "tool": "user"}


def body_for_gemini(model: str, request: Object) -> dict[str, Any]:
    """Write the whole body. Raises NotTakenError, also for parts other than text, images and tool calls.

    Omits what Gemini's API does not support. Omits `n`, for which the caller sends several requests.
    Rule: `dspy._vendor.lm15.providers.gemini.GeminiLM._payload`.
    """
    given = taken(request)
    alternatives, tools, form = given["top_logprobs"], given["tools"], given["response_format"]
    choice = given["tool_choice"]
    system, turns = turns_of(given["messages"])
    body: dict[str, Any] = {
        "contents": [
            {"role": GEMINI_ROLES[one.role], "parts": [_gemini_part(part) for part in one.parts]} for one in turns
        ]
    }
    if system:
        body["systemInstruction"] = {"parts": [{"text": system}]}
    config: dict[str, Any] = {}
    for name, written in NUMBERS.items():
        number = given.get(name)
        if number is not None:
            config[written] = int(number) if isinstance(number, float) and number.is_integer() else number
    if given["stop"]:
        config["stopSequences"] = given["stop"]
    if alternatives is not None:
        config |= {"responseLogprobs": True, **({"logprobs": alternatives} if alternatives else {})}
    if form is not None:
        config["responseMimeType"] = "application/json"
        if form["type"] == "json_schema":
            strict = _has(form["schema"], "additionalProperties")
            config["responseJsonSchema" if strict else "responseSchema"] = form["schema"]
    effort = given["reasoning_effort"]
    if effort is None:
        thinking = None
    elif model.lower().removeprefix("models/").startswith("gemini-3"):
        level = "high" if effort in HIGHEST else effort
        if effort == "none":
            level = "minimal"
        thinking = {"thinkingLevel": level}
    else:
        thinking = {"thinkingBudget": 0 if effort == "none" else BUDGETS[effort]}
    if thinking is not None:
        config["thinkingConfig"] = thinking
    if config:
        body["generationConfig"] = config
    if tools:
        body["tools"] = [{"functionDeclarations": tools}]
    if isinstance(choice, str):
        body["toolConfig"] = {"functionCallingConfig": {"mode": CHOICES[choice].upper()}}
    elif choice is not None:
        body["toolConfig"] = {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [choice["name"]]}}
    if "service_tier" in given:
        body["serviceTier"] = given["service_tier"]
    return {**body, **{name: given[name] for name in VERBATIM if name in given}}


def _gemini_part(part: Part) -> dict[str, Any]:
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


def _has(schema: object, name: str) -> bool:
    if isinstance(schema, Mapping):
        return name in schema or any(_has(one, name) for one in schema.values())
    return isinstance(schema, list) and any(_has(one, name) for one in schema)
