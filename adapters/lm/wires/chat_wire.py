"""Write a chat request as dspy 3.4.1's own client does for APIs (doors) with OpenAI's chat completions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adapters.lm.dspy_facts import Door
from adapters.lm.protocol import Object
from adapters.lm.wires.dspys_client import (
    EFFORTS,
    EMBEDDED,
    VERBATIM,
    NotTakenError,
    call_of,
    effort_of,
    role_of,
    taken,
)

SPELLINGS: Mapping[str, frozenset[str]] = {
    "reasoning_effort": frozenset({"reasoning_effort"}),
    "openrouter": frozenset({"reasoning"}),
    "deepseek": frozenset({"thinking", "reasoning_effort"}),
    "kimi": frozenset({"thinking", "reasoning_effort"}),
    "qwen": frozenset({"enable_thinking"}),
}
"""Reasoning parameters that a door accepts, by its format of requesting reasoning."""

OFF: Mapping[str, dict[str, Any]] = {
    "openrouter": {"reasoning": {"enabled": False}},
    "qwen": {"enable_thinking": False},
    "reasoning_effort": {"reasoning_effort": "none"},
}
"""The parameters that turn reasoning off, for all other formats `thinking`."""


def body_of_dspys_client(door: Door, request: Object) -> dict[str, Any]:
    """Write the body of dspy's client, without the model's name. Raises NotTakenError.

    Omits `n`, for which dspy's client sends several requests.
    Rule: `dspy._vendor.lm15.providers.openai_chat`: `_ingest_openai_chat`, then `OpenAIChatLM._payload`, and what
    `.xai.XaiLM._payload` does before it.
    """
    given = taken(request, SPELLINGS.get(door.spelling or "", frozenset()) | {"reasoning_format"})
    alternatives, form, choice = given["top_logprobs"], given["response_format"], given["tool_choice"]
    body: dict[str, Any] = {"messages": _messages(given["messages"], door)}
    if given["max_tokens"] is not None and door.max_tokens is not None:
        body[door.max_tokens] = given["max_tokens"]
    kept = ("temperature", "top_p", "seed", "frequency_penalty", "presence_penalty", "service_tier", *VERBATIM)
    body |= {name: given[name] for name in kept if name in given}
    if given["stop"]:
        body["stop"] = given["stop"]
    if alternatives is not None and "logprobs" in door.params:
        body |= {"logprobs": True, **({"top_logprobs": alternatives} if alternatives else {})}
    if given["tools"]:
        body["tools"] = [{"type": "function", "function": one} for one in given["tools"]]
    if choice is not None:
        body["tool_choice"] = choice if isinstance(choice, str) else {"type": "function", "function": choice}
    if given.get("parallel_tool_calls") is not None:
        body["parallel_tool_calls"] = given["parallel_tool_calls"]
    if form is not None:
        if door.id == "xai" and choice not in (None, "auto", "none"):
            raise NotTakenError("a forced tool beside a response_format")
        inner = {name: value for name, value in form.items() if name != "type"}
        body["response_format"] = {"type": form["type"], **({"json_schema": inner} if inner else {})}
    body |= _reasoning(door, given)
    if "prompt_cache_key" in given:
        if door.cache_key == "refused":
            raise NotTakenError("prompt_cache_key, which this server lacks")
        if door.cache_key == "sent":
            body["prompt_cache_key"] = given["prompt_cache_key"]
    return body if given["user"] is None else {**body, door.user_field: given["user"]}


def _reasoning(door: Door, given: Object) -> dict[str, Any]:
    """Rule: `_ingest_reasoning`, and the reasoning part of `_payload`."""
    way = door.thinking or ""
    shown: dict[str, Any] = {}
    if given.get("reasoning_format") is not None:  # Groq separates the reasoning from the reply
        shown = {"reasoning_format": given["reasoning_format"]}
        if door.id != "groq" or shown != {"reasoning_format": "parsed"}:
            raise NotTakenError("a reasoning_format that it has no word for")
    effort = _wanted_effort(given)
    if effort is None:
        return shown
    if effort == "none" and door.id == "xai":
        effort = "low"
    if effort == "none":
        return shown | OFF.get(way, {"thinking": {"type": "disabled"}})
    if door.efforts is not None and effort not in door.efforts:
        wanted = EFFORTS.index(effort)
        effort = min(door.efforts, key=lambda one: (abs(EFFORTS.index(one) - wanted), EFFORTS.index(one)))
    if way == "openrouter":
        return {**shown, "reasoning": {"effort": effort}}
    if way == "deepseek":
        shown["thinking"] = {"type": "enabled"}
    return {**shown, "reasoning_effort": effort}


def _wanted_effort(given: Object) -> str | None:
    """Return the effort from any door's reasoning parameters; `none` disables reasoning."""
    effort = effort_of(given)
    thinking, reasoning = given.get("thinking"), given.get("reasoning")
    if thinking is not None:
        kind = thinking.get("type") if set(thinking) == {"type"} else None
        if kind == "disabled" and effort in (None, "none"):
            return "none"
        if kind != "enabled" or effort is None:
            raise NotTakenError("thinking that is neither disabled nor enabled with an effort")
    if reasoning is not None:
        if set(reasoning) - {"effort", "enabled"}:
            raise NotTakenError("reasoning that is more than an effort")
        if reasoning.get("enabled") is False:
            return "none"
        effort = effort_of({"reasoning_effort": reasoning.get("effort")})
        if effort is None:
            raise NotTakenError("reasoning without an effort")
    if "enable_thinking" in given:
        if given["enable_thinking"] is not False:
            raise NotTakenError("enable_thinking without an effort")
        return "none"
    return effort


