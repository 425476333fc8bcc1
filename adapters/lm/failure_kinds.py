"""Classify a failed call from the facts of its child process, and find the provider's own words in them."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from adapters.lm.protocol import ErrorKind, Object

Facts = Mapping[str, Any]
"""Facts of a failed call: the exception's `types` and `message`, `causes` (each `type` and `message`), `status`,
`body`, `content_type`, and its progress (`sent`, `answered`, `begun`, `anything`, `accepted`, `empty`)."""

MAX_LINE = 400
"""Maximum characters of the provider's message in the line; the payload has the whole message."""

CERTIFICATE = "CERTIFICATE_VERIFY_FAILED"
NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG")
"""OpenSSL's errors for a response that is not TLS."""

UNFINISHED = ("closed the responses stream before any terminal event", "ended before a finish_reason")
"""litellm's messages for a stream that ended early."""

STATED: Mapping[ErrorKind, re.Pattern[str]] = {
    "context": re.compile(
        "context_length_exceeded|maximum (context|prompt) length|request too large"
        "|(exceeds|greater than|less than) the (model's )?context length|max_new_tokens` must be"
    ),
    "rate limit": re.compile("too many tokens per"),
    "quota": re.compile(
        r"credits? (balance is too low|or licenses yet|are depleted)|insufficient[_ ](balance|credits|quota)"
        r"|any credits yet|used all available credits|spend(ing)? limit|specified api usage limits"
        r"|billing[_ ](not_active|disabled|state|to be enabled)|payment[_ ]instrument|subscription is disabled"
        r"|budget has been exceeded|call volume quota|key limit exceeded|limit set to 0|limit: 0,"
    ),
    # A proxy of litellm without a database answers a wrong key with 400 and the last two.
    "key": re.compile("incorrect api key|api key not valid|no_db_connection|no connected db|not have access to model"),
    "refused": re.compile(
        "requires moderation|input was flagged|violates usage guidelines|content exists risk|deny-listed"
    ),
    "address": re.compile("unexpected endpoint or method"),
    "request": re.compile("no endpoints found (that|matching)|no available model provider that meets"),
    "model": re.compile(
        "llm provider not provided|model_not_(found|supported)|invalid model|not a valid model|model not exist"
        "|model identifier is invalid|no endpoints found for|has been decommissioned"
        "|endpoint with name .{1,99} does not exist|the given endpoint does not exist"
    ),
}
"""Vendors' messages that tell the kind whatever the status, such as a 400 for a wrong API key; the first counts."""

_NAMES_MODEL = re.compile("model|deployment", re.IGNORECASE)

_TIME = re.compile(
    r"(\d+(?:\.\d+)?) ?(ms|s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:ours?)?|d(?:ays?)?)(?![a-z])"
    r"(?:,? (?:and )?)?",
    re.IGNORECASE,
)
_TRY_LATER = re.compile(
    rf"(?:(?:again|retry|resets?|replenished) (?:in|after) |retrydelay\W+)((?:{_TIME.pattern})+)", re.IGNORECASE
)
_SECONDS: Mapping[str, float] = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}


def wait_of(facts: Facts) -> float | None:
    """Return the seconds after which the server may be asked again, by its header or its message."""
    stated = stated_wait(f"{facts.get('message', '')} {facts.get('body', '')} {facts.get('text', '')}")
    return seconds(facts.get("retry_after")) or stated


def seconds(value: Any) -> float | None:
    """Convert a `retry-after` header to seconds; None for a date or an invalid value."""
    try:
        found = float(value)
    except (TypeError, ValueError):
        return None
    return found if 0 <= found < 1e9 else None


def stated_wait(text: str) -> float | None:
    """Return the wait that a server's message states, in seconds.

    >>> stated_wait("Please try again in 9m38.5s. Upgrade today")
    578.5
    """
    found = _TRY_LATER.search(text)
    if found is None:
        return None
    parts = _TIME.findall(found[1].lower())
    return sum(float(number) * _SECONDS[unit if unit == "ms" else unit[0]] for number, unit in parts)


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


