"""Call models through litellm in a child process, which isolates its imports, crashes and output."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterator, Sequence
from queue import Empty, SimpleQueue
from threading import Event
from typing import Any, cast
from urllib.parse import quote

from adapters.late_dataclasses import dataclass, field, replace
from adapters.lm.addresses import (
    KEY_VARIABLES,
    OLLAMA,
    OLLAMAS_HOME,
    SIGNED,
    check_address,
    check_headers,
    check_keys,
    environment_base,
    host_of,
    key_variables,
    keys_set,
    without_keys,
    without_user,
)
from adapters.lm.capabilities import is_provider_known, split_model
from adapters.lm.child import Child, child_for
from adapters.lm.chunk_filters import cut_at_stops, replaced, without_secrets
from adapters.lm.lm_settings import PARAMETERS, LMSettings
from adapters.lm.protocol import Chunk, HttpRequest, Object, ProviderError, ToolCallPart
from adapters.lm.provider_errors import Target, missing_key, translate
from adapters.lm.secrets import Scrubber
from adapters.lm.wires.dspys_wire import CHAT, Sent, sent
from adapters.lm.worker.replies import Piece
from adapters.requests.capabilities import Capabilities
from adapters.requests.strict_schema import ClassFormat

POLL_SECONDS = 0.02
"""Interval at which a waiting call checks for cancellation."""

GRACE_SECONDS = 0.5
"""Time after the timeout to wait for the child's own error, which is more specific."""

OF_TEXTS = ("openai", "text-completion-openai")
"""The providers to which dspy sends text completions."""

NO_KEY = "no-key"
"""The API key sent where a library requires one and there is none, or none may be sent."""


