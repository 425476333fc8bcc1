"""A chat request as OpenAI's Responses API takes it: by dspy's own client, and by litellm for dspy."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from typing import Any

from adapters.lm.model_routes import has_gateway, own_route

CANONICAL = frozenset(
    {
        *("frequency_penalty", "logit_bias", "logprobs", "max_completion_tokens", "max_tokens", "messages", "model"),
        *("n", "parallel_tool_calls", "prediction", "presence_penalty", "reasoning_effort", "response_format"),
        *("safety_identifier", "seed", "service_tier", "stop", "temperature", "tool_choice", "tools", "top_k"),
        *("top_logprobs", "top_p", "user", "verbosity"),
    }
)
"""The parts that dspy's client takes; with any other it leaves the request to litellm."""

TAKEN_BY_LITELLM = frozenset(
    {
        *("include", "input", "instructions", "max_output_tokens", "metadata", "model", "parallel_tool_calls"),
        *("prompt_cache_key", "reasoning", "safety_identifier", "service_tier", "store", "temperature", "text"),
        *("tool_choice", "tools", "top_logprobs", "top_p", "truncation", "user"),
    }
)
"""What of a request litellm sends on (its `ResponsesAPIOptionalRequestParams`); it drops the rest without a word."""


class NotTakenError(ValueError):
    """A part of a request that dspy's own client refuses, so that litellm gets it."""


def is_by_dspys_client(
    model: str, request: Mapping[str, Any], connection: frozenset[str], environment: Mapping[str, str]
) -> bool:
    """Whether dspy's own client sends this request. `connection` names the settings of the connection in use."""
    route = None if has_gateway(model, environment) else own_route(model, "responses", connection)
    if route is None or route.door.dialect != "openai-responses" or not set(request) <= CANONICAL:
        return False
    try:
        body_of_dspys_client(request)
    except NotTakenError:
        return False
    return True


def body_of_dspys_client(request: Mapping[str, Any]) -> dict[str, Any]:
    """What dspy's client writes beside the model's name. Raises NotTakenError.

    Of the stops it sends none, and cuts the reply itself (`cut_at_stops`); of `n` neither, and sends as many requests.
    Rule: `dspy._vendor.lm15.providers.openai_chat._ingest_openai_chat`, then `.openai.OpenAILM._payload`.
    """
    given = {name: value for name, value in request.items() if value is not None}
    system, items = _input(given["messages"])
    body: dict[str, Any] = {"input": items}
    if system:
        body["instructions"] = system
    limit = given.get("max_completion_tokens", given.get("max_tokens"))
    if limit is not None:
        body["max_output_tokens"] = limit
    body |= {name: given[name] for name in ("temperature", "top_p") if name in given}
    if given.get("logprobs") is True:
        body |= {"top_logprobs": given.get("top_logprobs", 0), "include": ["message.output_text.logprobs"]}
    elif "top_logprobs" in given:
        raise NotTakenError("top_logprobs without logprobs")
    if given.get("tools"):
        body["tools"] = [_tool(one) for one in given["tools"]]
    choice, parallel = given.get("tool_choice"), given.get("parallel_tool_calls")
    if choice is not None or parallel is not None:
        body["tool_choice"] = _choice("auto" if choice is None else choice)
    if parallel is not None:
        body["parallel_tool_calls"] = parallel
    form = _form(given.get("response_format"))
    if form is not None:
        body["text"] = {"format": form}
    effort = given.get("reasoning_effort")
    if effort is not None:
        if not isinstance(effort, str):
            raise NotTakenError("reasoning_effort as an object")
        body["reasoning"] = {"effort": effort}
    body |= {name: given[name] for name in ("service_tier", "logit_bias", "verbosity", "prediction") if name in given}
    user = given.get("user", given.get("safety_identifier"))
    if "user" in given and "safety_identifier" in given:
        raise NotTakenError("user and safety_identifier")
    return body if user is None else {**body, "safety_identifier": user}


def body_by_litellm(request: Mapping[str, Any], developer_role: bool) -> dict[str, Any]:
    """What dspy hands to litellm. Rule: `dspy.clients.legacy_requests.chat_to_responses`."""
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
    if "max_completion_tokens" in data and "max_tokens" not in data:
        data["max_tokens"] = data.pop("max_completion_tokens")
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
        data["text"] = {"format": _form(form) if form.get("type") == "json_schema" else form}
    return {name: value for name, value in data.items() if value is not None}


def _input(messages: Sequence[Mapping[str, Any]]) -> tuple[str, list[dict[str, Any]]]:
    """The system's text and the other messages as items."""
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
            items += [_call(one, json.dumps(_arguments(one), separators=(",", ":"))) for one in calls]
    return system, items


def _arguments(call: Mapping[str, Any]) -> Any:
    given = call["function"].get("arguments") or "{}"
    try:
        return json.loads(given) if isinstance(given, str) else given
    except ValueError:
        raise NotTakenError("arguments that are no JSON") from None


def _call(call: Mapping[str, Any], arguments: str) -> dict[str, Any]:
    return {
        "type": "function_call",
        "call_id": call.get("call_id") or call.get("id"),
        "name": call["function"]["name"],
        "arguments": arguments,
    }


def _result(message: Mapping[str, Any]) -> dict[str, Any]:
    content = message.get("content") or ""
    text = content if isinstance(content, str) else "".join(one.get("text", "") for one in content)
    return {"type": "function_call_output", "call_id": message.get("tool_call_id"), "output": text}


def _blocks(content: Any, role: str) -> list[dict[str, Any]]:
    """A message's content as dspy's client writes it. Raises NotTakenError."""
    kind = "output_text" if role == "assistant" else "input_text"
    if isinstance(content, str):
        return [{"type": kind, "text": content}]
    return [_block(one, kind) for one in content]


def _block(block: Mapping[str, Any], kind: str) -> dict[str, Any]:
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


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    function = tool["function"]
    if tool.get("type") != "function" or function.get("strict") is True:
        raise NotTakenError("a tool that is no plain function")
    usual = {"type": "object", "properties": {}}
    return {
        "type": "function",
        "name": function["name"],
        "description": function.get("description"),
        "parameters": function.get("parameters", usual),
    }


def _choice(choice: Any) -> Any:
    if not isinstance(choice, Mapping):
        return choice
    if choice.get("type") != "function":
        raise NotTakenError("a choice of tools that names no function")
    return {"type": "function", "name": choice["function"]["name"]}


def _form(form: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """`response_format` as `text.format` has it."""
    if form is None or form.get("type") == "text":
        return None
    if form.get("type") != "json_schema":
        return dict(form)
    inner = form["json_schema"]
    strict = {"strict": inner["strict"]} if inner.get("strict") is not None else {}
    return {"type": "json_schema", "name": inner.get("name") or "response", "schema": inner["schema"], **strict}
