"""Mend the streams of replies: preserve what litellm and OpenAI's client lose, and join small events.

Preserved, for every server with OpenAI's chat completions:

- a final `[DONE]`, which some servers send instead of a finish reason;
- a refusal, which litellm drops;
- the text that an Anthropic citation supports, which litellm adds to whole replies only;
- reasoning that OpenRouter forwards under the field name of the upstream server;
- an error that some servers (vLLM, Mistral) send without `error` around it;
- a finish reason that tells of a failure, which litellm turns into "stop", also in whole replies;
- content as a list of parts (text, thinking), which litellm ignores;
- a bare `retry:` or `id:`, which OpenAI's client reads as an empty event and fails on.

Joined, for every API: litellm needs about half a millisecond and some kilobytes for each event, whatever its size. A
fast server, or a proxy that buffers a reply, sends hundreds of events in one network read. Such events are joined
before litellm reads them if they differ only in their text. Small numbers of events are passed on unchanged, byte for
byte.

Loaded by path from `litellm_worker`; imports nothing of this project.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

JSON = dict[str, Any]

NEVER_STREAMED = ("cohere", "cohere_chat", "text-completion-openai")
"""Providers whose streams litellm breaks: it reads Cohere's events as lines of JSON, and hides whether a text
completion is complete."""

NO_STREAMS = re.compile(
    r"stream\w*[^.]{0,60}(not (be )?(support|allow|implement|availabl|enabl)|unsupported|must be false)"
    r"|(not support|unsupported|cannot|does not)[^.]{0,40}stream",
    re.IGNORECASE,
)
"""Messages of servers that do not support streaming; the request is then repeated without it."""

FAILURES = (
    "insufficient_system_resource",
    "network_error",
    "MALFORMED_FUNCTION_CALL",
    "MALFORMED_RESPONSE",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
)
"""Finish reasons of DeepSeek, Zhipu and Gemini for replies that failed."""

_ODD = re.compile(r'"refusal"|"content"\s*:\s*\[|"object"\s*:\s*"error"')


Outgoing = Callable[[], Any]
"""A function that returns the HTTP traffic of the current task's call (`litellm_setup.Outgoing`), or None."""


def keep_lost_parts(outgoing: Outgoing) -> None:
    """Patch OpenAI's `AsyncStream` and litellm's own stream readers in this process."""
    _mend_client(outgoing)
    _mend_reader(outgoing)
    _note_citations(outgoing)
    _note_failures(outgoing)


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
            elif _ODD.search(event.data):  # most events need no change, and are not decoded twice
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


def _note_citations(outgoing: Outgoing) -> None:
    from litellm.llms.anthropic.chat.handler import ModelResponseIterator as Reader

    read: Any = getattr(Reader, "_content_block_delta_helper", None)
    if read is None:
        return

    def noted(self: object, chunk: JSON) -> Any:
        call, delta, block = outgoing(), chunk.get("delta") or {}, chunk.get("index")
        if call is not None and delta.get("text"):
            call.blocks.setdefault(block, []).append(delta["text"])
        elif call is not None and isinstance(delta.get("citation"), dict):
            call.citations.append((block, delta["citation"]))
        return read(self, chunk)

    Reader._content_block_delta_helper = noted


def _note_failures(outgoing: Outgoing) -> None:
    from litellm.litellm_core_utils import core_helpers

    class Noting(dict[str, Any]):
        def get(self, reason: str, default: Any = None) -> Any:
            call = outgoing()
            if call is not None and reason in FAILURES:
                call.failed_ending = reason
            return super().get(reason, default)

    known = getattr(core_helpers, "_FINISH_REASON_MAP", None)
    if known is not None:
        core_helpers._FINISH_REASON_MAP = Noting(known)


def citations_of(call: Any) -> list[JSON]:
    """Return the citations of a streamed reply as litellm gives those of a whole reply."""
    texts = {block: "".join(pieces) for block, pieces in call.blocks.items()}
    return [{**one, "supported_text": texts.get(block, "")} for block, one in call.citations]


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


KEPT_CHUNKS = 32
KEPT_COUNTS = 8
"""Maximum number of chunks with token counts kept: some providers count in every chunk, and later counts suffice."""


class LastChunks(list[Any]):
    """A list that keeps only the chunks that litellm needs: the last ones, and the last with token counts.

    litellm itself would keep every chunk until the end, 4 kB for a few letters, and copy all the text for each chunk.
    """

    def append(self, chunk: object) -> None:
        super().append(chunk)
        if len(self) > KEPT_CHUNKS:
            counts = [one for one in self[:-2] if getattr(one, "usage", None) is not None]
            self[:] = counts[-KEPT_COUNTS:] + self[-2:]


Place = tuple[str | int, ...]

PLACES: tuple[Place, ...] = (
    ("choices", 0, "delta", "content"),
    ("choices", 0, "delta", "reasoning_content"),
    ("choices", 0, "delta", "reasoning"),
    ("choices", 0, "text"),
    ("delta", "text"),
    ("delta", "thinking"),
    ("delta",),
    ("candidates", 0, "content", "parts", 0, "text"),
    ("message", "content"),
    ("message", "thinking"),
)
"""Paths to the text in an event of OpenAI's chat and text completions, Anthropic, the Responses API, Gemini and
Ollama."""

