"""Convert a chat request so that litellm sends exactly what dspy 3.4.1 would send.

The workbench calls every model through litellm. Where dspy would use its own client, the parts that litellm would
rename, change, reject or drop are passed in litellm's `extra_body`, which it copies into the request body.
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
"""litellm's providers that use the chat doors' API. Azure is missing because it requires an address. litellm calls
Ollama through Ollama's own API; where dspy does not, it is called as an OpenAI server (`OPENAI_PATH`)."""

OPENAI_PATH = "/v1"
"""The path of OpenAI's API on a server that also has its own."""

CHAT = LMSettings()
END_OF_PROMPT = "BEGIN RESPONSE:"


@dataclass(frozen=True)
class Sent:
    """A call of litellm: `arguments` for its function for the model type.

    The call is made `times` times, once per completion, if the API returns only one. `stops` are the stop sequences to
    apply locally if the API supports none. `path` is appended to an address without a path.
    """

    arguments: Mapping[str, Any]
    times: int = 1
    stops: tuple[str, ...] = ()
    path: str = ""

    def under(self, address: str) -> str:
        """Return the address to call for a server's `address`.

        >>> Sent({}, path="/v1").under("http://localhost:11434/")
        'http://localhost:11434/v1'
        """
        return address if not self.path or urlsplit(address).path.strip("/") else address.rstrip("/") + self.path


def sent(model: str, request: Mapping[str, Any], connection: frozenset[str], settings: LMSettings = CHAT) -> Sent:
    """Convert a chat request to a call of litellm.

    `request` is plain JSON, `connection` names the connection settings in use (`api_base`). Raises ValueError if the
    model type is `text` and a message is not plain text.
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
    """Join the messages to a prompt for a completions API. Raises ValueError for a message that is not plain text."""
    texts: Sequence[Any] = [one.get("content") for one in request["messages"]]
    for number, one in enumerate(texts, 1):
        if not isinstance(one, str):
            raise ValueError(
                f"message {number} is not all text, which the API of text completions takes; set model_type to chat"
            )
    return "\n\n".join([*texts, END_OF_PROMPT])


def is_left_to_litellm(model: str, request: Mapping[str, Any], connection: frozenset[str]) -> bool:
    """Return whether dspy also sends a chat request through litellm instead of its own client."""
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
    """Return the body that dspy's client sends to Anthropic; None if dspy uses litellm."""
    route = None if has_gateway(model, os.environ) else own_route(model, "chat", connection)
    if route is None or route.door.id != "anthropic":
        return None
    try:
        return anthropic_wire.body_for_anthropic(route.model, request)
    except NotTakenError:
        return None


def _by_geminis_door(model: str, request: Mapping[str, Any], connection: frozenset[str]) -> dict[str, Any] | None:
    """Return the body that dspy's client sends to Gemini; None if litellm writes it."""
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
    """Put the parameters of dspy's client under `extra_body`; return the request unchanged if dspy uses litellm.

    `request` is a chat request as JSON, `connection` names the connection settings in use (`api_base`).
    """
    made = _by_chat_door(model, request, connection)
    if made is None:
        return dict(request)
    door, exact = made
    if door.id != "openai-chat" and exact["messages"] == request["messages"]:
        del exact["messages"]  # unchanged; OpenAI's stay, because litellm turns o3's system messages into user messages
    kept = {name: request[name] for name in ("model", "messages") if name in request}
    return {**kept, "extra_body": exact} if exact else kept


def own_body(
    model: str, request: Mapping[str, Any], connection: frozenset[str], settings: LMSettings = CHAT
) -> dict[str, Any] | None:
    """Return the body that the server receives; None if litellm writes it (`LitellmLM.http_request`).

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
    """Return the chat door and the body that dspy's client would use; None if litellm writes the body."""
    prefix, separator, _ = model.partition("/")
    if is_ollama(model) and has_gateway("ollama/", os.environ):
        return None  # both names mean the same server, and the variable is the address of its own API
    if has_gateway(model, os.environ) or (separator and prefix not in SAME_API):
        return None
    route = own_route(model, "chat", connection)
    if route is None or route.door.dialect != "openai-chat":
        return None
    try:
        return route.door, chat_wire.body_of_dspys_client(route.door, request)
    except NotTakenError:
        return None
