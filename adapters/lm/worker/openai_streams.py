"""Preserve parts of chat completion streams that litellm and OpenAI's client lose or fail on.

For every server with that protocol:

- a final `[DONE]`, which some servers send instead of a finish reason;
- a refusal, which litellm drops;
- reasoning that OpenRouter forwards under the field name of the upstream server;
- an error that some servers (vLLM, Mistral) send without `error` around it;
- content as a list of parts (text, thinking), which litellm ignores;
- a bare `retry:` or `id:`, which OpenAI's client reads as an empty event and fails on.

Loaded by path from `litellm_worker`; imports nothing of this project.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any

JSON = dict[str, Any]

_ODD = re.compile(r'"refusal"|"content"\s*:\s*\[|"object"\s*:\s*"error"')


Outgoing = Callable[[], Any]
"""A function that returns the HTTP traffic of the current task's call (`litellm_setup.Outgoing`), or None."""


def mend(outgoing: Outgoing) -> None:
    """Patch OpenAI's `AsyncStream` and litellm's own stream readers in this process."""
    _mend_client(outgoing)
    _mend_reader(outgoing)


def _mend_client(outgoing: Outgoing) -> None:
    streams: Any = getattr(sys.modules.get("openai"), "AsyncStream", None)
    iterate = getattr(streams, "_iter_events", None)
    if iterate is None:
        return

    async def events(self: object) -> AsyncIterator[Any]:
        from openai._streaming import ServerSentEvent

        async for event in iterate(self):
            if not event.data.strip():
                continue
            call = outgoing()
            if event.data.startswith("[DONE]"):
                if call is not None:
                    call.said_done = True
            elif _is_odd(event.data):
                event = ServerSentEvent(
                    event=event.event, data=json.dumps(_plain(json.loads(event.data), call)), id=event.id
                )
            yield event

    streams._iter_events = events


def _mend_reader(outgoing: Outgoing) -> None:
    from litellm.llms.openai.chat.gpt_transformation import OpenAIChatCompletionStreamingHandler as Reader

    parse: Any = Reader.chunk_parser

    def parsed(self: object, chunk: JSON) -> Any:
        return parse(self, _plain(chunk, outgoing()))

    Reader.chunk_parser = parsed

    from litellm.llms.openrouter.chat.transformation import OpenRouterChatCompletionStreamingHandler as RouterReader

    parse_routed: Any = RouterReader.chunk_parser

    def parsed_routed(self: object, chunk: JSON) -> Any:
        chunk = _plain(chunk, outgoing())
        if isinstance(chunk.get("error"), dict) and not isinstance(chunk["error"].get("code"), int):
            chunk["error"]["code"] = 502  # litellm fails on OpenRouter's "server_error"
        for choice in chunk.get("choices") or ():
            delta = choice.get("delta") or {}
            if delta.get("reasoning_content") and not delta.get("reasoning"):
                delta["reasoning"] = delta["reasoning_content"]
        return parse_routed(self, chunk)

    RouterReader.chunk_parser = parsed_routed


def _is_odd(data: str) -> bool:
    """Return whether an event may need `_plain`; most do not, and are not decoded twice."""
    return _ODD.search(data) is not None


def _plain(chunk: Any, call: Any) -> Any:
    """Convert a chunk's content to plain text; record refusals in `call`."""
    if not isinstance(chunk, dict):
        return chunk
    if chunk.get("object") == "error":
        return {"error": chunk}
    for choice in chunk.get("choices") or ():
        if isinstance(choice, dict) and "delta" not in choice:
            choice["delta"] = choice.pop("message", None)
        delta = choice.get("delta") if isinstance(choice, dict) else None
        if not isinstance(delta, dict):
            continue
        refusal = delta.pop("refusal", None)
        if isinstance(refusal, str) and refusal and call is not None:
            index = choice.get("index") or 0
            call.refusals[index] = call.refusals.get(index, "") + refusal
        if isinstance(delta.get("content"), list):
            text, thought = _parts(delta["content"])
            delta["content"] = text
            if thought:
                delta["reasoning_content"] = (delta.get("reasoning_content") or "") + thought
    return chunk


def _parts(parts: list[Any]) -> tuple[str, str]:
    """Return the text and the reasoning of a list of parts, as sent by Mistral's reasoning models."""
    text: list[str] = []
    thought: list[str] = []
    for part in parts:
        if isinstance(part, str):
            text.append(part)
        elif isinstance(part, dict) and isinstance(part.get("thinking"), list):
            thought.append(_parts(part["thinking"])[0])
        elif isinstance(part, dict) and isinstance(part.get("thinking"), str):
            thought.append(part["thinking"])
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            text.append(part["text"])
    return "".join(text), "".join(thought)
