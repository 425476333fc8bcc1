"""The protocol of a language model: chat messages and parameters in, a stream of chunks out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from threading import Event
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, runtime_checkable

from adapters.requests.capabilities import Capabilities

if TYPE_CHECKING:
    from adapters.formats.base import Adapter
    from adapters.requests.calls import Request

_OF_CLIENTS = re.compile(
    "(host|accept|accept-encoding|connection|user-agent|content-length|x-stainless-.*)$", re.IGNORECASE
)

NOTHING: Mapping[str, Any] = MappingProxyType({})


class CalledFunction(TypedDict):
    name: str
    arguments: str
    """JSON, or whatever the model wrote in its place."""


class ToolCall(TypedDict):
    """A call as OpenAI's API has it."""

    id: str
    type: str
    function: CalledFunction


@dataclass(frozen=True, slots=True)
class ToolCallPart:
    """A piece of the tool call at `index`; names come whole and arguments in slices of JSON text."""

    index: int
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of the completion at `choice` (0-based).

    `usage` is the provider's token counts (`prompt_tokens`, `completion_tokens`, `total_tokens`, …), None when it
    gave none; `cost` is in US dollars, None when the model has no known price; `raw` is the provider's own JSON.
    `prepared_s`: nothing has arrived, the request goes out only now; it took so many seconds to make, none of which is
    the model's. `took_s`: everything has arrived, so many seconds after the request went out; whoever reads the chunks
    may be busy, and sees them later.
    """

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCallPart, ...] = ()
    finish_reason: str | None = None
    usage: Mapping[str, Any] | None = None
    cost: float | None = None
    logprobs: Any = None
    raw: Any = None
    choice: int = 0
    refusal: str = ""
    """What the model says in the place of an answer that it refuses; it is no part of the text."""
    prepared_s: float | None = None
    took_s: float | None = None


@dataclass(frozen=True)
class Response:
    """A whole completion."""

    text: str = ""
    reasoning_content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None
    usage: Mapping[str, Any] | None = None
    cost: float | None = None
    logprobs: Any = None
    raw: Any = None
    refusal: str = ""

    def as_output(self) -> dict[str, Any]:
        """The completion in the shape that dspy hands to an adapter's postprocessing."""
        output: dict[str, Any] = {"text": self.text}
        if self.reasoning_content:
            output["reasoning_content"] = self.reasoning_content
        if self.tool_calls:
            output["tool_calls"] = [dict(call) for call in self.tool_calls]
        if self.logprobs is not None:
            output["logprobs"] = self.logprobs
        return output


@dataclass(frozen=True)
class HttpRequest:
    """A request as it goes out, with the name of a variable, such as `$GEMINI_API_KEY`, in place of each secret."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: str
    names: tuple[str, ...] = ()
    """What stands for secrets in the address and the headers, as a shell reads it."""

    @property
    def telling(self) -> Mapping[str, str]:
        """The headers without those that every HTTP client writes by itself."""
        return {name: value for name, value in self.headers.items() if not _OF_CLIENTS.match(name)}


class LM(Protocol):
    """A model that can be sent a request.

    `stream` yields chunks as they arrive and returns when the reply is complete. It ends early, without an error,
    once `cancel` is set. Raises `adapters.lm.errors.ProviderError` when the call fails.
    """

    @property
    def model(self) -> str: ...

    @property
    def capabilities(self) -> Capabilities: ...

    def stream(self, request: Mapping[str, Any], cancel: Event | None = None) -> Iterator[Chunk]: ...


@runtime_checkable
class WritesAsTheAdapter(Protocol):
    """A model that is told who asks it, and writes its replies as that adapter would."""

    def asked_by(self, adapter: Adapter, request: Request) -> LM:
        """Return the model for a request."""


@runtime_checkable
class LoadsFirst(Protocol):
    """A model whose first call has to wait until something is loaded, which is no time of the model's."""

    def has_to_load(self, request: Mapping[str, Any]) -> bool:
        """Return whether `stream(request)`, called now, would wait; False for a request that is rejected at once."""

    def wait_until_loaded(self, cancel: Event | None = None) -> None:
        """Returns when it is loaded, cannot be, or the wait is cancelled."""


@dataclass
class _Completion:
    """A completion under way."""

    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    tool_calls: dict[int, ToolCall] = field(default_factory=dict)
    finish_reason: str | None = None
    logprobs: Any = None
    raw: Any = None
    refusal: str = ""


class Collector:
    """Puts chunks together; `responses` may be asked for at any time, so that what had arrived is never lost."""

    def __init__(self) -> None:
        self._completions: dict[int, _Completion] = {}
        self.usage: Mapping[str, Any] | None = None
        self.cost: float | None = None

    def add(self, chunk: Chunk) -> None:
        if chunk.prepared_s is not None or chunk.took_s is not None:
            return
        if chunk.usage is not None:
            self.usage = chunk.usage
        if chunk.cost is not None:
            self.cost = chunk.cost
        one = self._completions.setdefault(chunk.choice, _Completion())
        if chunk.text:
            one.text.append(chunk.text)
        if chunk.reasoning:
            one.reasoning.append(chunk.reasoning)
        for part in chunk.tool_calls:
            _add_part(one.tool_calls, part)
        if chunk.logprobs is not None:
            one.logprobs = _joined_logprobs(one.logprobs, chunk.logprobs)
        if chunk.finish_reason is not None:
            one.finish_reason = chunk.finish_reason
        one.refusal += chunk.refusal
        if chunk.raw is not None:
            one.raw = chunk.raw

    @property
    def responses(self) -> tuple[Response, ...]:
        """The completions by choice; usage and cost of the whole call stand in each."""
        return tuple(
            Response(
                text="".join(one.text),
                reasoning_content="".join(one.reasoning),
                tool_calls=tuple(one.tool_calls[index] for index in sorted(one.tool_calls)),
                finish_reason=one.finish_reason,
                usage=self.usage,
                cost=self.cost,
                logprobs=one.logprobs,
                raw=one.raw,
                refusal=one.refusal,
            )
            for _, one in sorted(self._completions.items())
        )


def collect(chunks: Iterable[Chunk]) -> tuple[Response, ...]:
    """The completions that `chunks` make up."""
    collector = Collector()
    for chunk in chunks:
        collector.add(chunk)
    return collector.responses


def _add_part(calls: dict[int, ToolCall], part: ToolCallPart) -> None:
    call = calls.setdefault(part.index, {"id": "", "type": "function", "function": {"name": "", "arguments": ""}})
    call["id"] = call["id"] or part.id
    function = call["function"]
    function["name"] = function["name"] or part.name
    function["arguments"] += part.arguments


def _joined_logprobs(before: Any, after: Any) -> Any:
    """OpenAI sends `{"content": [an object for each token]}` per chunk; anything else replaces what was there."""
    if (
        isinstance(before, Mapping)
        and isinstance(after, Mapping)
        and isinstance(before.get("content"), list)
        and isinstance(after.get("content"), list)
    ):
        return {**before, **after, "content": [*before["content"], *after["content"]]}
    return after
