"""Check which parts of a chat request dspy 3.4.1's own client accepts.

If a request contains an unknown name or value, dspy uses litellm instead (`NotTakenError` here).
Rule: `dspy._vendor.lm15.providers.openai_chat._ingest_config`, and the checks of `dspy._vendor.lm15.types.Config`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from adapters.lm.protocol import Object

RANGES: Mapping[str, tuple[float, float]] = {
    "temperature": (0, 2),
    "top_p": (0, 1),
    "frequency_penalty": (-2, 2),
    "presence_penalty": (-2, 2),
}
"""Allowed ranges of parameters that are sent as floats (1.0 for 1)."""

WHOLE = ("max_tokens", "max_completion_tokens", "top_k", "seed")
POSITIVE = ("max_tokens", "max_completion_tokens", "top_k")
TEXTS = ("service_tier", "user", "safety_identifier", "prompt_cache_key")
"""Parameters that must be non-empty strings."""

VERBATIM = ("logit_bias", "verbosity", "prediction")
"""Parameters that are sent unchecked and unchanged."""

REASONING = ("reasoning_effort", "reasoning", "thinking", "enable_thinking", "reasoning_format")
"""Parameters that request reasoning; each door accepts some of them."""

EFFORTS = ("minimal", "low", "medium", "high", "xhigh", "max")
OFF = ("none", "off")
"""Efforts that disable reasoning."""

CANONICAL = frozenset(
    {
        *("messages", "model", "n", "stop", "logprobs", "top_logprobs", "response_format"),
        *("tools", "tool_choice", "parallel_tool_calls"),
        *RANGES,
        *WHOLE,
        *TEXTS,
        *VERBATIM,
        *REASONING,
    }
)
"""The request parameters that dspy's client accepts."""

EMBEDDED = re.compile(r"data:([^,]+);base64,(.+)", re.DOTALL)

OF_ROLE: Mapping[str, tuple[str, ...]] = {"assistant": ("tool_calls",), "tool": ("tool_call_id", "name")}
"""Keys of a message besides its role and content."""


class NotTakenError(ValueError):
    """A part of a request that dspy's own client rejects, so that dspy uses litellm."""


def taken(request: Object, reasoning: Collection[str] = ("reasoning_effort",)) -> dict[str, Any]:
    """Check a request's parameters and normalize them as dspy's client does. Raises NotTakenError.

    `reasoning` are the parameters with which the door asks for reasoning; it takes no others of that kind.
    Those that are None are dropped. Always there, None or empty if not wanted: `stop`, `max_tokens` (either limit),
    `top_logprobs`, `reasoning_effort` (`none` disables reasoning), `tools` (as `name`, `description` and `parameters`),
    `tool_choice` (`none`, `auto`, `required`, or the tool to call as `{"name"}`), `response_format` (as `type` and, for
    a schema, `name`, `schema`, `strict`) and `user`.
    """
    given = {name: value for name, value in request.items() if value is not None}
    unknown = sorted(set(given) - CANONICAL)
    if unknown:
        raise NotTakenError(f"{unknown[0]}, which it does not know")
    foreign = [name for name in REASONING if name in given and name not in reasoning]
    if foreign:
        raise NotTakenError(f"{foreign[0]}, which is another server's way of asking for reasoning")
    for name in RANGES.keys() & given.keys():
        (low, high), value = RANGES[name], given[name]
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise NotTakenError(f"{name} that is not between {low} and {high}")
        given[name] = float(value)
    for name in WHOLE:
        if name in given:
            given[name] = _whole(name, given[name], 1 if name in POSITIVE else None)
    for name in TEXTS:
        if name in given and not (isinstance(given[name], str) and given[name]):
            raise NotTakenError(f"{name} that is empty or not text")
    stops = given.get("stop") or ()
    given["stop"] = [stops] if isinstance(stops, str) else list(stops)
    if any(not isinstance(one, str) or not one for one in given["stop"]):
        raise NotTakenError("a stop that is empty or not text")
    limits = {repr(given[name]) for name in ("max_tokens", "max_completion_tokens") if name in given}
    if len(limits) > 1:
        raise NotTakenError("two limits of tokens")
    if "user" in given and "safety_identifier" in given:
        raise NotTakenError("user and safety_identifier")
    tools = [_tool(one) for one in given.get("tools") or ()]
    if len({one["name"] for one in tools}) < len(tools):
        raise NotTakenError("two tools with the same name")
    logprobs, alternatives = given.get("logprobs", False), None
    if logprobs is True:
        alternatives = _whole("top_logprobs", given.get("top_logprobs", 0), 0)
    elif logprobs is not False or "top_logprobs" in given:
        raise NotTakenError("top_logprobs without logprobs")
    return given | {
        "max_tokens": given.get("max_completion_tokens", given.get("max_tokens")),
        "top_logprobs": alternatives,
        "reasoning_effort": effort_of(given),
        "tools": tools,
        "tool_choice": _choice(given, tools),
        "response_format": _form(given),
        "user": given.get("user", given.get("safety_identifier")),
    }