_LOCAL_PATH = re.compile(r"(?:[A-Za-z]:)?[/\\\\][^\s\"']*[/\\\\](?:site|dist)-packages[/\\\\]")
"""The local path before a file of an installed package, which is removed from messages."""


def said_in(facts: Facts) -> str:
    """Return the provider's own message as one line."""
    if is_page(facts):
        return "a web page (HTML), not an API response"
    message, stated = str(facts.get("message", "")), _message_in(facts.get("body"))
    if not stated and "provider returned 'choices'" in message:  # in litellm's words
        return 'JSON without "choices"'
    pair = _PAIR.search(message)
    text = pair[1] if pair else stated or _inside(message)
    text = text.partition(" Original exception:")[0].partition("Traceback (most recent call last)")[0]
    text = _LOCAL_PATH.sub("", text)
    text = re.sub(r"\.? Handle with `litellm\.\w+`\.?$", "", text)
    text = re.sub(r"^(litellm\.)?(\w+(Error|Exception)(: | - )|litellm\.)+", "", " ".join(text.split()))
    text = re.sub(r"^(\w+Exception( APIError)? -( |$))+|^Error code: \d+( - )?", "", text)
    text = re.sub(r"^Message: (.*), Metadata: .*", r"\1", text)  # litellm's words for OpenRouter's
    return text if len(text) <= MAX_LINE else text[:MAX_LINE] + "…"


_PAIR = re.compile(r"^\S+: \('([^'{]+)', \{")
"""The message of google-auth about credentials that were not accepted, beside the response."""


def _inside(text: str) -> str:
    """Return the message of an error embedded in litellm's, as JSON, Python bytes or a Python dict; else the text."""
    start = text.find("{")
    quoted = _BYTES.search(text)
    decoders: tuple[Callable[[], object], ...] = (
        lambda: json.loads(ast.literal_eval(quoted[0])) if quoted is not None else None,
        lambda: json.JSONDecoder().raw_decode(text[start:])[0],
        lambda: ast.literal_eval(text[start : text.rindex("}") + 1]),
    )
    for decode in decoders:
        try:
            found = _message_in(decode()) if start >= 0 else ""
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if found:
            return found
    return text


_BYTES = re.compile(r"""b'(?:[^'\\]|\\.)*'|b"(?:[^"\\]|\\.)*\"""")
"""A response body as Python writes bytes."""


def _message_in(value: object) -> str:
    """Return the message in an error's JSON, wherever vendors write it; "" without one."""
    if isinstance(value, list):
        return _message_in(value[0]) if value else ""
    if isinstance(value, Mapping):
        names = ("error", "message", "detail", "msg", "fault", "faultstring")
        said = next(filter(None, (_message_in(value.get(name)) for name in names)), "")
        place, more = value.get("loc"), value.get("metadata")
        if said and place and isinstance(place, list):
            return f"{'.'.join(map(str, place[1:] or place))}: {said}"
        upstream = more.get("raw") if isinstance(more, Mapping) else None
        return f"{said}: {_inside(upstream)}" if said and isinstance(upstream, str) else said
    return value if isinstance(value, str) else ""


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
        self.is_of_events = "event" in facts.get("content_type", "event")
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
        self.is_empty = facts.get("empty") is True
        self.is_by_timeout = any("Timeout" in cause for cause in self.causes)
        self.is_unfinished = self.is_a("UnfinishedStreamError") or self.says(*UNFINISHED)
        self.is_missing = self.status == 404 or self.is_a("NotFoundError")
        self.is_limit = self.status == 429 or self.is_a("RateLimitError")

    def is_a(self, *types: str) -> bool:
        return not self.types.isdisjoint(types)

    def is_by(self, *causes: str) -> bool:
        return not self.causes.isdisjoint(causes)

    def says(self, *words: str) -> bool:
        return any(one in self.text for one in words)


