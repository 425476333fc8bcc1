"""Explain a failed call in one line, with a fix where possible."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from adapters.late_dataclasses import dataclass
from adapters.lm.addresses import KEY_VARIABLES, OTHER_KEYS, SIGNED, base_variables, key_variables, without_user
from adapters.lm.capabilities import is_provider_known, split_model
from adapters.lm.failure_kinds import Facts, in_stream, is_page, kind_of, said_in, tls_line, tls_trouble, wait_of
from adapters.lm.model_list import litellm_models
from adapters.lm.protocol import ErrorKind, ProviderError
from adapters.lm.secrets import Scrubber

CONNECTION_REFUSED = "connection refused"
UNKNOWN_NAME = "its name cannot be resolved"

NO_USER_MESSAGE = re.compile("requires at least one non-system message|at least one message is required")
"""Messages of litellm and Anthropic about a prompt with only a system message."""

RESET = "connection reset"

AT_V1 = ("openai", "text-completion-openai", "hosted_vllm", "lm_studio", "litellm_proxy", "llamafile")
"""Providers whose servers usually have their API under `/v1`."""

CAPABILITIES: Mapping[str, str] = {
    "function_calling": "native tools",
    "response_schema": "a schema",
    "response_format": "a response_format",
}
"""The part of a request that a model gets because of a capability."""

REJECTED: Mapping[str, re.Pattern[str]] = {
    "function_calling": re.compile(
        r"tool[ _-]?(choice|call|use)|support (tools|function)|tools? (is|are) not|schema for function", re.IGNORECASE
    ),
    "response_schema": re.compile(
        "response_?format|json[ _]schema|response_?(json_?)?schema|output_(config|format)|invalid schema|grammar",
        re.IGNORECASE,
    ),
}
"""Messages of servers that reject a part of a request, by capability."""

PACKAGES: Mapping[str, tuple[str, str]] = {"google": ("vertex", "google-auth")}
"""The project's extra and the package to install, by the module that litellm cannot import."""

