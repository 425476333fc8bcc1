"""The interface of a language model: takes chat messages, returns a stream of chunks or an error."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from threading import Event
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict, runtime_checkable

from adapters.late_dataclasses import dataclass, field
from adapters.requests.capabilities import Capabilities

if TYPE_CHECKING:
    from adapters.formats.base import Adapter
    from adapters.replies.reading import Reading
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

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, self.kind), vars(self)


_OF_CLIENTS = re.compile(
    "(host|accept|accept-encoding|connection|user-agent|content-length|x-stainless-.*)$", re.IGNORECASE
)


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
class Completion:
    """A completion of a call, and its parse result (None: not parsed)."""

    text: str = ""
    reading: Reading | None = None
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None
    logprobs: Any = None
    refusal: str = ""
    """The model's text of a refusal, in place of an answer."""
    citations: tuple[Any, ...] = ()

    def as_output(self) -> dict[str, Any]:
        """Return the completion in the format that dspy passes to an adapter's postprocessing."""
        output: dict[str, Any] = {"text": self.text}
        if self.reasoning:
            output["reasoning_content"] = self.reasoning
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


@dataclass(eq=False)
class Collector:
    """Assemble completions from chunks; they are available at any time, so partial replies are not lost."""

    _chunks: dict[int, list[Chunk]] = field(default_factory=dict)
    usage: Object | None = None
    cost: float | None = None
    """The token counts and the cost of the whole call."""

    def add(self, chunk: Chunk) -> None:
        if chunk.prepared_s is None and chunk.took_s is None:
            self.usage = self.usage if chunk.usage is None else chunk.usage
            self.cost = self.cost if chunk.cost is None else chunk.cost
            self._chunks.setdefault(chunk.choice, []).append(chunk)

    @property
    def completions(self) -> tuple[Completion, ...]:
        """The completions so far, by choice."""
        return tuple([_completion(self._chunks[choice]) for choice in sorted(self._chunks)])

    @property
    def raw(self) -> Any:
        """The provider's own JSON of the first completion that has any."""
        found = (one.raw for choice in sorted(self._chunks) for one in reversed(self._chunks[choice]))
        return next((one for one in found if one is not None), None)


def _completion(chunks: list[Chunk]) -> Completion:
    """Join the chunks of a completion.

    OpenAI's logprobs (`{"content": [an object for each token]}`) are joined; of any other format the last counts.
    """
    calls: dict[int, ToolCall] = {}
    logprobs: Any = None
    beside: dict[str, Any] = {}
    tokens: list[Any] = []
    for chunk in chunks:
        for part in chunk.tool_calls:
            empty: ToolCall = {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
            call = calls.setdefault(part.index, empty)
            call["id"] = call["id"] or part.id
            function = call["function"]
            function["name"] = function["name"] or part.name
            function["arguments"] += part.arguments
        given = chunk.logprobs
        if isinstance(given, Mapping) and isinstance(given.get("content"), list):
            tokens += given["content"]
            beside |= given
            logprobs = {**beside, "content": tokens}
        elif given is not None:
            logprobs, beside, tokens = given, {}, []
    return Completion(
        text="".join([one.text for one in chunks]),
        reasoning="".join([one.reasoning for one in chunks]),
        tool_calls=tuple([calls[index] for index in sorted(calls)]),
        finish_reason=next((one.finish_reason for one in reversed(chunks) if one.finish_reason is not None), None),
        logprobs=logprobs,
        refusal="".join([one.refusal for one in chunks]),
        citations=tuple([cited for one in chunks for cited in one.citations]),
    )
