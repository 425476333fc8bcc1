"""Puts the facts of a failed call, as the child process reports them, into one line that a person can act on."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adapters.lm.addresses import key_variables
from adapters.lm.capabilities import split_model
from adapters.lm.connections import tls_line, tls_trouble, without_user
from adapters.lm.errors import ErrorKind, ProviderError
from adapters.lm.failure_kinds import Facts, in_stream, kind_of
from adapters.lm.secrets import Scrubber

MAX_LINE = 400
"""Characters of what the provider said that go into the line; all of it is in the payload."""

CONNECTION_REFUSED = "connection refused"
UNKNOWN_NAME = "its name cannot be resolved"

NO_USER_MESSAGE = ("requires at least one non-system message", "at least one message is required")
"""What litellm says, and Anthropic itself, of a prompt of a system message alone."""

RESET = "connection reset"

PACKAGES: Mapping[str, tuple[str, str]] = {"google": ("vertex", "google-auth")}
"""By the module that litellm misses: the extra of this project that brings it, and its package."""

SHORT: Mapping[str, str] = {
    "key": "key refused",
    "model": "unknown model",
    "context": "prompt too long",
    "request": "request refused",
    "refused": "content filter",
    "rate limit": "rate limit",
    "quota": "no credit left",
    "overloaded": "overloaded",
    "server": "server failed",
    "network": "not reachable",
    "address": "wrong address",
    "timeout": "timeout",
    "malformed": "malformed answer",
    "interrupted": "connection lost",
    "child": "model process lost",
    "setup": "not set up",
}
"""An `ErrorKind` where there is room for few words."""

WITHOUT_STATUS = ("network", "address", "timeout", "malformed", "interrupted", "child", "setup")
"""Kinds of which a status, if there is one, is litellm's invention."""


_LOCAL_PATH = re.compile(r"(?:[A-Za-z]:)?[/\\\\][^\s\"']*[/\\\\](?:site|dist)-packages[/\\\\]")
"""What stands before a file of an installed package, which is nobody's business."""


@dataclass(frozen=True)
class Target:
    """What was called: `model` as the user wrote it, at `address` (None: the provider's own).

    `key_withheld`: it was sent no key because the address is not trusted; `keys`: the variables that hold its key.
    """

    model: str
    address: str | None = None
    key_withheld: bool = False
    keys: tuple[str, ...] = ()

    @property
    def provider(self) -> str:
        return split_model(self.model)[0]

    @property
    def place(self) -> str:
        """Who answers, for a sentence."""
        return f"The server at {without_user(self.address)}" if self.address else self.provider


def translate(facts: Facts, target: Target, scrubber: Scrubber) -> ProviderError:
    """The error for what a worker reported; its message and payload are scrubbed of keys."""
    kind = kind_of(facts)
    retry_after = seconds(facts.get("retry_after"))
    line = scrubber.scrubbed(_line(kind, facts, target, retry_after))
    payload = scrubber.json({name: value for name, value in facts.items() if value not in (None, "", [], {})})
    if kind == "key":
        payload["key_sent"] = bool(target.keys) and not target.key_withheld
    return ProviderError(line, kind, status=facts.get("status"), retry_after=retry_after, payload=payload)


def in_short(payload: Any) -> str:
    """What a `ProviderError.payload` tells of, in the fewest words: `429 · rate limit`; "" for any other payload."""
    kind = payload.get("kind") if isinstance(payload, Mapping) else None
    if not isinstance(kind, str) or kind not in SHORT:
        return ""
    said = str(payload.get("message", ""))
    words = SHORT[kind]
    if kind == "key" and not payload.get("key_sent"):
        words = "needs a key"
    elif kind == "network" and _reason(payload) == CONNECTION_REFUSED:
        words = CONNECTION_REFUSED
    elif kind == "network" and _reason(payload) == UNKNOWN_NAME:
        words = "unknown host"
    elif kind == "request" and _misses_user_message(said):
        words = "no user message"
    elif kind == "request" and "surrogates not allowed" in said:
        words = "half a character"
    status = payload.get("status")
    is_told = isinstance(status, int) and kind not in WITHOUT_STATUS and not in_stream(payload)
    return f"{status} · {words}" if is_told else words


