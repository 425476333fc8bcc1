"""The interface of a language model: takes chat messages, returns a stream of chunks or an error."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from threading import Event
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict, runtime_checkable

from adapters.late_dataclasses import dataclass, field
from adapters.requests.capabilities import Capabilities

if TYPE_CHECKING:
    from adapters.formats.base import Adapter
    from adapters.requests.calls import Request


Object = Mapping[str, Any]
"""A JSON object: a request, a message or a part of it."""

ErrorKind = Literal[
    "key",
    "model",
    "context",
    "request",
    "refused",
    "rate limit",
    "quota",
    "overloaded",
    "server",
    "network",
    "address",
    "timeout",
    "malformed",
    "interrupted",
    "child",
    "setup",
]
"""The kind of failure.

key: API key missing, wrong or not allowed · model: unknown to the provider · context: prompt too long · request:
rejected as invalid · refused: by a content filter · rate limit: too many requests · quota: no credit left ·
overloaded · server: any other failure of the provider · network: not reachable · address: invalid, or no model API
there · timeout · malformed: a response that violates the protocol · interrupted: connection closed before the end ·
child: the process that calls models was lost · setup: litellm cannot be used, or not for this model.
"""


class ProviderError(Exception):
    """A failed call.

    `message` is one line for the user; `payload` is plain JSON without API keys: the kind, and what the provider sent
    (status, body, relevant headers, exception types); `retry_after` is in seconds.
    """

    def __init__(
        self,
        message: str,
        kind: ErrorKind,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        payload: Object | None = None,
    ) -> None:
        self.message = message
        self.kind: ErrorKind = kind
        self.status = status
        self.retry_after = retry_after
        self.payload: dict[str, Any] = {"kind": kind, **(payload or {})}
        super().__init__(message)


_OF_CLIENTS = re.compile(
    "(host|accept|accept-encoding|connection|user-agent|content-length|x-stainless-.*)$", re.IGNORECASE
)

NOTHING: Object = MappingProxyType({})


class CalledFunction(TypedDict):
    name: str
    arguments: str
    """JSON, or any other text that the model wrote instead."""


class ToolCall(TypedDict):
    """A tool call in the format of OpenAI's API."""

    id: str
    type: str
    function: CalledFunction


@dataclass(frozen=True, slots=True)
class ToolCallPart:
    """A part of the tool call at `index`; names arrive whole, arguments as fragments of JSON text."""

    index: int
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of the completion at `choice` (0-based).

    `usage` is the provider's token counts (`prompt_tokens`, `completion_tokens`, `total_tokens`, …), None if not given;
    `cost` is in US dollars, None if the price is unknown; `raw` is the provider's own JSON.

    Two chunks report times only. `prepared_s` marks the sending of the request: the seconds spent preparing it, which
    do not count as the model's. `took_s` marks the end: the seconds from sending to the complete reply, even if the
    chunks are read later.
    """

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCallPart, ...] = ()
    finish_reason: str | None = None
    usage: Object | None = None
    cost: float | None = None
    logprobs: Any = None
    raw: Any = None
    choice: int = 0
    refusal: str = ""
    """The model's message when it declines to answer; not part of `text`."""
    citations: tuple[Any, ...] = ()
    """The passages that the reply cites, as plain JSON in the provider's own terms."""
    prepared_s: float | None = None
    took_s: float | None = None


@dataclass(frozen=True)
class Response:
    """A complete completion."""

    text: str = ""
    reasoning_content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None
    usage: Object | None = None
    cost: float | None = None
    logprobs: Any = None
    raw: Any = None
    refusal: str = ""
    citations: tuple[Any, ...] = ()

    def as_output(self) -> dict[str, Any]:
        """Return the completion in the format that dspy passes to an adapter's postprocessing."""
        output: dict[str, Any] = {"text": self.text}
        if self.reasoning_content:
            output["reasoning_content"] = self.reasoning_content
        if self.tool_calls:
            output["tool_calls"] = [dict(call) for call in self.tool_calls]
        if self.logprobs is not None:
            output["logprobs"] = self.logprobs
        if self.citations:
            output["citations"] = list(self.citations)
        return output


@dataclass(frozen=True)
class HttpRequest:
    """An HTTP request as sent, with each secret replaced by its variable, such as `$GEMINI_API_KEY`."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: str
    names: tuple[str, ...] = ()
    """The placeholders for secrets in the address and the headers, in shell syntax."""

    @property
    def telling(self) -> Mapping[str, str]:
        """The headers, without those that every HTTP client adds."""
        return {name: value for name, value in self.headers.items() if not _OF_CLIENTS.match(name)}


class LM(Protocol):
    """A language model.

    `stream` sends a request and yields chunks as they arrive. It returns when the reply is complete or, without an
    error, when `cancel` is set. Raises `adapters.lm.protocol.ProviderError` if the call fails.
    """

    @property
    def model(self) -> str: ...

    @property
    def capabilities(self) -> Capabilities: ...

    def stream(self, request: Object, cancel: Event | None = None) -> Iterator[Chunk]: ...


@runtime_checkable
class WritesAsTheAdapter(Protocol):
    """A model that writes its replies in the format of the calling adapter."""

    def asked_by(self, adapter: Adapter, request: Request) -> LM:
        """Return the model for a request of this adapter."""


@runtime_checkable
class LoadsFirst(Protocol):
    """A model that has to load before its first call; loading does not count as the model's time."""

    def has_to_load(self, request: Object) -> bool:
        """Return whether `stream(request)` would wait now; False for a request that is rejected at once."""

    def wait_until_loaded(self, cancel: Event | None = None) -> None:
        """Wait until loading succeeds, fails, or is cancelled."""


@dataclass
class _Completion:
    """An incomplete completion."""

    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    tool_calls: dict[int, ToolCall] = field(default_factory=dict)
    finish_reason: str | None = None
    logprobs: Any = None
    raw: Any = None
    refusal: str = ""
    citations: tuple[Any, ...] = ()


class Collector:
    """Assemble responses from chunks; `responses` is available at any time, so partial replies are not lost."""

    def __init__(self) -> None:
        self._completions: dict[int, _Completion] = {}
        self.usage: Object | None = None
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
            empty: ToolCall = {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
            call = one.tool_calls.setdefault(part.index, empty)
            call["id"] = call["id"] or part.id
            function = call["function"]
            function["name"] = function["name"] or part.name
            function["arguments"] += part.arguments
        if chunk.logprobs is not None:
            one.logprobs = _joined_logprobs(one.logprobs, chunk.logprobs)
        if chunk.finish_reason is not None:
            one.finish_reason = chunk.finish_reason
        one.refusal += chunk.refusal
        one.citations += chunk.citations
        if chunk.raw is not None:
            one.raw = chunk.raw

    @property
    def responses(self) -> tuple[Response, ...]:
        """The completions by choice, each with the usage and cost of the whole call."""
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
                citations=one.citations,
            )
            for _, one in sorted(self._completions.items())
        )


def collect(chunks: Iterable[Chunk]) -> tuple[Response, ...]:
    """Assemble the completions from `chunks`."""
    collector = Collector()
    for chunk in chunks:
        collector.add(chunk)
    return collector.responses


def _joined_logprobs(before: object, after: object) -> Any:
    """Append OpenAI's `{"content": [an object for each token]}`; any other format replaces the previous value."""
    if (
        isinstance(before, Mapping)
        and isinstance(after, Mapping)
        and isinstance(before.get("content"), list)
        and isinstance(after.get("content"), list)
    ):
        return {**before, **after, "content": [*before["content"], *after["content"]]}
    return after