@dataclass(eq=False)
class LitellmLM:
    """A model by litellm's `provider/model` name.

    `api_base` replaces the provider's address; unless `trusted`, no API key of the environment is sent there. `timeout`
    is in seconds without a byte from the provider, or without a chunk of the reply. Without `streams`, the reply is
    requested and delivered as a single chunk. `allow_variables` are the variables whose values may be sent in a header
    of `settings`.
    """

    model: str
    capabilities: Capabilities
    api_base: str | None = field(default=None, repr=False)  # it may hold a password
    api_version: str | None = None
    trusted: bool = True
    timeout: float = 600.0
    streams: bool = True
    settings: LMSettings = CHAT
    allow_variables: Collection[str] = ()

    def __post_init__(self) -> None:
        self.trusted = self.trusted or self.api_base is None
        self.model_type = self.settings.model_type

    @property
    def is_loading(self) -> bool:
        """Tell whether a call made now would wait for litellm to load (2 to 6 seconds)."""
        return not self._child().ready.is_set()

    def has_to_load(self, request: Object) -> bool:
        """See `adapters.lm.protocol.LoadsFirst`."""
        try:
            self._check_credentials(self._checked(request))
        except ProviderError:
            return False
        return self.is_loading

    def warm(self) -> None:
        """Start loading litellm, so that the first call need not wait."""
        self._child()

    def wait_until_loaded(self, cancel: Event | None = None) -> None:
        """Wait until litellm is loaded, fails to load, or `cancel` is set."""
        child = self._child()
        while not child.ready.wait(POLL_SECONDS):
            if cancel is not None and cancel.is_set():
                return

    def stream(self, request: Object, cancel: Event | None = None) -> Iterator[Chunk]:
        """See `adapters.lm.protocol.LM`. The first call starts the child process; chunks contain no secrets."""
        chunks = without_secrets(self._chunks(request, cancel), self._scrubber())
        yield from cut_at_stops(chunks, self._sent(request).stops)

    def _chunks(self, request: Object, cancel: Event | None) -> Iterator[Chunk]:
        target = self._checked(request)
        self._check_credentials(target)
        form = request.get("response_format")
        kind = "response_format" if form == {"type": "json_object"} else "response_schema"
        asks = frozenset(([kind] if form else []) + (["function_calling"] if request.get("tools") else []))
        target = replace(target, asks=asks)
        message = {"op": "complete", "stream": self.streams, **self._call(request, target, self._secrets(target))}
        if self.trusted and not target.keys:
            message["key_of"] = "/".join(split_model(self.model))  # the installed litellm may know another variable
        child = self._child()
        while not child.ready.wait(POLL_SECONDS):
            if cancel is not None and cancel.is_set():
                return
        scrubber = self._scrubber()
        number, arrivals = child.begin(message)
        over = is_sent = False
        try:
            while True:
                try:
                    arrival = _next(arrivals, cancel, self.timeout + GRACE_SECONDS if is_sent else None)
                except TimeoutError:
                    raise translate({"types": ["Timeout"]}, target, scrubber) from None
                if arrival is None:
                    return
                operation = arrival["op"]
                over = operation in ("done", "error", "lost", "cancelled")
                if operation == "chunk":
                    yield _chunk(cast(Piece, arrival), scrubber)
                elif operation == "sent":
                    is_sent = True
                    yield Chunk(prepared_s=arrival["prepared_s"])
                elif operation == "error":
                    raise translate(arrival["error"], target, self._scrubber())
                elif operation == "lost":
                    raise self._lost(child)
                elif over:
                    if arrival.get("took_s") is not None:
                        yield Chunk(took_s=arrival["took_s"])
                    return
        finally:
            if not over:
                child.cancel(number)

    def http_request(self, request: Object) -> HttpRequest:
        """Return the HTTP request that litellm would send for a non-streamed reply; sends nothing.

        Blocks until litellm is loaded. Raises ProviderError.
        """
        target = self._checked(request)
        secrets: dict[str, Any] = {}
        is_sent = not target.key_withheld and (target.keys or target.address is None)
        if is_sent and target.provider not in SIGNED:
            secrets["api_key"] = f"${(target.keys or key_variables(target.provider))[0]}"
        headers = self.settings.header_variables
        if headers:
            secrets["extra_headers"] = {name: f"${variable}" for name, variable in headers.items()}
        call = self._call(request, target, secrets)
        arrival = self._answer({"op": "keep", "stream": False, **call})
        if arrival["op"] == "error":
            raise translate(arrival["error"], target, self._scrubber())
        known = {secret: f"${name.strip('[]')}" for secret, name in self._scrubber().unmistakable.items()}
        names = (secrets.get("api_key", NO_KEY), *secrets.get("extra_headers", {}).values())
        known |= {quote(one, safe=""): one for one in names}  # URL-encoded
        return HttpRequest(
            arrival["method"],
            without_user(replaced(arrival["url"], known)),
            {name: replaced(value, known) for name, value in arrival["headers"]},
            arrival["body"],
            (*names, *arrival["names"]),
        )

    def _call(self, request: Object, target: Target, secrets: Object) -> dict[str, Any]:
        """Return the message that tells the child process how to call litellm."""
        made = self._sent(request)
        form = made.arguments.get("response_format")
        options: dict[str, Any] = {"timeout": self.timeout}
        if self.api_version is not None:
            options["api_version"] = self.api_version
        if target.address is not None:
            options["api_base"] = made.under(target.address)
            if target.key_withheld or not target.keys:
                options["api_key"] = NO_KEY
        call: dict[str, Any] = {
            "api": self.settings.model_type,
            "request": made.arguments,
            "times": made.times,
            "options": {**options, **secrets},
        }
        if made.body is not None:
            call["body"] = {**({"model": made.name} if made.name else {}), **made.body}
        elif isinstance(form, ClassFormat):
            call["class"] = form.of_class
        return call

    def count_tokens(self, texts: Sequence[Sequence[str]]) -> tuple[str, list[list[int]]] | None:
        """Count the tokens of each piece of each text in the child process; return them with the tokenizer's name.

        See `adapters.lm.worker.questions.counts_of`. None for other providers than OpenAI and for models newer than
        the tokenizers. Blocks until litellm is loaded. Raises ProviderError if the child is lost.
        """
        provider, name = split_model(self.model)
        if provider != "openai":
            return None
        found = self._answer({"op": "count", "model": name, "texts": texts})["counts"]
        return None if found is None else (found[0], found[1])

    def _answer(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return the child's only answer, once litellm is loaded. Raises ProviderError if the child is lost."""
        child = self._child()
        child.ready.wait()
        _, arrivals = child.begin(message)
        arrival = arrivals.get()
        if arrival["op"] == "lost":
            raise self._lost(child)
        return arrival

    def _sent(self, request: Object) -> Sent:
        """Convert the request for litellm. Raises ProviderError if the API in use cannot represent it."""
        connection = {
            "api_base": self.api_base,
            "api_version": self.api_version,
            "extra_headers": self.settings.header_variables or None,
        }
        used = frozenset([name for name, value in connection.items() if value is not None])
        try:
            return sent(self.model, request, used, self.settings)
        except ValueError as error:
            raise ProviderError(f"The request cannot be sent: {error}.", "request") from error

    def _scrubber(self) -> Scrubber:
        """Return a scrubber that also knows the values sent in headers."""
        variables = self.settings.header_variables.values()
        return Scrubber(also=tuple(os.environ.get(name, "") for name in variables))

    def _child(self) -> Child:
        environment = dict(os.environ) if self.trusted else without_keys(os.environ)
        return child_for(environment, keyless=not self.trusted)

    def _secrets(self, target: Target) -> dict[str, Any]:
        """Return the API key, if litellm would not find it by itself, and the headers of the settings."""
        found: dict[str, Any] = {}
        is_as_openai = target.provider in OLLAMA or self.settings.model_type == "text"
        if is_as_openai and target.keys and not target.key_withheld:
            # litellm calls it as an OpenAI model and would send OpenAI's key.
            found["api_key"] = os.environ[target.keys[0]]
        headers = self.settings.header_variables
        if headers:
            found["extra_headers"] = {name: os.environ[variable] for name, variable in headers.items()}
        return found

    def _checked(self, request: Object) -> Target:
        """Return where the request goes. Raises ProviderError for a request, name or address that cannot be sent."""
        unknown = [name for name in request if name not in PARAMETERS and name not in ("model", "messages")]
        if unknown:
            raise ProviderError(
                f"The request carries {', '.join(unknown)}, which does not shape a reply. Addresses and keys are given "
                "when the model is chosen, never among the parameters.",
                "request",
                payload={"parameters": unknown},
            )
        count = request.get("n")
        if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
            # Rule: `dspy.clients.execution.prepare`.
            raise ProviderError(
                f"n is the number of completions, a whole number from 1 on, and not {count!r}.", "request"
            )
        if "://" in self.model:
            raise ProviderError(
                f"The model's name {self.model!r} contains an address. Write provider/model, and give api_base.",
                "model",
            )
        provider, _ = split_model(self.model)
        address = self.api_base or environment_base(provider) or (OLLAMAS_HOME if provider in OLLAMA else None)
        target = Target(self.model, address, key_withheld=not self.trusted, keys=keys_set(provider))
        if address is not None:
            check_address(address, provider)
        elif self.settings.model_type == "text" and provider not in OF_TEXTS:
            raise ProviderError(
                f"dspy asks OpenAI for completions of a text, whatever the provider: {target.model} needs an api_base.",
                "address",
            )
        return target

    def _check_credentials(self, target: Target) -> None:
        """Raise ProviderError for API keys and headers that cannot be sent."""
        if not target.key_withheld:
            check_keys(target.keys)
        place = host_of(target.address) if target.address is not None else target.provider
        check_headers(self.settings.header_variables, self.allow_variables, place)
        if target.address is None and not target.keys and target.provider in KEY_VARIABLES:
            if is_provider_known(self.model):  # else litellm rejects the name
                raise missing_key(target)

    def _lost(self, child: Child) -> ProviderError:
        problem = child.problem or "was lost"
        payload = {"stderr": self._scrubber().scrubbed(child.said)} if child.said else None
        if not problem.startswith(("was", "ended")):
            return ProviderError(f"litellm cannot be used here: {problem}", "setup", payload=payload)
        return ProviderError(
            f"The process that calls models {problem} before the reply was complete. Sending again starts a new one.",
            "child",
            payload=payload,
        )


def _next(arrivals: SimpleQueue[dict[str, Any]], cancel: Event | None, seconds: float | None) -> dict[str, Any] | None:
    """Return the next message, or None once `cancel` is set. Raises TimeoutError after `seconds`, if given."""
    end = None if seconds is None else time.monotonic() + seconds
    while True:
        if cancel is not None and cancel.is_set():
            return None
        left = None if end is None else end - time.monotonic()
        if left is not None and left <= 0:
            raise TimeoutError
        waits = [one for one in (left, None if cancel is None else POLL_SECONDS) if one is not None]
        try:
            return arrivals.get(timeout=min(waits, default=None))
        except Empty:
            continue


def _chunk(message: Piece, scrubber: Scrubber) -> Chunk:
    return Chunk(
        text=message.get("text", ""),
        reasoning=message.get("reasoning", ""),
        tool_calls=tuple(ToolCallPart(**part) for part in message.get("tool_calls", ())),
        finish_reason=message.get("finish_reason"),
        usage=message.get("usage"),
        cost=message.get("cost"),
        logprobs=message.get("logprobs"),
        raw=scrubber.json(message["raw"]) if message.get("raw") else None,
        choice=message.get("choice", 0),
        refusal=message.get("refusal", ""),
        citations=tuple(scrubber.json(message.get("citations", ()))),
    )
