"""The body of a stream as it arrives, with pieces of text that came at once put together.

litellm takes about half a millisecond and some kilobytes for each event of a stream, whatever it holds; a server that
is fast, or a proxy that held a reply back, sends hundreds of them in one network read. Where such events differ in
nothing but their piece of text, they become one event here, before anybody reads them. A few events are handed on as
they are, byte for byte.

Loaded by its path beside `litellm_setup`, with nothing of this project imported.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

JSON = dict[str, Any]
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
"""Where an event has its piece of text: OpenAI's chat and completions, Anthropic's, the Responses API's, Gemini's and
Ollama's."""

PASSING = ("created", "created_at", "obfuscation", "sequence_number", "usageMetadata")
"""What differs from event to event and says nothing of the text; the last one's stands."""

NAMING = frozenset(
    "id object model provider system_fingerprint service_tier role type index thought item_id output_index "
    "content_index summary_index modelVersion responseId".split()
)
"""What an event may say again beside its text, because it only tells to what the text belongs. Whatever else says
something there (a count, a probability, a citation) is of that event alone."""

_SSE_END = re.compile(rb"\r?\n\r?\n|\r\r")
_LINE_END = re.compile(rb"\n")
_ENDS = {"text/event-stream": _SSE_END, "application/x-ndjson": _LINE_END}
_LONGEST_END = 4

FEW = 16
"""Events in a network read that are handed on as they came: they cost little, and a person sees them come."""

_DATA = re.compile(rb"(?:event: ?([^\r\n]*)\r?\n)?data: ?([^\r\n]*)")


def mend(response_type: Any) -> None:
    """Has the async body of httpx's `Response` put together, for this process."""
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
    for raw in _events(data, end):
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
    """Events that stand one behind the other and differ in their texts alone."""

    def __init__(self, raw: bytes, head: bytes, place: Place, text: str, rest: JSON) -> None:
        self._raw = raw
        self._head = head
        self._place = place
        self._texts = [text]
        self._rest = rest

    def takes(self, other: _Run) -> bool:
        """Return whether `other` only goes on with the text; it is then part of this one."""
        if (other._head, other._place) != (self._head, self._place) or _lasting(other._rest) != _lasting(self._rest):
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


def _events(data: bytes, end: re.Pattern[bytes]) -> Iterator[bytes]:
    start = 0
    for one in end.finditer(data):
        yield data[start : one.end()]
        start = one.end()


def _piece(raw: bytes, end: re.Pattern[bytes]) -> _Run | None:
    """The event as the beginning of a run; None for one that is not a piece of text and nothing else."""
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


def _way(value: Any, place: Place) -> Iterator[Any]:
    """`value` and what is in it, down to what holds the end of `place`; less where there is no such place."""
    for name in place:
        yield value
        value = _at(value, name)


def _says_more(holder: Any, on_the_way: str | int) -> bool:
    """Return whether there is more in `holder` than what lies on the way, and names."""
    if isinstance(holder, list):
        return len(holder) > 1
    passing = {*NAMING, *PASSING, on_the_way}
    return any(value and name not in passing for name, value in holder.items())


def _at(value: Any, name: str | int) -> Any:
    if isinstance(name, int):
        return value[name] if isinstance(value, list) and len(value) > name else None
    return value.get(name) if isinstance(value, dict) else None


def _lasting(rest: JSON) -> JSON:
    return {name: value for name, value in rest.items() if name not in PASSING}
