"""Convert a chat request for OpenAI's Responses API, as dspy's own client does and as dspy does for litellm."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from typing import Any

from adapters.lm.protocol import Object
from adapters.lm.wires.dspys_client import VERBATIM, NotTakenError, arguments_of, taken

OPENAI_REASONING = re.compile(r"o[1345](-(mini|nano|pro))?(-\d{4}-\d{2}-\d{2})?|gpt-5(\.\d+)*(?!-chat)(-.*)?")
"""Models whose token limit dspy calls `max_completion_tokens` (`dspy.clients.lm._is_openai_reasoning_model`)."""


TAKEN_BY_LITELLM = frozenset(
    {
        *("include", "input", "instructions", "max_output_tokens", "metadata", "model", "parallel_tool_calls"),
        *("prompt_cache_key", "reasoning", "safety_identifier", "service_tier", "store", "temperature", "text"),
        *("tool_choice", "tools", "top_logprobs", "top_p", "truncation", "user"),
    }
)
"""Parameters that litellm sends (its `ResponsesAPIOptionalRequestParams`); it silently drops all others."""


def body_of_dspys_client(request: Object) -> dict[str, Any]:
    """Write the body of dspy's client, without the model's name. Raises NotTakenError.

    Omits stop sequences, which are applied to the reply (`cut_at_stops`), and `n`, for which several requests are sent.
    Rule: `dspy._vendor.lm15.providers.openai_chat._ingest_openai_chat`, then `.openai.OpenAILM._payload`.
    """
    given = taken(request)
    system, items = _input(given["messages"])
    choice, form, effort = given["tool_choice"], given["response_format"], given["reasoning_effort"]
    body: dict[str, Any] = {"input": items}
    if system:
        body["instructions"] = system
    if given["max_tokens"] is not None:
        body["max_output_tokens"] = given["max_tokens"]
    if given["top_logprobs"] is not None:
        body |= {"top_logprobs": given["top_logprobs"], "include": ["message.output_text.logprobs"]}
    if given["tools"]:
        body["tools"] = [{"type": "function", **one} for one in given["tools"]]
    if choice is not None:
        body["tool_choice"] = choice if isinstance(choice, str) else {"type": "function", **choice}
    if form is not None:
        body["text"] = {"format": form}
    if effort is not None:
        body["reasoning"] = {"effort": effort}
    kept = ("temperature", "top_p", "parallel_tool_calls", "service_tier", "prompt_cache_key", *VERBATIM)
    body |= {name: given[name] for name in kept if name in given}
    return body if given["user"] is None else {**body, "safety_identifier": given["user"]}


def body_by_litellm(model: str, request: Object, developer_role: bool) -> dict[str, Any]:
    """Return the body that dspy passes to litellm. Rule: `dspy.clients.legacy_requests.chat_to_responses`."""
    data = {name: value for name, value in copy.deepcopy(dict(request)).items() if name != "messages"}
    items: list[dict[str, Any]] = []
    for message in request["messages"]:
        role, content, calls = message.get("role"), message.get("content"), message.get("tool_calls") or []
        if role == "tool":
            items.append(_result(message))
            continue
        role = "developer" if role == "system" and developer_role else role
        blocks = _litellm_blocks(content, role)
        if blocks or role != "assistant" or not calls:
            items.append({"role": role, "content": blocks})
        items += [_call(one, one["function"].get("arguments", "{}")) for one in calls]
    data["input"] = items
    # For any other model, `dspy.LM` always has `max_tokens`, if only None, so dspy ignores `max_completion_tokens`.
    if OPENAI_REASONING.fullmatch(model.rpartition("/")[2].lower()) and "max_tokens" not in data:
        data["max_tokens"] = data.pop("max_completion_tokens", None)
    limit = data.pop("max_tokens", None)
    if limit is not None:
        data["max_output_tokens"] = limit
    if "reasoning_effort" in data:
        effort = data.pop("reasoning_effort")
        if data.get("reasoning") is None:
            data["reasoning"] = {"effort": effort, "summary": "auto"}
    if data.get("tools"):
        data["tools"] = [{"type": "function", **one["function"]} for one in data["tools"]]
    choice = data.get("tool_choice")
    if isinstance(choice, Mapping) and "function" in choice:
        data["tool_choice"] = {"type": "function", "name": choice["function"]["name"]}
    form = data.pop("response_format", None)
    if form is not None:
        if form.get("type") == "json_schema":
            inner = form["json_schema"]
            form = {"name": inner.get("name") or "response", "type": "json_schema", "schema": inner["schema"]}
            if inner.get("strict") is not None:
                form["strict"] = inner["strict"]
        data["text"] = {"format": dict(form)}
    return {name: value for name, value in data.items() if value is not None}


def _input(messages: Sequence[Object]) -> tuple[str, list[dict[str, Any]]]:
    """Return the text of the system message, and the other messages as items."""
    system, items = "", []
    for number, message in enumerate(messages):
        role, content = message["role"], message.get("content")
        if number == 0 and role in ("system", "developer"):
            blocks = _blocks(content, "user")
            if any(one["type"] != "input_text" for one in blocks):
                raise NotTakenError("a system message that is not all text")
            system = "\n".join(one["text"] for one in blocks)
        elif role == "tool":
            items.append(_result(message))
        else:
            calls = message.get("tool_calls") or []
            blocks = _blocks(content, role) if content is not None else []
            if blocks or not calls:
                shown = "developer" if role == "system" else role
                items.append({"role": shown, "content": blocks or [{"type": "output_text", "text": ""}]})
            items += [_call(one, arguments_of(one)) for one in calls]
    return system, items


def _call(call: Object, arguments: str) -> dict[str, Any]:
    return {
        "type": "function_call",
        "call_id": call.get("call_id") or call.get("id"),
        "name": call["function"]["name"],
        "arguments": arguments,
    }


def _result(message: Object) -> dict[str, Any]:
    content = message.get("content") or ""
    text = content if isinstance(content, str) else "".join(one.get("text", "") for one in content)
    return {"type": "function_call_output", "call_id": message.get("tool_call_id"), "output": text}


def _blocks(content: Any, role: str) -> list[dict[str, Any]]:
    """Convert a message's content as dspy's client does. Raises NotTakenError."""
    kind = "output_text" if role == "assistant" else "input_text"
    if isinstance(content, str):
        return [{"type": kind, "text": content}]
    return [_block(one, kind) for one in content]


def _block(block: Object, kind: str) -> dict[str, Any]:
    if block.get("type") == "text" and set(block) <= {"type", "text"}:
        return {"type": kind, "text": block["text"]}
    if block.get("type") == "image_url" and kind == "input_text":
        image = block["image_url"] if isinstance(block["image_url"], Mapping) else {"url": block["image_url"]}
        detail = {"detail": image["detail"]} if image.get("detail") else {}
        return {"type": "input_image", "image_url": image["url"], **detail}
    raise NotTakenError(f"a part of the type {block.get('type')}")


def _litellm_blocks(content: Any, role: Any) -> list[dict[str, Any]]:
    """Rule: `dspy.clients.legacy_requests._content`."""
    kind = "output_text" if role == "assistant" else "input_text"
    if isinstance(content, str):
        return [{"type": kind, "text": content}]
    made: list[dict[str, Any]] = []
    for block in content or ():
        if block.get("type") == "text":
            made.append({"type": kind, "text": block.get("text", "")})
        elif block.get("type") == "image_url":
            made.append(_block(block, "input_text"))
        elif block.get("type") == "file":
            file = block.get("file", {})
            made.append({"type": "input_file", **{key: file.get(key) for key in ("file_data", "filename", "file_id")}})
        else:
            made.append(copy.deepcopy(dict(block)))
    return made