SHORT: Mapping[str, str] = {
    "key": "API key rejected",
    "model": "unknown model",
    "context": "prompt too long",
    "request": "request rejected",
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
"""A short description of each `ErrorKind`."""

WITHOUT_STATUS = ("network", "address", "timeout", "malformed", "interrupted", "child", "setup")
"""Kinds whose HTTP status, if any, is made up by litellm."""


@dataclass(frozen=True)
class Target:
    """The called `model` as the user wrote it, and its `address` (None: the provider's own).

    `key_withheld`: no API key was sent because the address is not trusted; `keys`: the set variables with its API key.
    """

    model: str
    address: str | None = None
    key_withheld: bool = False
    keys: tuple[str, ...] = ()
    asks: frozenset[str] = frozenset({"function_calling", "response_schema"})
    """The capabilities that the request needs: a server that blames another part misreads it."""

    @property
    def provider(self) -> str:
        return split_model(self.model)[0]

    @property
    def place(self) -> str:
        """The server's name, to begin a sentence with."""
        return f"The server at {without_user(self.address)}" if self.address else self.provider


def translate(facts: Facts, target: Target, scrubber: Scrubber) -> ProviderError:
    """Convert the facts reported by the worker to an error without secrets."""
    kind = kind_of(facts)
    retry_after = wait_of(facts)
    line = scrubber.scrubbed(_line(kind, facts, target, retry_after))
    rejected = _rejected(facts, target) if kind == "request" else ""
    payload = scrubber.json({name: value for name, value in facts.items() if value not in (None, "", [], {})})
    if kind == "key":
        payload["key_sent"] = _has_sent_key(facts, target)
    if rejected:
        payload["rejected"] = rejected
    return ProviderError(line, kind, status=facts.get("status"), retry_after=retry_after, payload=payload)


def short_form(payload: Any) -> str:
    """Summarize a `ProviderError.payload`, as in `429 · rate limit`; "" for any other payload."""
    kind = payload.get("kind") if isinstance(payload, Mapping) else None
    if not isinstance(kind, str) or kind not in SHORT:
        return ""
    said = str(payload.get("message", ""))
    words = _ended_account(said_in(payload)) if kind == "quota" else SHORT[kind]
    if kind == "key" and not payload.get("key_sent") and _wants_key(payload):
        words = "needs an API key"
    elif kind == "key" and payload.get("status") == 403:
        words = "access denied"
    elif kind == "overloaded":
        words = _trouble(payload)
    elif kind == "network" and _reason(payload) == CONNECTION_REFUSED:
        words = CONNECTION_REFUSED
    elif kind == "network" and _reason(payload) == UNKNOWN_NAME:
        words = "unknown host"
    elif kind == "context" and payload.get("status") == 413:
        words = "request too large"
    elif kind == "request" and NO_USER_MESSAGE.search(said):
        words = "no user message"
    elif kind == "request" and "surrogates not allowed" in said:
        words = "unpaired surrogate"
    status = payload.get("status")
    is_invented = kind in WITHOUT_STATUS or bool(payload.get("accepted")) or in_stream(payload)
    is_told = isinstance(status, int) and not is_invented
    return f"{status} · {words}" if is_told else words


def _line(kind: ErrorKind, facts: Facts, target: Target, retry_after: float | None) -> str:
    is_answer = facts.get("sent") is not False and not facts.get("accepted") and not in_stream(facts)
    status = f" ({facts['status']})" if facts.get("status") and is_answer else ""
    said = said_in(facts)
    tail = f": {said}" if said else "."
    _, name = split_model(target.model)
    message = str(facts.get("message", ""))
    match kind:
        case "key":
            return _key_line(facts, status, tail, target)
        case "model":
            is_known = "llm provider not provided" not in message.lower()
            unknown = f"{target.place} does not know the model {name!r}{status}{tail}"
            return unknown if is_known else _unknown_provider(target.model)
        case "context":
            is_size = facts.get("status") == 413  # of the body, with its images
            too_large = f"{target.place} rejected the request as too large{status}{tail}"
            return too_large if is_size else f"The prompt is too long for {target.model}{tail}"
        case "refused":
            return f"{target.place} refused this prompt because of its content filter{tail}"
        case "rate limit":
            return f"{target.place}: rate limit reached{status}{_ended(tail)} {_wait(retry_after)}"
        case "quota":
            return f"{target.place}: {_ended_account(said)}{status}{tail}"
        case "overloaded":
            return f"{target.place} is {_trouble(facts)}{status}{_ended(tail)} Try again in a moment."
        case "setup":
            return _setup_line(facts, tail, target)
        case "address":
            return _address_line(facts, status, tail, target)
        case "network":
            return _network_line(facts, target)
        case "timeout":
            is_told = facts.get("answered") and is_answer
            return f"{target.place} timed out{status}{tail}" if is_told else f"{target.place} did not respond in time."
        case "malformed":
            nature = _nature(facts, said)
            return f"{target.place} did not answer with a chat completion ({nature})."
        case "interrupted":
            return f"{target.place} closed the connection before the reply was complete."
        case "request" if NO_USER_MESSAGE.search(message):
            return (
                f"{target.provider} requires a user message; this prompt has only a system message. "
                "Choose another adapter for this model (Markdown writes a single system message), or another model."
            )
        case "request" if "surrogates not allowed" in message:
            return "The prompt contains an unpaired surrogate (half of a character). Remove it from the text."
        case "request" if facts.get("sent") is False:
            rejected = _rejected(facts, target)
            return f"Nothing was sent{_without(rejected, _ended(_not_supported(said, bool(rejected))))}"
        case "request":
            return f"{target.place} rejected the request{status}{_without(_rejected(facts, target), tail)}"
        case "server" | "child":
            return f"{target.place} failed{status}{tail}"


def _without(rejected: str, tail: str) -> str:
    """Append to `tail` how to ask without a rejected part of the request."""
    if not rejected:
        return tail
    return (
        f"{_ended(tail)} To ask without {CAPABILITIES[rejected]}, give this column the parameter "
        f'"capabilities": {{"{rejected}": false}} (`send --apply capabilities`).'
    )


def _rejected(facts: Facts, target: Target) -> str:
    """Return the capability whose part of the request was rejected, "" if the message names none."""
    said = said_in(facts)
    found = next((name for name, pattern in REJECTED.items() if pattern.search(said)), "")
    found = "response_format" if found == "response_schema" and "response_format" in target.asks else found
    return found if found in target.asks else ""


def _ended_account(said: str) -> str:
    """Say whether credit is missing or a limit of the account is reached."""
    is_limit = re.search("limit|budget|volume quota", said.lower()) and "credit" not in said.lower()
    return "usage limit reached" if is_limit else SHORT["quota"]


def _trouble(facts: Facts) -> str:
    """Say whether a server has too much work; a 503 may have other causes, such as a model that is still loading."""
    is_stated = re.search("overload|busy|capacity|traffic|demand|overflow|too many", said_in(facts), re.IGNORECASE)
    is_usual = facts.get("status") != 503 and "not ready" not in said_in(facts)
    return SHORT["overloaded"] if is_stated or is_usual else "unavailable"


def _wait(retry_after: float | None) -> str:
    """Advise when to try again, rounded up."""
    if retry_after is None:
        return "Try again later."
    units = (("days", 86400), ("h", 3600), ("min", 60))
    rounded = (f"{math.ceil(retry_after / unit)} {name}" for name, unit in units if retry_after >= 2 * unit)
    return f"Try again in {next(rounded, f'{math.ceil(round(retry_after * 100, 6)) / 100:g} s')}."


def _token_server(facts: Facts, target: Target) -> str:
    """Name the server that gives a token for Google's credentials, if the call failed there; else ""."""
    is_token = any(one["type"] in ("RefreshError", "TransportError") for one in facts.get("causes") or ())
    return f"The server that gives {target.provider} a token for its credentials" if is_token else ""


def _has_sent_key(facts: Facts, target: Target) -> bool:
    """Return whether an API key, or a signature with credentials, went with the request."""
    is_signed = target.provider in SIGNED and bool(facts.get("status")) and "missing" not in said_in(facts).lower()
    return bool(target.keys or is_signed) and not target.key_withheld


def _wants_key(facts: Facts) -> bool:
    """Return whether a key is what the server misses; a 403 may have other causes."""
    return facts.get("status") != 403 or _NAMES_KEY.search(said_in(facts)) is not None


_NAMES_KEY = re.compile("api.?key|credential|token|unregistered", re.IGNORECASE)


def _key_line(facts: Facts, status: str, tail: str, target: Target) -> str:
    if target.key_withheld:
        return (
            f"{target.place} needs an API key{status}{_ended(tail)} None was sent: the address comes from the session "
            "or `.env`. Allow the host to send your API key."
        )
    is_signed = target.provider in SIGNED
    kind, missing = ("credentials", "credentials") if is_signed else ("API key", "an API key")
    used = f"the {kind} in {target.keys[0]}" if target.keys else "your credentials"
    if server := _token_server(facts, target):
        return f"{server} does not accept {used}{tail}"
    if _has_sent_key(facts, target):
        verb = "denies access with" if status == " (403)" else "does not accept"
        return f"{target.place} {verb} {used}{status}{tail}"
    variables = " or ".join(key_variables(target.provider))
    denied = (
        f"{target.place} denies access{status}{_ended(tail)} No API key was sent; if it needs one, set {variables}."
    )
    needs = f"{target.place} needs {missing}{status}{_ended(tail)} Set {variables} in your environment."
    return needs if _wants_key(facts) else denied


def _unknown_provider(model: str) -> str:
    """Explain an unknown provider, and suggest the most similar known name."""
    provider, name = split_model(model)
    if "/" in model and is_provider_known(model):
        known = sorted({*KEY_VARIABLES, *OTHER_KEYS, *(one.provider for one in litellm_models())})
        near = [f"{one}/{name}" for one in difflib.get_close_matches(provider, known, 1, 0.75)]
    else:
        names = [split_model(one.name)[1] for one in litellm_models() if one.provider == provider]
        near = [f"{provider}/{one}" for one in difflib.get_close_matches(name, names, 1)]
    hint = f"did you mean {near[0]}?" if near else "write provider/model, such as openai/gpt-6-luna."
    return f"litellm knows no provider for the model {model!r}; {hint}"


def _not_supported(said: str, is_ours: bool) -> str:
    """Explain a request that litellm rejects before sending, without its advice for users of its own API."""
    found = re.search(r"(\S+) does not support parameters: \[?(.*?)\]?, for model=", said)
    if found is None:
        return f": {said}" if said else ""
    return f": litellm does not support {found[2]} for {found[1]}{'' if is_ours else '. Remove it from the parameters'}"


def _network_line(facts: Facts, target: Target) -> str:
    reason = _reason(facts)
    if server := _token_server(facts, target):
        return f"{server} cannot be reached ({reason}). Is this machine online?"
    if reason == RESET:
        address = target.address or ""
        secure = address.replace("http://", "https://", 1)
        hint = f" If it speaks https, write {secure}." if secure != address else ""
        return f"{target.place} closes every connection at once.{hint}"
    ask = "Is the address right, and the server running?" if target.address else "Is this machine online?"
    return f"{target.place} cannot be reached ({reason}). {ask}"


def _address_line(facts: Facts, status: str, tail: str, target: Target) -> str:
    if "ForeignRedirectError" in str(facts):
        said = [str(one["message"]) for one in facts.get("causes") or () if one["type"] == "ForeignRedirectError"]
        there = (said or [str(facts.get("message", ""))])[0].rpartition(" on to ")[2][:200]
        if not there.startswith(("http://", "https://")):
            return f"{target.place} redirects to {there}, which is not the address of a server. Nothing was sent there."
        return (
            f"{target.place} redirects the request to another host, which got neither prompt nor key. If you trust "
            f"that host, give its address: {there}."
        )
    causes = facts.get("causes") or []
    trouble = tls_trouble(causes)
    if trouble:
        return tls_line(trouble, target.place, target.address, causes)
    address = without_user(target.address or "")
    missing = target.provider in AT_V1 and address and not urlsplit(address).path.strip("/")
    hint = f" Servers of this kind usually listen at {address.rstrip('/')}/v1." if missing else ""
    return f"{target.place} has nothing at this path{status}{_ended(tail)} Check the address.{hint}"


def _setup_line(facts: Facts, tail: str, target: Target) -> str:
    """Explain what is missing on this machine; no request was sent."""
    missing = facts.get("missing")
    if not missing and target.address is None and "azure_endpoint" in tail:  # an argument of Azure's client
        variable = base_variables(target.provider)[0]
        return f"{target.model} needs an address: set the parameter api_base, or {variable}. Nothing was sent."
    if not missing:
        return f"{target.model} cannot be called, and nothing was sent{tail}"
    top = str(missing).partition(".")[0]
    extra, package = PACKAGES.get(top, ("", top))
    install = f'"adapter-workbench[{extra}]"' if extra else package
    return f"{target.provider} needs a package that is not installed, {package}: pip install {install}"


def missing_key(target: Target) -> ProviderError:
    """Return the error for a provider whose API key variable is not set."""
    variables = key_variables(target.provider)
    return ProviderError(
        f"{target.model} needs an API key: set {' or '.join(variables)}, or choose an offline/… model.",
        "key",
        payload={"missing": list(variables)},
    )


def _ended(tail: str) -> str:
    return tail if tail.endswith((".", "!", "?")) else f"{tail}."


def _nature(facts: Facts, said: str) -> str:
    kind = facts.get("content_type", "")
    if is_page(facts):
        return "a web page, HTML"
    if facts.get("empty"):
        return "an empty response"
    lacking = _LACKING.search(said)
    if lacking:
        return f'JSON without "{lacking[lacking.lastindex or 0]}"'
    if "JSONDecodeError" in {cause["type"] for cause in facts.get("causes", ())}:
        if "event" not in kind:
            return "a response that is not JSON"
        return f"an event that is not JSON: {said}" if said else "an event that is not JSON"
    return (said or kind) if facts.get("accepted") else kind or said or "nothing at all"


_LACKING = re.compile(r"with no '(\w+)'\. Raw keys|block=(\w+) not found in|^'(\w+)'$")
"""litellm's messages about a response without a key that it needs; the last is a KeyError's."""


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