def _line(kind: ErrorKind, facts: Facts, target: Target, retry_after: float | None) -> str:
    is_answer = facts.get("sent") is not False and not in_stream(facts)
    status = f" ({facts['status']})" if facts.get("status") and is_answer else ""
    said = _said(facts)
    tail = f": {said}" if said else "."
    _, name = split_model(target.model)
    message = str(facts.get("message", ""))
    match kind:
        case "key":
            return _key_line(status, tail, target)
        case "model" if "llm provider not provided" in message.lower():
            return f"No provider is known for the model {target.model!r}. Write provider/model: openai/gpt-6-luna."
        case "model":
            return f"{target.place} does not know the model {name!r}{status}{tail}"
        case "context":
            return f"The prompt is too long for {target.model}{tail}"
        case "refused":
            return f"{target.place} refused this prompt because of its content filter{tail}"
        case "rate limit":
            return f"{target.place} limits how often you may call it{status}{_ended(tail)} {_wait(retry_after)}"
        case "quota":
            return f"{target.place} says that there is no credit left{status}{tail}"
        case "overloaded":
            return f"{target.place} is overloaded{status}{_ended(tail)} Try again in a moment."
        case "setup":
            return _setup_line(facts, tail, target)
        case "address":
            return _address_line(facts, target)
        case "network" if _reason(facts) == RESET:
            secure = (target.address or "").replace("http://", "https://", 1)
            return f"{target.place} closes every connection at once. If it speaks https, write {secure}."
        case "network":
            return f"{target.place} cannot be reached ({_reason(facts)}). Is the address right, and the server running?"
        case "timeout":
            return f"{target.place} gave no answer in time."
        case "malformed":
            nature = _nature(facts, said)
            return f"{target.place} answered with something that is not a chat completion stream ({nature})."
        case "interrupted":
            return f"{target.place} closed the connection before the reply was complete."
        case "request" if _misses_user_message(message):
            return (
                f"{target.provider} takes no prompt of a system message alone, and this one has no user message. "
                "Choose another adapter for this model (Markdown writes all in one system message), or another model."
            )
        case "request" if "surrogates not allowed" in message:
            return (
                "The prompt holds half a character (a lone surrogate), which cannot be sent. Remove it from the text."
            )
        case "request":
            return f"{target.place} refused the request{status}{tail}"
        case "server" | "child":
            return f"{target.place} failed{status}{tail}"


def _misses_user_message(said: str) -> bool:
    return any(one in said for one in NO_USER_MESSAGE)


def _wait(retry_after: float | None) -> str:
    return "Wait a little before you try again." if retry_after is None else f"Try again in {retry_after:g} s."


def _key_line(status: str, tail: str, target: Target) -> str:
    if target.key_withheld:
        return (
            f"{target.place} wants a key{status}{_ended(tail)} It was sent none, because the session or a `.env` names "
            "this address: allow the host to send it your key."
        )
    if target.keys:
        return f"{target.place} does not accept the key in {target.keys[0]}{status}{tail}"
    variables = " or ".join(key_variables(target.provider))
    return f"{target.place} wants a key{status}{_ended(tail)} Set {variables} in your environment."


def _address_line(facts: Facts, target: Target) -> str:
    if "ForeignRedirectError" in str(facts):
        return (
            f"{target.place} sends the request on to another host, which got neither prompt nor key. If you trust that "
            f"one, give its address: {_redirect_of(facts)}."
        )
    causes = facts.get("causes") or []
    return tls_line(tls_trouble(causes), target.place, target.address, causes)


