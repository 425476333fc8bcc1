"""Convert the messages and replies in traces of any format to OpenAI's form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sessions.imports.reading import decoded, dict_in, list_in, objects_in

ROLES = {
    "human": "user",
    "ai": "assistant",
    "HumanMessage": "user",
    "AIMessage": "assistant",
    "SystemMessage": "system",
    "ToolMessage": "tool",
}
DEEPEST = 40
CALLS = ("tool_call", "tool_use")
RESULTS = ("tool_call_response", "tool_result")
"""The types of a message's parts for calls of tools and for their results."""


def messages_in(value: object) -> list[dict[str, Any]]:
    """Convert messages of any format to OpenAI's form; of a batch, the first list."""
    value = decoded(value)
    if isinstance(value, list) and value and isinstance(value[0], list):
        value = value[0]
    return [each for one in objects_in(value) for each in messages_of(one)]


def messages_of(one: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Convert a message of any format to OpenAI's form, where each result of a tool is a message."""
    inside = next((one[key] for key in ("kwargs", "data") if isinstance(one.get(key), dict)), one)
    kind = one["id"][-1] if isinstance(one.get("id"), list) and one["id"] else one.get("type")
    role = one.get("role") or inside.get("role") or ROLES.get(str(kind), kind)
    content, name = inside.get("content", inside.get("parts")), inside.get("name")
    parts = objects_in(content)
    made = []
    for part in [part for part in parts if part.get("type") in RESULTS]:
        said = next((part[key] for key in ("response", "result", "content") if key in part), "")
        said = said if isinstance(said, str | list) else json.dumps(said, ensure_ascii=False)
        made.append(_message(role, said, part.get("id") or part.get("tool_use_id"), name))
    others = [part for part in parts if part.get("type") not in (*CALLS, *RESULTS)]
    if made and not others:
        return made
    content = content if len(others) == len(parts) else others or None
    answered = inside.get("tool_call_id") or (inside.get("id") if role == "tool" else None)
    calls = tool_calls_in(inside)
    return [*made, _message(role, content, answered, name) | ({"tool_calls": calls} if calls else {})]


def _message(role: object, content: Any, answered: object, name: object) -> dict[str, Any]:
    text = _text_of(content)
    made = {"role": str(role), "content": content if text is None else text}
    if isinstance(answered, str):
        made |= {"role": "tool", "tool_call_id": answered, **({"name": name} if isinstance(name, str) else {})}
    return made


def tool_calls_in(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a message's tool calls of any format in OpenAI's form."""
    parts = [one for one in objects_in(message.get("content", message.get("parts"))) if one.get("type") in CALLS]
    made = []
    for one in map(dict_in, [*list_in(message.get("tool_calls")), *parts]):
        call = dict_in(one.get("tool_call")) or one
        function = dict_in(call.get("function")) or call
        arguments: Any = next((function[key] for key in ("arguments", "args", "input") if key in function), {})
        text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        if isinstance(function.get("name"), str):
            named = {"name": function["name"], "arguments": text}
            made.append({"id": call.get("id"), "type": "function", "function": named})
    return made


def reply_message(value: object) -> Mapping[str, Any]:
    """Return the message in a reply of any format; empty for a text."""
    found: dict[str, Any] = {}
    while isinstance(value, list | dict) and value:
        if isinstance(value, list):
            found, value = {}, value[0]
            continue
        found = value
        inside = [found.get(key) for key in ("choices", "generations", "message", "kwargs", "output")]
        value = next((one for one in inside if one and isinstance(one, list | dict)), None)
    return found


def text_in(value: object, depth: int = 0) -> str:
    """Return the text of a reply in any format; "" if it has none in the first `DEEPEST` levels."""
    if isinstance(value, str):
        return value
    if depth > DEEPEST:
        return ""
    if isinstance(value, list):
        text = _text_of(value)
        return text_in(value[0], depth + 1) if text is None else text
    if isinstance(value, dict):
        for key in ("choices", "generations", "message", "kwargs", "content", "parts", "text", "output"):
            if text := text_in(value.get(key), depth + 1):
                return text
    return ""


def _text_of(content: object) -> str | None:
    """Return content that is a text, or joined text parts; None for other content."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list) or not all(isinstance(one, dict) and one.get("type") == "text" for one in content):
        return None
    return "".join([str(one.get("text", one.get("content"))) for one in content])
