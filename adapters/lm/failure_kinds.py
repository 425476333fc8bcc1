"""Of which kind a failed call is, told from the facts that the child process reports of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from adapters.lm.connections import tls_trouble
from adapters.lm.errors import ErrorKind

Facts = Mapping[str, Any]
"""Of the call: `types` and `message` of the exception, `causes` (each `type` and `message`), `status`, `body`,
`content_type`, and how far it came (`sent`, `begun`, `anything`)."""

UNFINISHED_RESPONSE = "closed the responses stream before any terminal event"
"""What litellm says of a stream of the Responses API that ended in the middle."""

NOT_CONNECTED = (
    "ConnectError",
    "ClientConnectorError",
    "ClientConnectorDNSError",
    "ConnectionRefusedError",
    "gaierror",
    "ConnectTimeout",
)
"""Causes of a call that reached nobody."""

BROKEN_OFF = ("ReadError", "RemoteProtocolError", "ClientOSError")
"""Causes of an answer that ended too early."""


def kind_of(facts: Facts) -> ErrorKind:
    """What kind of failure `facts` tell of."""
    kind = _kind_of(facts)
    if facts.get("missing"):
        return "setup"
    return "setup" if kind == "server" and facts.get("sent") is False else kind


def in_stream(facts: Facts) -> bool:
    """Whether it failed in the middle of a stream, where the status is litellm's invention."""
    return "MidStreamFallbackError" in facts.get("types", ()) and facts.get("begun") is not False


@dataclass(frozen=True)
class _Failure:
    """What the kind of a failure is told from; `text` is all it says, in small letters."""

    types: frozenset[str]
    causes: frozenset[str]
    status: int | None
    text: str
    content_type: str
    has_begun: bool
    """Whether anything of a reply had come."""
    in_stream: bool
    is_tls: bool

    @classmethod
    def of(cls, facts: Facts) -> _Failure:
        return cls(
            types=frozenset(facts.get("types", ())),
            causes=frozenset(cause["type"] for cause in facts.get("causes", ())),
            status=facts.get("status"),
            text=f"{facts.get('message', '')} {facts.get('body', '')}".lower(),
            content_type=facts.get("content_type", ""),
            has_begun=bool(facts.get("anything")),
            in_stream=in_stream(facts),
            is_tls=bool(tls_trouble(facts.get("causes") or [])),
        )

    def is_a(self, *types: str) -> bool:
        return not self.types.isdisjoint(types)

    def is_by(self, *causes: str) -> bool:
        return not self.causes.isdisjoint(causes)

    def says(self, *words: str) -> bool:
        return any(one in self.text for one in words)

    @property
    def is_by_timeout(self) -> bool:
        return any("Timeout" in cause for cause in self.causes)

    @property
    def is_unfinished(self) -> bool:
        return self.is_a("UnfinishedStreamError")

    @property
    def is_limit(self) -> bool:
        return self.status == 429 or self.is_a("RateLimitError")


_KINDS: tuple[tuple[Callable[[_Failure], bool], ErrorKind], ...] = (
    (lambda it: it.is_unfinished and (it.has_begun or "event-stream" in it.content_type), "interrupted"),
    (lambda it: it.is_unfinished, "malformed"),
    (lambda it: it.is_a("ForeignRedirectError") or it.is_by("ForeignRedirectError"), "address"),
    (lambda it: it.is_tls, "address"),
    (lambda it: it.says(UNFINISHED_RESPONSE), "interrupted"),
    # In the middle of a stream the status and the type are litellm's invention.
    (lambda it: it.in_stream and it.is_by_timeout, "timeout"),
    (lambda it: it.in_stream and it.is_by("JSONDecodeError"), "malformed"),
    (lambda it: it.in_stream and it.says("cannot connect to host"), "network"),
    (lambda it: it.in_stream and it.is_by(*BROKEN_OFF, "ClientPayloadError", "IncompleteReadError"), "interrupted"),
    (lambda it: it.in_stream and it.says("overloaded"), "overloaded"),
    (lambda it: it.in_stream, "server"),
    # What never became an answer.
    (lambda it: it.is_a("UnicodeEncodeError") or it.is_by("UnicodeEncodeError"), "request"),
    (lambda it: it.is_a("Timeout", "APITimeoutError") or it.is_by_timeout, "timeout"),
    (lambda it: it.is_by(*NOT_CONNECTED) or it.says("cannot connect to host"), "network"),
    (lambda it: it.is_by("JSONDecodeError"), "malformed"),
    (lambda it: it.is_by(*BROKEN_OFF, "ServerDisconnectedError", "APIConnectionError"), "interrupted"),
    # What the provider answered; what says more stands before the status.
    (
        lambda it: (
            it.is_a("ContextWindowExceededError") or it.says("context_length_exceeded", "maximum context length")
        ),
        "context",
    ),
    (lambda it: it.is_a("ContentPolicyViolationError"), "refused"),
    (lambda it: it.status in (401, 403) or it.is_a("AuthenticationError", "PermissionDeniedError"), "key"),
    (lambda it: it.says("llm provider not provided") or it.status == 404 or it.is_a("NotFoundError"), "model"),
    (lambda it: it.is_limit and it.says("insufficient_quota", "exceeded your current quota"), "quota"),
    (lambda it: it.is_limit, "rate limit"),
    (lambda it: it.status in (503, 529) or it.says("overloaded"), "overloaded"),
    (lambda it: it.status is not None and 400 <= it.status < 500, "request"),
    (lambda it: it.is_a("BadRequestError", "UnsupportedParamsError", "TypeError", "ValueError"), "request"),
)
"""When a failure is of which kind; the first that holds counts, and "server" where none does."""


def _kind_of(facts: Facts) -> ErrorKind:
    failure = _Failure.of(facts)
    return next((kind for holds, kind in _KINDS if holds(failure)), "server")
