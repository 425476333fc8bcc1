"""How a chat request is handed to litellm, so that what arrives is what dspy 3.4.1 would have sent.

litellm calls every model here. Where dspy would call it by a door of its own client, the parts that litellm would
rename, turn, refuse or leave out are put into the request's body as they stand (litellm's `extra_body`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from adapters.lm import responses_wire
from adapters.lm.addresses import OLLAMA
from adapters.lm.lm_settings import LMSettings
from adapters.lm.model_facts import Door
from adapters.lm.model_routes import Route, has_gateway, own_route

VERBATIM = frozenset(
    {
        *("frequency_penalty", "logit_bias", "logprobs", "parallel_tool_calls", "presence_penalty", "response_format"),
        *("seed", "stop", "temperature", "tool_choice", "tools", "top_logprobs", "top_p", "user"),
    }
)
"""Parts that every chat door sends as they are, and of which litellm refuses some for some models."""

SPELLED = frozenset({"max_completion_tokens", "max_tokens", "reasoning_effort"})
"""Parts whose name or shape depends on the door."""

CANONICAL = VERBATIM | SPELLED | {"messages", "model"}
"""The parts that dspy's client takes; with any other it leaves the request to litellm."""

SAME_API = frozenset({"openai", "groq", "openrouter", "deepseek", "xai", "hosted_vllm", "moonshot", *OLLAMA})
"""litellm's providers of the chat doors; Azure's needs an address. litellm calls Ollama by Ollama's own API: where dspy
does not, it is called as a server of OpenAI's (`OPENAI_PATH`)."""

OPENAI_PATH = "/v1"
"""Where a server that has an API of its own speaks OpenAI's."""

THINKING = ("reasoning_effort", "deepseek", "kimi")
"""The ways of asking for reasoning that have an effort; by other doors such a request is left to litellm."""

EFFORTS = ("minimal", "low", "medium", "high", "xhigh", "max")


UNSAID: tuple[tuple[str, Any], ...] = (("stop", []), ("logprobs", False))
"""What dspy's client takes for not said."""

CHAT = LMSettings()
END_OF_PROMPT = "BEGIN RESPONSE:"


@dataclass(frozen=True)
class Sent:
    """One call of litellm: `arguments` for its function of the model type.

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
    """What litellm is given. `request` is a chat request as JSON, `connection` names the settings of its connection
    (`api_base`). Raises ValueError for messages that are not all text where the model type is `text`.
    """
    if settings.model_type == "text":
        return Sent({**_text_body(request), "model": f"text-completion-openai/{_name(model)}"})
    if settings.model_type == "chat" and is_ollama(model) and _chat_door(model, request, connection) is not None:
        return Sent({**body_of_dspy(model, request, connection), "model": f"openai/{_name(model)}"}, path=OPENAI_PATH)
    if settings.model_type == "chat":
        return Sent({**body_of_dspy(model, request, connection), "model": model})
    if not responses_wire.is_by_dspys_client(model, request, connection, os.environ):
        return Sent({**responses_wire.body_by_litellm(request, settings.developer_role), "model": model})
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


def is_ollama(model: str) -> bool:
    return model.partition("/")[0] in OLLAMA


def _name(model: str) -> str:
    return model.partition("/")[2] or model


def body_of_dspy(model: str, request: Mapping[str, Any], connection: frozenset[str]) -> dict[str, Any]:
    """The request with what dspy's client would write otherwise under `extra_body`; as it is where litellm calls.

    `request` is a chat request as JSON, `connection` names the settings of its connection (`api_base`).
    Rule: `dspy._vendor.lm15.providers.openai_chat.OpenAIChatLM._payload`.
    """
    route = _chat_door(model, request, connection)
    if route is None:
        return dict(request)
    door = route.door
    exact = {name: value for name, value in request.items() if name in VERBATIM and value is not None}
    exact |= {**_limit(door, request), **_reasoning(door, request)}
    if "stop" in exact:
        exact["stop"] = [exact["stop"]] if isinstance(exact["stop"], str) else exact["stop"]
    exact = {name: value for name, value in exact.items() if (name, value) not in UNSAID}
    if door.id == "openai-chat":
        exact["messages"] = request["messages"]  # litellm makes users of the systems of o3
    kept = {name: value for name, value in request.items() if name not in VERBATIM | SPELLED}
    return {**kept, "extra_body": exact} if exact else kept


def as_written(
    model: str, request: Mapping[str, Any], connection: frozenset[str], settings: LMSettings = CHAT
) -> dict[str, Any]:
    """The body that stands at a server, with what is put into it in its place, names as they arrive.

    Raises what `sent` raises.
    """
    if settings.model_type == "text":
        return _text_body(request)
    if settings.model_type == "responses":
        if responses_wire.is_by_dspys_client(model, request, connection, os.environ):
            return responses_wire.body_of_dspys_client(request)
        made = responses_wire.body_by_litellm(request, settings.developer_role)
        return {name: value for name, value in made.items() if name in responses_wire.TAKEN_BY_LITELLM}
    made = body_of_dspy(model, request, connection)
    exact = made.pop("extra_body", {})
    names = {name: made.get(name, exact.get(name)) for name in request if name in made or name in exact}
    return {name: value for name, value in {**names, **made, **exact}.items() if value is not None}


def _chat_door(model: str, request: Mapping[str, Any], connection: frozenset[str]) -> Route | None:
    """The chat door that dspy's client would send this request through, where litellm speaks the same API."""
    prefix, separator, _ = model.partition("/")
    if is_ollama(model) and has_gateway("ollama/", os.environ):
        return None  # both names are of one server, whose own API is meant by its variable
    if has_gateway(model, os.environ) or (separator and prefix not in SAME_API) or not set(request) <= CANONICAL:
        return None
    route = own_route(model, "chat", connection)
    if route is None or route.door.dialect != "openai-chat":
        return None
    effort = request.get("reasoning_effort")
    leaves_it = effort is not None and (not isinstance(effort, str) or route.door.thinking not in THINKING)
    return None if leaves_it else route


def _limit(door: Door, request: Mapping[str, Any]) -> dict[str, Any]:
    limits = [request.get(name) for name in ("max_completion_tokens", "max_tokens")]
    limit = next((one for one in limits if one is not None), None)
    return {} if limit is None or door.max_tokens is None else {door.max_tokens: limit}


def _reasoning(door: Door, request: Mapping[str, Any]) -> dict[str, Any]:
    effort = request.get("reasoning_effort")
    if effort is None:
        return {}
    if effort == "none":
        by_word = door.thinking == "reasoning_effort"
        return {"reasoning_effort": "none"} if by_word else {"thinking": {"type": "disabled"}}
    if door.efforts is not None and effort not in door.efforts:
        wanted = EFFORTS.index(effort) if effort in EFFORTS else 0
        effort = min(door.efforts, key=lambda one: (abs(EFFORTS.index(one) - wanted), EFFORTS.index(one)))
    thinking = {"thinking": {"type": "enabled"}} if door.thinking == "deepseek" else {}
    return {**thinking, "reasoning_effort": effort}