def effort_of(given: Object) -> str | None:
    """Return `reasoning_effort`: an entry of `EFFORTS`, or `none` to disable reasoning. Raises NotTakenError."""
    effort = given.get("reasoning_effort")
    if effort is None or (isinstance(effort, str) and effort in EFFORTS):
        return effort
    if effort in OFF:
        return "none"
    raise NotTakenError(f"the effort {effort!r}")


def _choice(given: Object, tools: Sequence[Object]) -> str | Mapping[str, str] | None:
    choice, parallel = given.get("tool_choice"), given.get("parallel_tool_calls")
    if parallel is not None and not isinstance(parallel, bool):
        raise NotTakenError("parallel_tool_calls that is not true or false")
    if choice is None:
        return None if parallel is None else "auto"
    if choice in ("auto", "required") or (choice == "none" and parallel is None):
        return str(choice)
    if isinstance(choice, Mapping) and set(choice) <= {"type", "function"} and choice.get("type") == "function":
        function = choice.get("function")
        if isinstance(function, Mapping) and set(function) == {"name"}:
            if function["name"] in [one["name"] for one in tools]:
                return {"name": function["name"]}
            raise NotTakenError("a choice of a tool that is not among the tools")
    raise NotTakenError("a choice of tools that names no function")


def _form(given: Object) -> dict[str, Any] | None:
    form = given.get("response_format")
    if form is None:
        return None
    kind = form.get("type")
    if kind in ("text", "json_object") and set(form) == {"type"}:
        return None if kind == "text" else {"type": "json_object"}
    inner = form.get("json_schema")
    if kind != "json_schema" or not isinstance(inner, Mapping) or set(form) - {"type", "json_schema"}:
        raise NotTakenError("a response_format for something other than JSON")
    strict, name = inner.get("strict"), inner.get("name", "response")
    if set(inner) - {"name", "schema", "strict", "description"} or inner.get("description") is not None:
        raise NotTakenError("a schema that says more than its name and itself")
    if not isinstance(inner.get("schema"), Mapping) or not isinstance(strict, bool | None):
        raise NotTakenError("a response_format without a schema")
    if name is not None and (not isinstance(name, str) or not name):
        raise NotTakenError("a schema whose name is empty or not text")
    kept = {} if strict is None else {"strict": strict}
    return {"type": "json_schema", "name": name or "response", "schema": inner["schema"], **kept}


def arguments_of(call: Object) -> str:
    """Return the arguments of a tool call as compact JSON. Raises NotTakenError."""
    given = call["function"].get("arguments", "{}")
    try:
        read = (json.loads(given) if given else {}) if isinstance(given, str) else given
    except ValueError:
        raise NotTakenError("arguments that are not JSON") from None
    if not isinstance(read, dict):
        raise NotTakenError("arguments that are not an object")
    return json.dumps(read, separators=(",", ":"))


def call_of(call: Object) -> tuple[str, str, str]:
    """Return a tool call's id, name and arguments as compact JSON. Raises NotTakenError."""
    _only(call, "id", "type", "function")
    _only(call["function"], "name", "arguments")
    if call.get("type", "function") != "function" or not isinstance(call.get("id"), str):
        raise NotTakenError("a call that is none of a plain function")
    return call["id"], call["function"]["name"], arguments_of(call)


def role_of(message: Object) -> str:
    """Return the role of a message without unknown keys. Raises NotTakenError."""
    role = str(message.get("role"))
    _only(message, "role", "content", *OF_ROLE.get(role, ()))
    if role == "tool" and not isinstance(message.get("tool_call_id"), str):
        raise NotTakenError("a tool's result without the id of its call")
    return role


def _only(mapping: Object, *names: str) -> None:
    """Raise NotTakenError if `mapping` has a value other than None under a name not in `names`."""
    more = [name for name, value in mapping.items() if name not in names and value is not None]
    if more:
        raise NotTakenError(f"{more[0]} in a message")


def _tool(tool: Object) -> dict[str, Any]:
    function = tool.get("function")
    if tool.get("type") != "function" or set(tool) != {"type", "function"} or not isinstance(function, Mapping):
        raise NotTakenError("a tool that is not a plain function")
    if set(function) - {"name", "description", "parameters", "strict"} or function.get("strict") is True:
        raise NotTakenError("a tool that is not a plain function")
    if not isinstance(function.get("name"), str) or not function["name"]:
        raise NotTakenError("a tool without a name")
    parameters = function.get("parameters")
    return {
        "name": function["name"],
        "description": function.get("description"),
        "parameters": {"type": "object", "properties": {}} if parameters is None else parameters,
    }


def _whole(name: str, value: object, least: int | None) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or (least is not None and value < least):
        raise NotTakenError(f"{name} that is too small or not a whole number")
    return value