def _redirect_of(facts: Facts) -> str:
    said = [str(one["message"]) for one in facts.get("causes") or () if one["type"] == "ForeignRedirectError"]
    return (said or [str(facts.get("message", ""))])[0].rpartition(" on to ")[2]


def _setup_line(facts: Facts, tail: str, target: Target) -> str:
    """No request went out: what is missing here, and never a word about the provider."""
    missing = facts.get("missing")
    if not missing:
        return f"{target.model} cannot be called, and nothing was sent{tail}"
    top = str(missing).partition(".")[0]
    extra, package = PACKAGES.get(top, ("", top))
    install = f'"adapter-workbench[{extra}]"' if extra else package
    return f"{target.provider} needs a package that is not installed, {package}: pip install {install}"


def missing_key(target: Target) -> ProviderError:
    """The error for a provider whose key variable is not set."""
    variables = key_variables(target.provider)
    return ProviderError(
        f"{target.model} needs a key: set {' or '.join(variables)} in your environment, or choose an offline/… model.",
        "key",
        payload={"missing": list(variables)},
    )


def _ended(tail: str) -> str:
    return tail if tail.endswith((".", "!", "?")) else f"{tail}."


def _said(facts: Facts) -> str:
    """What the provider itself said, on one line."""
    body = facts.get("body")
    if isinstance(body, Mapping):
        error = body.get("error", body)
        body = error.get("message") if isinstance(error, Mapping) else error
    text = body if isinstance(body, str) and body else _inside(str(facts.get("message", "")))
    if "<html" in text.lower():
        return "a web page (HTML), not an API's answer"
    text = text.partition(" Original exception:")[0].partition("Traceback (most recent call last)")[0]
    text = _LOCAL_PATH.sub("", text)
    text = re.sub(r"\.? Handle with `litellm\.\w+`\.?$", "", text)
    text = re.sub(r"^(litellm\.)?(\w+(Error|Exception)(: | - )|litellm\.)+", "", " ".join(text.split()))
    text = re.sub(r"^(\w+Exception - )+", "", text)
    return text if len(text) <= MAX_LINE else text[:MAX_LINE] + "…"


def _inside(text: str) -> str:
    """The `message` of a JSON error that litellm has put into its own sentence; else the sentence."""
    start = text.find("{")
    if start < 0:
        return text
    try:
        value = json.JSONDecoder().raw_decode(text[start:].replace("\\'", "'"))[0]
    except (ValueError, RecursionError):
        return text
    error = value.get("error", value) if isinstance(value, dict) else value
    message = error.get("message") if isinstance(error, dict) else error
    return message if isinstance(message, str) and message else text


def _nature(facts: Facts, said: str) -> str:
    kind = facts.get("content_type", "")
    if "html" in kind:
        return "a web page, HTML"
    if "JSONDecodeError" in {cause["type"] for cause in facts.get("causes", ())}:
        return f"an event that is not JSON: {said}" if said else "an event that is not JSON"
    return kind or said or "nothing at all"


def _reason(facts: Facts) -> str:
    types = {cause["type"] for cause in facts.get("causes", ())}
    if "ConnectionRefusedError" in types:
        return CONNECTION_REFUSED
    if "gaierror" in types or "Name or service not known" in str(facts.get("message", "")):
        return UNKNOWN_NAME
    if "ConnectionResetError" in types or "Connection reset by peer" in str(facts.get("causes")):
        return RESET
    if "ConnectTimeout" in types:
        return "no answer"
    said = next((cause["message"] for cause in reversed(facts.get("causes", ())) if cause["message"]), "")
    return " ".join(said.split())[:200] or "no connection"


def seconds(value: Any) -> float | None:
    """A `retry-after` header in seconds; None for one that is a date or nonsense."""
    try:
        found = float(value)
    except (TypeError, ValueError):
        return None
    return found if 0 <= found < 1e9 else None
