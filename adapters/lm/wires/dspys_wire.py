"""Hand a chat request to litellm so that the server receives what dspy 3.4.1 would have sent.

litellm calls every model here. Where dspy would call it by a door of its own client, the parts that litellm would
rename, turn, refuse or leave out are put into the request's body as they stand (litellm's `extra_body`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from adapters.lm.addresses import OLLAMA
from adapters.lm.dspy_facts import Door
from adapters.lm.lm_settings import LMSettings
from adapters.lm.model_routes import has_gateway, own_route
from adapters.lm.wires import anthropic_wire, chat_wire, gemini_wire, responses_wire
from adapters.lm.wires.dspys_client import NotTakenError, effort_of, form_of, taken

SAME_API = frozenset({"openai", "groq", "openrouter", "deepseek", "xai", "hosted_vllm", "moonshot", *OLLAMA})
"""litellm's providers of the chat doors; Azure's needs an address. litellm calls Ollama by Ollama's own API: where dspy
does not, it is called as a server of OpenAI's (`OPENAI_PATH`)."""

OPENAI_PATH = "/v1"
"""Where a server that has an API of its own speaks OpenAI's."""

CHAT = LMSettings()
END_OF_PROMPT = "BEGIN RESPONSE:"


@dataclass(frozen=True)
class Sent:
    """A call of litellm: `arguments` for its function of the model type.

    It is made `times` times, once for each completion, where the API gives one only. `stops` cut the reply here, where
    the API knows none. `path` follows an address that names a server alone.
    """

    arguments: Mapping[str, Any]
    times: int = 1
    stops: tuple[str, ...] = ()
    path: str = ""

    def under(self, address: str) -> str:
        """The address to call, of the one that is known of the server.

        >>> Sent({}, path="/v1").under("http://localhost:11434/")
        'http://localhost:11434/v1'
        """
        return address if not self.path or urlsplit(address).path.strip("/") else address.rstrip("/") + self.path


def sent(model: str, request: Mapping[str, Any], connection: frozenset[str], settings: LMSettings = CHAT) -> Sent:
    """Return litellm's arguments. `request` is a chat request as JSON, `connection` names its settings
    (`api_base`). Raises ValueError for messages that are not all text where the model type is `text`.
    """
    if settings.model_type == "text":
        return Sent({**_text_body(request), "model": f"text-completion-openai/{_name(model)}"})
    if settings.model_type == "chat":
        body = body_of_dspy(model, request, connection)
        if _by_chat_door(model, request, connection) is None:
            by_gemini = _by_geminis_door(model, request, connection)
            if by_gemini is not None:
                given = gemini_wire.for_litellm(by_gemini, request["messages"])
                return Sent({**given, "model": model}, request.get("n") or 1)
            by_anthropic = _by_anthropics_door(model, request, connection)
            if by_anthropic is None:
                return Sent({**body, "model": model})
            return Sent({**anthropic_wire.for_litellm(by_anthropic), "model": model}, request.get("n") or 1)
        times = request.get("n") or 1
        if is_ollama(model):
            return Sent({**body, "model": f"openai/{_name(model)}"}, times, path=OPENAI_PATH)
        return Sent({**body, "model": model}, times)
    if not responses_wire.is_by_dspys_client(model, request, connection, os.environ):
        return Sent({**responses_wire.body_by_litellm(model, request, settings.developer_role), "model": model})
    body = responses_wire.body_of_dspys_client(request)
    exact = {name: value for name, value in body.items() if name != "input"}
    stops = request.get("stop") or ()
    return Sent(
        {"model": model, "input": body["input"], **({"extra_body": exact} if exact else {})},
        request.get("n") or 1,
        (stops,) if isinstance(stops, str) else tuple(stops),
    )


def _text_body(request: Mapping[str, Any]) -> dict[str, Any]:
    """Rule: `dspy.clients.lm.litellm_text_completion`."""
    return {**{name: one for name, one in request.items() if name != "messages"}, "prompt": text_of(request)}


def text_of(request: Mapping[str, Any]) -> str:
    """The one text that a completions API gets. Raises ValueError for a message that is not all text."""
    texts: Sequence[Any] = [one.get("content") for one in request["messages"]]
    for number, one in enumerate(texts, 1):
        if not isinstance(one, str):
            raise ValueError(
                f"message {number} is not all text, which the API of text completions takes; set model_type to chat"
            )
    return "\n\n".join([*texts, END_OF_PROMPT])


