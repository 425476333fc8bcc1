"""Write a chat request to Anthropic as dspy 3.4.1's own client does, in parameters that litellm passes on unchanged.

With ordinary parameters litellm would send another request. It would give thinking fewer tokens and take them from the
reply's limit. It would reject parameters that Anthropic's API lacks. It would inline a schema's references or, for
models not known to support schemas, force a tool with broken references (`/$defs/…`).
"""

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

AS_IT_IS = (*VERBATIM, "service_tier")
"""OpenAI parameters that litellm passes on only if they are listed in `ALLOWED`; otherwise it rejects them."""

CHECKED = ("temperature", "top_p", "top_k", "metadata", "output_config")
"""Parameters that litellm checks: it rejects those that a model does not support according to its table, and removes a
user whose name is an email address or a telephone number."""

ALLOWED = "allowed_openai_params"
KEPT = ("model", "messages", "top_p", "top_k", "tools", "tool_choice", "parallel_tool_calls", *AS_IT_IS)


def body_for_anthropic(model: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a chat request to Anthropic's parameters, except messages and tools. Raises NotTakenError.

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


def for_litellm(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments with which litellm sends this body; `extra_body` contains what it might reject."""
    beside = {part: body[part] for part in CHECKED if part in body}
    given = {part: one for part, one in body.items() if part not in beside}
    allowed = [part for part in AS_IT_IS if part in given]
    return {**given, **({ALLOWED: allowed} if allowed else {}), **({"extra_body": beside} if beside else {})}