_KINDS: tuple[tuple[Callable[[_Failure], bool], ErrorKind], ...] = (
    (lambda it: it.is_unfinished and not it.is_empty and (it.has_begun or it.is_of_events), "interrupted"),
    (lambda it: it.is_unfinished, "malformed"),
    (lambda it: it.is_a("ForeignRedirectError") or it.is_by("ForeignRedirectError"), "address"),
    (lambda it: it.is_tls, "address"),
    # Google's token for the credentials, before any request.
    (lambda it: it.is_by("RefreshError"), "key"),
    (lambda it: it.is_by("TransportError"), "network"),
    # In mid-stream, litellm makes up the status and the type.
    (lambda it: it.in_stream and it.is_by_timeout, "timeout"),
    (lambda it: it.in_stream and it.is_by("JSONDecodeError"), "malformed"),
    (lambda it: it.in_stream and it.says("cannot connect to host"), "network"),
    (lambda it: it.in_stream and it.is_by(*BROKEN_OFF, "ClientPayloadError", "IncompleteReadError"), "interrupted"),
    (lambda it: it.in_stream and it.says("overloaded", "at capacity"), "overloaded"),
    (lambda it: it.in_stream, "server"),
    # No response arrived.
    (lambda it: it.is_a("UnicodeEncodeError") or it.is_by("UnicodeEncodeError"), "request"),
    (lambda it: it.is_a("Timeout", "APITimeoutError") or it.is_by_timeout, "timeout"),
    (lambda it: it.is_by(*NOT_CONNECTED) or it.says("cannot connect to host"), "network"),
    (lambda it: it.is_by("JSONDecodeError"), "malformed"),
    (lambda it: it.is_by("ConnectionResetError") and it.is_unanswered, "network"),
    (
        lambda it: it.is_a(*BROKEN_OFF) or it.is_by(*BROKEN_OFF, "ServerDisconnectedError", "APIConnectionError"),
        "interrupted",
    ),
    (lambda it: it.is_empty, "malformed"),
    # The provider responded; specific messages come before the status.
    (lambda it: it.is_a("ContextWindowExceededError"), "context"),
    (lambda it: it.is_a("ContentPolicyViolationError"), "refused"),
    (lambda it: it.status == 402, "quota"),
    (lambda it: it.status == 413, "context"),
    *((lambda it, said=said: said.search(it.text) is not None, kind) for kind, said in STATED.items()),
    (lambda it: it.status in (401, 403) or it.is_a("AuthenticationError", "PermissionDeniedError"), "key"),
    (lambda it: it.is_missing and it.names_model and not it.is_page, "model"),
    (lambda it: it.is_missing, "address"),  # a wrong path, such as a missing /v1
    (lambda it: it.is_limit and it.says("exceeded your current quota") and stated_wait(it.text) is None, "quota"),
    (
        lambda it: it.status in (498, 503, 529) or it.says("overloaded", "at capacity", "not ready for inference"),
        "overloaded",
    ),
    (lambda it: it.is_limit, "rate limit"),
    (lambda it: it.is_accepted and not it.is_of_events, "malformed"),
    (lambda it: it.status in (408, 504), "timeout"),  # of a server behind the one that was called
    (lambda it: it.status == 424, "server"),  # Bedrock's model failed
    (lambda it: it.status is not None and 400 <= it.status < 500, "request"),
    (lambda it: it.is_a("BadRequestError", "UnsupportedParamsError", "TypeError", "ValueError"), "request"),
)
"""Conditions and kinds of failures; the first match counts, "server" without a match."""


def tls_trouble(causes: list[Object]) -> str:
    """Return the TLS problem of a failed connection: `certificate`, `no tls`, or ""."""
    said = " ".join(str(one.get("message", "")) for one in causes)
    if CERTIFICATE in said:
        return "certificate"
    return "no tls" if any(one in said for one in NO_TLS) else ""


def tls_line(trouble: str, place: str, address: str | None, causes: list[Object]) -> str:
    """Explain `trouble`, a result of `tls_trouble`, in one line."""
    if trouble == "certificate":
        said = next((str(one["message"]) for one in reversed(causes) if CERTIFICATE in str(one.get("message"))), "")
        reason = said.partition("certificate verify failed: ")[2].partition(" (_ssl")[0] or "it cannot be verified"
        return (
            f"{place} shows a certificate that is not trusted here ({reason}). Name the file of the authority that "
            "signed it in SSL_CERT_FILE."
        )
    plain = (address or "").replace("https://", "http://", 1)
    return f"{place} does not speak https" + (f": write {plain}." if plain else ".")
