"""Write a chat request to Anthropic as dspy 3.4.1's own client does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adapters.lm.wires.dspys_client import (
    VERBATIM,
    NotTakenError,
    refuse_other_ways,
    taken,
)
from adapters.lm.wires.turns import Call, Data, Link, Part, Result, Words, turns_of

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

ROLES: Mapping[str, str] = {"user": "user", "assistant": "assistant", "tool": "user"}
CHOICES: Mapping[str, str] = {"none": "none", "required": "any", "auto": "auto"}


def body_for_anthropic(model: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """Write the body without the model's name. Raises NotTakenError.

    Omits what Anthropic's API does not support: `seed`, penalties and `logprobs`; `prompt_cache_key` marks the system
    message. Omits `n`, for which the caller sends several requests.
    Rule: `dspy._vendor.lm15.providers.anthropic.AnthropicLM._payload`.
    """
    given = taken(request)
    refuse_other_ways(given, ("reasoning_effort",))
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
        "messages": [{"role": ROLES[one.role], "content": [_part(part) for part in one.parts]} for one in turns],
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


def _part(part: Part) -> dict[str, Any]:
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
