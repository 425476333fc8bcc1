"""Convert replies to the worker's pieces and forward them as they arrive.

Sums up tokens and cost if each completion takes its own request. Loaded by path from `litellm_worker`; imports nothing
of this project.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from functools import reduce
from typing import Any, TypedDict, cast

Usage = dict[str, Any]
"""A provider's token counts under its own names: numbers, and objects of numbers."""


class CallPiece(TypedDict, total=False):
    """A part of the tool call at `index`; names arrive whole, arguments as fragments of JSON text."""

    index: int
    id: str
    name: str
    arguments: str


class Piece(TypedDict, total=False):
    """A part of the completion at `choice` (0-based), as the worker sends it."""

    choice: int
    text: str
    reasoning: str
    refusal: str
    citations: list[Any]
    """The passages that the reply cites, as plain JSON."""
    tool_calls: list[CallPiece]
    finish_reason: str
    logprobs: Any
    raw: dict[str, Any]
    """The provider's metadata of the whole reply."""
    usage: Usage
    cost: float | None
    """Cost in US dollars; None if the price is unknown."""


class Completions:
    """Forwards the pieces of a call's completions, which may each take their own request.

    Providers count tokens per request; the pieces given to `send` have the sums so far.
    """

    def __init__(self, send: Callable[..., object]) -> None:
        self._send = send
        self._requests: list[Piece] = [{}]
        """The token counts and the cost of each request."""

    def tell(self, piece: Piece) -> None:
        last = self._requests[-1]
        if "usage" in piece:
            last["usage"] = piece["usage"]
            piece = {**piece, "usage": reduce(added, [one["usage"] for one in self._requests if "usage" in one])}
        if "cost" in piece:
            last["cost"] = piece["cost"]
            costs = [one.get("cost") for one in self._requests]
            piece = {**piece, "cost": None if None in costs else sum(one or 0.0 for one in costs)}
        self._send(**piece)

    def next(self) -> None:
        """Begin the next request after the current one has ended."""
        self._requests.append({})


def added(one: Usage, other: Usage) -> Usage:
    """Add two usages name by name; a value that only one of them has is copied."""
    made = {**one, **{name: value for name, value in other.items() if value is not None or name not in one}}
    for name in one.keys() & other.keys():
        first, second = one[name], other[name]
        if isinstance(first, dict) and isinstance(second, dict):
            made[name] = added(first, second)
        elif isinstance(first, int | float) and isinstance(second, int | float):
            made[name] = first + second
    return made


CUT_OFF = {"max_output_tokens": "length", "content_filter": "content_filter"}
"""The finish reason by the reason why a reply is incomplete."""


class FailedReplyError(Exception):
    """A failure that the server reports in its stream or response."""

    def __init__(self, error: object) -> None:
        said = _get(error, "message") or "the reply failed"
        super().__init__(str(said))
        self.body = {"message": str(said), "code": _get(error, "code")}


async def streamed(events: Any, ending: Callable[[object], Piece]) -> AsyncIterator[Piece]:
    """Yield the pieces of a reply as they arrive, and `ending` of the complete response. Raises FailedReplyError."""
    calls: dict[Any, int] = {}
    refused: list[str] = []
    async for event in events:
        kind = str(getattr(event, "type", "")).rpartition("ResponsesAPIStreamEvents.")[2]
        kind = getattr(getattr(event, "type", None), "value", kind)
        if kind == "response.output_text.delta":
            logprobs = getattr(event, "logprobs", None)
            yield {"text": event.delta, **({"logprobs": {"content": logprobs}} if logprobs else {})}
        elif kind in ("response.reasoning_summary_text.delta", "response.reasoning_text.delta"):
            yield {"reasoning": event.delta}
        elif kind == "response.refusal.delta":
            refused.append(event.delta)
        elif kind == "response.output_item.added" and _get(event.item, "type") == "function_call":
            number = calls.setdefault(event.output_index, len(calls))
            yield {"tool_calls": [_call(event.item, number, "")]}
        elif kind == "response.function_call_arguments.delta":
            number = calls.setdefault(event.output_index, len(calls))
            yield {"tool_calls": [{"index": number, "arguments": event.delta}]}
        elif kind in ("response.completed", "response.incomplete"):
            if refused:
                yield {"refusal": "".join(refused)}
            yield {"finish_reason": finish_of(event.response)}
            yield ending(event.response)
            return
        elif kind == "response.failed":
            raise FailedReplyError(_get(event.response, "error"))
        elif kind == "error":
            raise FailedReplyError(_get(event, "error") or event)


