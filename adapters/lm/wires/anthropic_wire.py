"""Write the parameters of a chat request to Anthropic as dspy 3.4.1's own client does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adapters.lm.wires.dspys_client import (
    VERBATIM,
    NotTakenError,
    choice_of,
    effort_of,
    form_of,
    limit_of,
    refuse_other_ways,
    taken,
    tools_of,
    top_logprobs_of,
)

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

KEPT = ("top_p", "top_k", "service_tier", *VERBATIM)

WRITTEN_BY_LITELLM = ("messages", "tools", "tool_choice", "parallel_tool_calls")
"""The parts of a request that litellm converts to Anthropic's as dspy's client does."""


def body_for_anthropic(model: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """Write the body without the model's name and `WRITTEN_BY_LITELLM`. Raises NotTakenError.

    Omits what Anthropic's API does not support: `seed`, penalties, `logprobs` and `prompt_cache_key`. Omits `n`, for
    which the caller sends several requests.
    Rule: `dspy._vendor.lm15.providers.anthropic.AnthropicLM._payload`.
    """
    given = taken(request)
    refuse_other_ways(given, ("reasoning_effort",))
    top_logprobs_of(given)
    choice_of(given, tools_of(given))
    name, effort, form = model.lower(), effort_of(given), form_of(given)
    if form is not None and form["type"] != "json_schema":
        raise NotTakenError("JSON without a schema")
    body = {part: given[part] for part in KEPT if part in given}
    config: dict[str, Any] = {}
    budget = 0
    if effort not in (None, "none"):
        if any(part in name for part in ADAPTIVE):
            body["thinking"] = {"type": "adaptive"}
            config["effort"] = "low" if effort == "minimal" else effort
        else:
            budget = BUDGETS[str(effort)]
            body["thinking"] = {"type": "enabled", "budget_tokens": budget}
    usual = next((limit for part, limit in LIMITS if part in name), USUAL_LIMIT)
    body["max_tokens"] = (limit_of(given) or usual) + budget
    if "temperature" in given:
        body["temperature"] = min(given["temperature"], HOTTEST)
    if given["stop"]:
        body["stop_sequences"] = given["stop"]
    user = given.get("user", given.get("safety_identifier"))
    if user is not None:
        body["metadata"] = {"user_id": user}
    if form is not None:
        config["format"] = {"type": "json_schema", "schema": form["schema"]}
    return {**body, **({"output_config": config} if config else {})}