def is_left_to_litellm(model: str, request: Mapping[str, Any], connection: frozenset[str]) -> bool:
    """Return whether dspy leaves a chat request to litellm, too, and sends it through no door of its own client."""
    route = None if has_gateway(model, os.environ) else own_route(model, "chat", connection)
    if route is None:
        return True
    try:
        if route.door.dialect == "openai-chat":
            chat_wire.body_of_dspys_client(route.door, request)
            return False
        if route.door.id == "anthropic":
            anthropic_wire.body_for_anthropic(route.model, request)
            return False
        given = taken(request)
        effort_of(given)
        form_of(given)
    except NotTakenError:
        return True
    return bool(chat_wire.WAYS & given.keys() - {"reasoning_effort"})


def _by_anthropics_door(model: str, request: Mapping[str, Any], connection: frozenset[str]) -> dict[str, Any] | None:
    """Return the body that dspy's client sends to Anthropic; None where it sends none."""
    route = None if has_gateway(model, os.environ) else own_route(model, "chat", connection)
    if route is None or route.door.id != "anthropic":
        return None
    try:
        return anthropic_wire.body_for_anthropic(route.model, request)
    except NotTakenError:
        return None


def _by_geminis_door(model: str, request: Mapping[str, Any], connection: frozenset[str]) -> dict[str, Any] | None:
    """Return the body that dspy's client sends to Gemini; None where litellm sends it."""
    route = None if has_gateway(model, os.environ) else own_route(model, "chat", connection)
    if route is None or route.door.id != "gemini" or not model.startswith("gemini/"):
        return None
    try:
        return gemini_wire.body_for_gemini(route.model, request)
    except (NotTakenError, gemini_wire.NoSuchPartError):
        return None


def is_ollama(model: str) -> bool:
    return model.partition("/")[0] in OLLAMA


def _name(model: str) -> str:
    return model.partition("/")[2] or model


def body_of_dspy(model: str, request: Mapping[str, Any], connection: frozenset[str]) -> dict[str, Any]:
    """Add what dspy's client writes under `extra_body`; unchanged where litellm calls.

    `request` is a chat request as JSON, `connection` names the settings of its connection (`api_base`).
    """
    made = _by_chat_door(model, request, connection)
    if made is None:
        return dict(request)
    door, exact = made
    if door.id != "openai-chat" and exact["messages"] == request["messages"]:
        del exact["messages"]  # of OpenAI's, litellm makes users of the systems of o3
    kept = {name: request[name] for name in ("model", "messages") if name in request}
    return {**kept, "extra_body": exact} if exact else kept


def own_body(
    model: str, request: Mapping[str, Any], connection: frozenset[str], settings: LMSettings = CHAT
) -> dict[str, Any] | None:
    """Return the body as it arrives at a server; None where litellm writes it (`LitellmLM.http_request`).

    Raises what `sent` raises.
    """
    if settings.model_type == "text":
        return _text_body(request)
    if settings.model_type == "responses":
        if responses_wire.is_by_dspys_client(model, request, connection, os.environ):
            return responses_wire.body_of_dspys_client(request)
        made = responses_wire.body_by_litellm(model, request, settings.developer_role)
        return {name: value for name, value in made.items() if name in responses_wire.TAKEN_BY_LITELLM}
    by_door = _by_chat_door(model, request, connection)
    if by_door is None:
        return None
    exact = by_door[1]
    return {**{name: exact[name] for name in request if name in exact}, **exact}


def _by_chat_door(
    model: str, request: Mapping[str, Any], connection: frozenset[str]
) -> tuple[Door, dict[str, Any]] | None:
    """The chat door that dspy's client would send this request through, and the body, where litellm speaks that API."""
    prefix, separator, _ = model.partition("/")
    if is_ollama(model) and has_gateway("ollama/", os.environ):
        return None  # both names are of one server, whose own API is meant by its variable
    if has_gateway(model, os.environ) or (separator and prefix not in SAME_API):
        return None
    route = own_route(model, "chat", connection)
    if route is None or route.door.dialect != "openai-chat":
        return None
    try:
        return route.door, chat_wire.body_of_dspys_client(route.door, request)
    except NotTakenError:
        return None
