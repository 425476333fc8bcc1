"""Classify a failed call from the facts that its child process reports."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from adapters.lm.connections import tls_trouble
from adapters.lm.errors import ErrorKind

Facts = Mapping[str, Any]
"""Facts of a failed call: the exception's `types` and `message`, `causes` (each `type` and `message`), `status`,
`body`, `content_type`, and its progress (`sent`, `answered`, `begun`, `anything`)."""

UNFINISHED = ("closed the responses stream before any terminal event", "ended before a finish_reason")
"""litellm's messages for a stream that ended early."""

STATED: Mapping[ErrorKind, re.Pattern[str]] = {
    "context": re.compile(
        "context_length_exceeded|maximum (context|prompt) length|request too large|exceeds the maximum size"
    ),
    "rate limit": re.compile("too many tokens per"),
    "quota": re.compile(
        "credit balance is too low|insufficient (balance|credits)|insufficient_quota|any credits yet"
        "|used all available credits|spending limit|specified api usage limits"
    ),
    # A proxy of litellm without a database answers a wrong key with 400 and the last two.
    "key": re.compile("incorrect api key|api key not valid|no_db_connection|no connected db"),
    "refused": re.compile("requires moderation|input was flagged"),
    "request": re.compile("no endpoints found (that|matching)"),
    "model": re.compile(
        "llm provider not provided|invalid model|not a valid model|model not exist|model identifier is invalid"
        "|no endpoints found for|has been decommissioned"
    ),
}
"""Vendors' messages that tell the kind whatever the status, such as a 400 for a wrong API key; the first counts."""

_NAMES_MODEL = re.compile("model|deployment", re.IGNORECASE)

TRY_LATER = re.compile(r"retry in ([\d.]+) ?s|\"?retrydelay\"?\W+([\d.]+)s", re.IGNORECASE)
"""The wait that Gemini and Vertex state for a rate limit; their 429 also mentions a quota."""

NOT_CONNECTED = (
    "ConnectError",
    "ClientConnectorError",
    "ClientConnectorDNSError",
    "ConnectionRefusedError",
    "gaierror",
    "ConnectTimeout",
)
"""Exception types of a call that did not reach a server."""

BROKEN_OFF = ("ReadError", "RemoteProtocolError", "ClientOSError")
"""Exception types of a response that ended early."""


def kind_of(facts: Facts) -> ErrorKind:
    """Return the kind of failure described by `facts`."""
    failure = _Failure(facts)
    kind: ErrorKind = next((kind for holds, kind in _KINDS if holds(failure)), "server")
    return "setup" if facts.get("missing") or (kind == "server" and facts.get("sent") is False) else kind


def is_page(facts: Facts) -> bool:
    """Return whether the response is a web page (HTML)."""
    said = f"{facts.get('text', '')} {facts.get('body', '')} {facts.get('message', '')}".lower()
    return "html" in facts.get("content_type", "") or "<html" in said or "<!doctype html" in said


def in_stream(facts: Facts) -> bool:
    """Return whether the call failed in mid-stream, where litellm makes up the status."""
    return "MidStreamFallbackError" in facts.get("types", ()) and facts.get("begun") is not False


class _Failure:
    """The facts used to classify a failure; `text` is all its messages in lower case."""

    def __init__(self, facts: Facts) -> None:
        causes = facts.get("causes") or []
        body, text, message = (facts.get(name) or "" for name in ("body", "text", "message"))
        self.types = frozenset(facts.get("types", ()))
        self.causes = frozenset(cause["type"] for cause in causes)
        self.status: int | None = facts.get("status")
        self.text = f"{message} {body} {text}".lower()
        self.content_type: str = facts.get("content_type", "")
        self.has_begun = bool(facts.get("anything"))
        """True if any part of a reply had arrived."""
        self.in_stream = in_stream(facts)
        self.is_tls = bool(tls_trouble(causes))
        self.is_page = is_page(facts)
        self.names_model = _NAMES_MODEL.search(str(body or text or message)) is not None
        self.is_unanswered = facts.get("answered") is False
        """True if not even the head of a response arrived."""
        self.is_accepted = facts.get("accepted") is True
        """True if the server answered with a success status."""

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
    def is_missing(self) -> bool:
        return self.status == 404 or self.is_a("NotFoundError")

    @property
    def is_limit(self) -> bool:
        return self.status == 429 or self.is_a("RateLimitError")


_KINDS: tuple[tuple[Callable[[_Failure], bool], ErrorKind], ...] = (
    (lambda it: it.is_unfinished and (it.has_begun or "event-stream" in it.content_type), "interrupted"),
    (lambda it: it.is_unfinished, "malformed"),
    (lambda it: it.is_a("ForeignRedirectError") or it.is_by("ForeignRedirectError"), "address"),
    (lambda it: it.is_tls, "address"),
    (lambda it: it.says(*UNFINISHED), "interrupted"),
    # In mid-stream, litellm makes up the status and the type.
    (lambda it: it.in_stream and it.is_by_timeout, "timeout"),
    (lambda it: it.in_stream and it.is_by("JSONDecodeError"), "malformed"),
    (lambda it: it.in_stream and it.says("cannot connect to host"), "network"),
    (lambda it: it.in_stream and it.is_by(*BROKEN_OFF, "ClientPayloadError", "IncompleteReadError"), "interrupted"),
    (lambda it: it.in_stream and it.says("overloaded"), "overloaded"),
    (lambda it: it.in_stream, "server"),
    # No response arrived.
    (lambda it: it.is_a("UnicodeEncodeError") or it.is_by("UnicodeEncodeError"), "request"),
    (lambda it: it.is_a("Timeout", "APITimeoutError") or it.is_by_timeout, "timeout"),
    (lambda it: it.is_by(*NOT_CONNECTED) or it.says("cannot connect to host"), "network"),
    (lambda it: it.is_by("JSONDecodeError"), "malformed"),
    (lambda it: it.is_by("ConnectionResetError") and it.is_unanswered, "network"),
    (lambda it: it.is_by(*BROKEN_OFF, "ServerDisconnectedError", "APIConnectionError"), "interrupted"),
    # The provider responded; specific messages come before the status.
    (lambda it: it.is_a("ContextWindowExceededError"), "context"),
    (lambda it: it.is_a("ContentPolicyViolationError"), "refused"),
    (lambda it: it.status == 402, "quota"),
    *((lambda it, said=said: said.search(it.text) is not None, kind) for kind, said in STATED.items()),
    (lambda it: it.status in (401, 403) or it.is_a("AuthenticationError", "PermissionDeniedError"), "key"),
    (lambda it: it.is_missing and it.names_model and not it.is_page, "model"),
    (lambda it: it.is_missing, "address"),  # a wrong path, such as a missing /v1
    (lambda it: it.is_limit and it.says("exceeded your current quota") and not TRY_LATER.search(it.text), "quota"),
    (lambda it: it.status in (498, 503, 529) or it.says("overloaded", "not ready for inference"), "overloaded"),
    (lambda it: it.is_limit, "rate limit"),
    (lambda it: it.is_accepted and "event-stream" not in it.content_type, "malformed"),
    (lambda it: it.status is not None and 400 <= it.status < 500, "request"),
    (lambda it: it.is_a("BadRequestError", "UnsupportedParamsError", "TypeError", "ValueError"), "request"),
)
"""Conditions and kinds of failures; the first match counts, "server" without a match."""