def whole(response: object) -> Piece:
    """Convert a non-streamed reply to a piece. Raises FailedReplyError."""
    if _get(response, "status") == "failed":
        raise FailedReplyError(_get(response, "error"))
    text: list[str] = []
    reasoning: list[str] = []
    refusal: list[str] = []
    calls: list[CallPiece] = []
    logprobs: list[Any] = []
    for item in _get(response, "output") or ():
        kind = _get(item, "type")
        if kind == "message":
            for part in _get(item, "content") or ():
                if _get(part, "type") == "output_text":
                    text.append(_get(part, "text") or "")
                elif _get(part, "type") == "refusal":
                    refusal.append(_get(part, "refusal") or "")
                logprobs += _get(part, "logprobs") or ()
        elif kind == "function_call":
            calls.append(_call(item, len(calls), _get(item, "arguments") or ""))
        elif kind == "reasoning":
            reasoning += [_get(part, "text") or "" for part in _get(item, "content") or _get(item, "summary") or ()]
    made = {
        "finish_reason": finish_of(response),
        "tool_calls": calls,
        "text": "".join(text),
        "reasoning": "".join(reasoning),
        "refusal": "".join(refusal),
        "logprobs": {"content": logprobs} if logprobs else None,
    }
    return cast(Piece, {name: one for name, one in made.items() if one})


def finish_of(response: object) -> str:
    """Return the corresponding finish reason of chat completions."""
    if _get(response, "status") == "incomplete":
        return CUT_OFF.get(str(_get(_get(response, "incomplete_details"), "reason")), "length")
    calls = any(_get(item, "type") == "function_call" for item in _get(response, "output") or ())
    return "tool_calls" if calls else "stop"


def piece_of(said: Any, choice: Any) -> Piece:
    """Convert a delta or message of `choice` to a piece."""
    piece: Piece = {}
    if said.content:
        piece["text"] = said.content
    if getattr(said, "reasoning_content", None):
        piece["reasoning"] = said.reasoning_content
    calls: list[CallPiece] = []
    for number, part in enumerate(said.tool_calls or ()):
        function, index = part.function, getattr(part, "index", None)
        index = number if index is None else index  # calls of a non-streamed reply have none
        name, arguments = function.name or "", function.arguments or ""
        calls.append(CallPiece(index=index, id=part.id or "", name=name, arguments=arguments))
    if calls:
        piece["tool_calls"] = calls
    return piece | _logprobs(choice)


def citations_of(message: object) -> list[Any] | None:
    """Return a whole reply's citations. Rule: `dspy.clients.base_lm.BaseLM._extract_citations_from_response`."""
    cited = (getattr(message, "provider_specific_fields", None) or {}).get("citations")
    if not isinstance(cited, list):
        return None
    return [one for group in cited for one in (group if isinstance(group, list) else [group])]


def texts(response: Any) -> Iterator[Piece]:
    """Yield the pieces of text completions."""
    for choice in response.choices:
        piece: Piece = {"choice": choice.index or 0, "text": choice.text or ""}
        if choice.finish_reason:
            piece["finish_reason"] = choice.finish_reason
        yield piece | _logprobs(choice)


def _logprobs(choice: object) -> Piece:
    given: Any = getattr(choice, "logprobs", None)
    plain = given.model_dump(mode="json", exclude_none=True) if hasattr(given, "model_dump") else given
    return {"logprobs": plain} if plain else {}


def _call(item: object, number: int, arguments: str) -> CallPiece:
    id, name = _get(item, "call_id") or "", _get(item, "name") or ""
    return CallPiece(index=number, id=id, name=name, arguments=arguments)


def _get(holder: object, name: str) -> Any:
    return holder.get(name) if isinstance(holder, dict) else getattr(holder, name, None)
