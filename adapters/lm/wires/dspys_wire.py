"""Convert a chat request so that the child process sends exactly what dspy 3.4.1 would send.

The workbench calls every model through litellm. Where dspy would use its own client, the child process sends that
client's body in place of litellm's (`Sent.body`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from adapters.late_dataclasses import dataclass
from adapters.lm.addresses import OLLAMA
from adapters.lm.capabilities import is_provider_known, split_model
from adapters.lm.dspy_facts import Route, has_gateway, own_route
from adapters.lm.lm_settings import LMSettings, ModelType
from adapters.lm.protocol import Object
from adapters.lm.wires import anthropic_and_gemini, chat_wire, responses_wire
from adapters.lm.wires.dspys_client import NotTakenError

OPENAI_PATH = "/v1"
"""The path of OpenAI's API on a server that also has its own."""

OF_TOOLS = ("tools", "tool_choice", "parallel_tool_calls")
"""Handed to litellm too for Anthropic: it sends a header for some of them, and an exported script has litellm alone."""

CHAT = LMSettings()
END_OF_PROMPT = "BEGIN RESPONSE:"


@dataclass(frozen=True)
class Sent:
    """A call of litellm: `arguments` for its function for the model type.

    `body`, that of dspy's client, replaces litellm's (None: dspy uses litellm), and names the model `name`: litellm may
    write what an alias stands for. Gemini's body names no model. The call is made `times` times, once per completion,
    if the API returns only one. `stops` are the stop sequences to apply locally if the API supports none. `path` is
    appended to an address without a path.
    """

    arguments: Object
    body: Object | None = None
    times: int = 1
    stops: tuple[str, ...] = ()
    path: str = ""
    name: str = ""

    def under(self, address: str) -> str:
        """Return the address to call for a server's `address`.

        >>> Sent({}, path="/v1").under("http://localhost:11434/")
        'http://localhost:11434/v1'
        """
        return address if not self.path or urlsplit(address).path.strip("/") else address.rstrip("/") + self.path


def sent(model: str, request: Object, connection: frozenset[str], settings: LMSettings = CHAT) -> Sent:
    """Convert a chat request to a call of litellm.

    `request` is plain JSON, `connection` names the connection settings in use (`api_base`). Raises ValueError if the
    model type is `text` and a message is not plain text.
    """
    if settings.model_type == "text":
        return Sent({**_text_body(request), "model": f"text-completion-openai/{model.partition('/')[2] or model}"})
    own = _by_dspys_client(model, request, connection, settings.model_type)
    if own is None and settings.model_type == "responses":
        return Sent({**responses_wire.body_by_litellm(model, request, settings.developer_role), "model": model})
    if own is None:
        return Sent({**request, "model": model})
    route, body = own
    door, (provider, name) = route.door, split_model(model)
    if is_provider_known(model):  # litellm knows fewer names without provider, and takes those of Gemini to Vertex
        model = f"{provider}/{name}"
    times, stops = request.get("n") or 1, request.get("stop") or ()
    if door.dialect == "openai-responses":
        cut = (stops,) if isinstance(stops, str) else tuple(stops)
        return Sent({"model": model, "input": body["input"]}, body, times, cut, name=route.model)
    handed = ("messages", *(OF_TOOLS if door.dialect == "anthropic" else ()))
    arguments = {**{name: request[name] for name in handed if name in request}, "model": model}
    if provider in OLLAMA:
        return Sent({**arguments, "model": f"openai/{name}"}, body, times, path=OPENAI_PATH)
    return Sent(arguments, body, times, name="" if door.dialect == "gemini" else route.model)


def own_body(
    model: str, request: Object, connection: frozenset[str], settings: LMSettings = CHAT
) -> dict[str, Any] | None:
    """Return the body that a server with OpenAI's API receives; None if only litellm can show the request.

    `LitellmLM.http_request` shows it then. Raises what `sent` raises.
    """
    if settings.model_type == "text":
        return _text_body(request)
    own = _by_dspys_client(model, request, connection, settings.model_type)
    if own is None and settings.model_type == "responses":
        made = responses_wire.body_by_litellm(model, request, settings.developer_role)
        return {name: value for name, value in made.items() if name in responses_wire.TAKEN_BY_LITELLM}
    if own is None or not own[0].door.dialect.startswith("openai"):
        return None
    body = own[1]
    return {**{name: body[name] for name in request if name in body}, **body}


def _by_dspys_client(
    model: str, request: Object, connection: frozenset[str], model_type: ModelType
) -> tuple[Route, dict[str, Any]] | None:
    """Return the API of dspy's own client and the body that it sends; None if dspy uses litellm."""
    # Both names of Ollama mean the same server, and the variable is the address of its own API.
    named = model.partition("/")[0]
    if has_gateway(model) or (named in OLLAMA and has_gateway("ollama/")):
        return None
    route = own_route(model, model_type, connection)
    if route is None or route.door.id.startswith("azure"):  # Azure requires an address, with which dspy uses litellm
        return None
    try:
        match route.door.dialect:
            case "openai-chat":
                return route, chat_wire.body_of_dspys_client(route.door, request)
            case "openai-responses":
                return route, responses_wire.body_of_dspys_client(request)
            case "anthropic":
                return route, anthropic_and_gemini.body_for_anthropic(route.model, request)
            case "gemini":
                return route, anthropic_and_gemini.body_for_gemini(route.model, request)
            case _:
                return None
    except NotTakenError:
        return None


def _text_body(request: Object) -> dict[str, Any]:
    """Rule: `dspy.clients.lm.litellm_text_completion`."""
    return {**{name: one for name, one in request.items() if name != "messages"}, "prompt": text_of(request)}


def text_of(request: Object) -> str:
    """Join the messages to a prompt for a completions API. Raises ValueError for a message that is not plain text."""
    texts: Sequence[Any] = [one.get("content") for one in request["messages"]]
    for number, one in enumerate(texts, 1):
        if not isinstance(one, str):
            raise ValueError(
                f"message {number} is not only text, as the completions API requires; set model_type to chat"
            )
    return "\n\n".join([*texts, END_OF_PROMPT])


def is_ollama(model: str) -> bool:
    return split_model(model)[0] in OLLAMA