def _messages(messages: Sequence[Object], door: Door) -> list[dict[str, Any]]:
    """Rule: `_ingest_messages`, then `OpenAIChatLM._build_messages`."""
    made = []
    for number, message in enumerate(messages):
        role, content = role_of(message), message.get("content")
        if role in ("system", "developer"):
            text = _content(content)
            if number > 0:
                made.append({"role": "system", "content": text})
            elif _joined(text):
                made.append({"role": "system", "content": _joined(text)})
        elif role == "user":
            made.append({"role": role, "content": _content(content, images=True)})
        elif role == "assistant":
            made.append(_assistant(message, door))
        elif role == "tool":
            blocks = _content(content, images=door.id == "xai")
            has_image = isinstance(blocks, list) and any(one["type"] != "text" for one in blocks)
            said = blocks if has_image else _joined(blocks)
            made.append({"role": role, "tool_call_id": message["tool_call_id"], "content": said})
        else:
            raise NotTakenError(f"a message of the role {role!r}")
    if all(number == 0 and one.get("role") in ("system", "developer") for number, one in enumerate(messages)):
        raise NotTakenError("no message but the system's")
    return made


def _assistant(message: Object, door: Door) -> dict[str, Any]:
    content, calls = message.get("content"), message.get("tool_calls") or []
    text = None if content is None and calls else _joined(_content("" if content is None else content))
    made: dict[str, Any] = {"role": "assistant", "content": text}
    if door.keeps_reasoning:
        made["reasoning_content"] = ""
    if calls:
        made["tool_calls"] = [
            {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
            for id, name, arguments in map(call_of, calls)
        ]
    return made


def _content(content: object, images: bool = False) -> str | list[dict[str, Any]]:
    """Convert a message's content to text, if it is a string or a single text block, else to blocks.

    Raises NotTakenError.
    """
    if isinstance(content, str):
        return content
    if not isinstance(content, list) or not content:
        raise NotTakenError("a message without content")
    blocks = [_block(one, images) for one in content]
    return str(blocks[0]["text"]) if len(blocks) == 1 and blocks[0]["type"] == "text" else blocks


def _joined(content: str | list[dict[str, Any]]) -> str:
    return content if isinstance(content, str) else "\n".join([one["text"] for one in content])


def _block(block: Object, images: bool) -> dict[str, Any]:
    if block.get("type") == "text" and set(block) == {"type", "text"} and isinstance(block["text"], str):
        return {"type": "text", "text": block["text"]}
    image = block.get("image_url")
    if not images or set(block) != {"type", "image_url"} or not isinstance(image, Mapping):
        raise NotTakenError(f"a part of the type {block.get('type')}")
    url, detail = image.get("url"), image.get("detail")
    known = set(image) <= {"url", "detail"} and detail in (None, "low", "high", "auto")
    if not known or not isinstance(url, str) or not url or (url.startswith("data:") and not EMBEDDED.fullmatch(url)):
        raise NotTakenError("an image that it cannot read")
    return {"type": "image_url", "image_url": {"url": url, **({"detail": detail} if detail else {})}}