PASSING = ("created", "created_at", "obfuscation", "sequence_number", "usageMetadata")
"""Members that change from event to event and do not describe the text; the last event's values are kept."""

NAMING = frozenset(
    "id object model provider system_fingerprint service_tier role type index thought item_id output_index "
    "content_index summary_index modelVersion responseId".split()
)
"""Members that may accompany the text because they only identify what it belongs to. An event with any other non-empty
member (a count, a probability, a citation) is not joined."""

_SSE_END = re.compile(rb"\r?\n\r?\n|\r\r")
_LINE_END = re.compile(rb"\n")
_ENDS = {"text/event-stream": _SSE_END, "application/x-ndjson": _LINE_END}
_LONGEST_END = 4

FEW = 16
"""Maximum events of a network read that are passed on unchanged: they are cheap, and visible as they arrive."""

_DATA = re.compile(rb"(?:event: ?([^\r\n]*)\r?\n)?data: ?([^\r\n]*)")


def join_events(response_type: Any) -> None:
    """Patch httpx's `Response` in this process to join the events of async streams."""
    read = response_type.aiter_bytes

    async def aiter_bytes(self: Any, chunk_size: int | None = None) -> AsyncIterator[bytes]:
        end = _ENDS.get(self.headers.get("content-type", "").partition(";")[0].strip().lower())
        if end is None:
            async for data in read(self, chunk_size):
                yield data
            return
        waiting = bytearray()
        async for data in read(self):
            looked_at = max(0, len(waiting) - _LONGEST_END)
            waiting += data
            ends = [one.end() for one in end.finditer(waiting, looked_at)]
            if ends:
                whole = bytes(waiting[: ends[-1]])
                del waiting[: ends[-1]]
                yield whole if len(ends) <= FEW else joined(whole, end)
        if waiting:
            yield bytes(waiting)

    response_type.aiter_bytes = aiter_bytes


def joined(data: bytes, end: re.Pattern[bytes] = _SSE_END) -> bytes:
    """Join the events of `data` that differ only in a piece of text."""
    made: list[bytes] = []
    run: _Run | None = None
    start = 0
    for found in end.finditer(data):
        raw = data[start : found.end()]
        start = found.end()
        piece = _piece(raw, end)
        if run is not None and piece is not None and run.takes(piece):
            continue
        if run is not None:
            made.append(run.written())
        run = piece
        if piece is None:
            made.append(raw)
    if run is not None:
        made.append(run.written())
    return b"".join(made)


class _Run:
    """Consecutive events that differ only in their text."""

    def __init__(self, raw: bytes, head: bytes, place: Place, text: str, rest: JSON) -> None:
        self._raw = raw
        self._head = head
        self._place = place
        self._texts = [text]
        self._rest = rest
        self._lasting = {name: value for name, value in rest.items() if name not in PASSING}

    def takes(self, other: _Run) -> bool:
        """Append `other` if it differs only in its text; return whether it did."""
        if (other._head, other._place, other._lasting) != (self._head, self._place, self._lasting):
            return False
        self._texts += other._texts
        self._rest = other._rest
        return True

    def written(self) -> bytes:
        if len(self._texts) == 1:
            return self._raw
        list(_way(self._rest, self._place))[-1][self._place[-1]] = "".join(self._texts)
        ending = b"\n\n" if self._head else b"\n"
        return self._head + json.dumps(self._rest).encode() + ending


def _piece(raw: bytes, end: re.Pattern[bytes]) -> _Run | None:
    """Return the event as a run of its own; None if it has no text or more than text."""
    head, content = b"", raw.strip()
    if end is _SSE_END:
        found = _DATA.fullmatch(content)
        if found is None:
            return None
        head, content = content[: found.start(2)], found[2]
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return None
    for place in PLACES:
        holders = list(_way(value, place))
        text = _at(holders[-1], place[-1]) if len(holders) == len(place) else None
        if isinstance(text, str) and text:
            if any(_says_more(holder, name) for holder, name in zip(holders, place, strict=True)):
                return None
            holders[-1][place[-1]] = ""
            return _Run(raw, head, place, text, value)
    return None


def _way(value: object, place: Place) -> Iterator[Any]:
    """Yield the containers on the path `place`, from `value` to the one with the text; fewer if the path is missing."""
    for name in place:
        yield value
        value = _at(value, name)


def _says_more(holder: Any, on_the_way: str | int) -> bool:
    """Return whether `holder` has content besides the path, `NAMING` and `PASSING`."""
    if isinstance(holder, list):
        return len(holder) > 1
    passing = {*NAMING, *PASSING, on_the_way}
    return any(value and name not in passing for name, value in holder.items())


def _at(value: object, name: str | int) -> Any:
    if isinstance(name, int):
        return value[name] if isinstance(value, list) and len(value) > name else None
    return value.get(name) if isinstance(value, dict) else None
