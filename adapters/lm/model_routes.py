"""Choose between the dspy client and litellm for a model, as dspy 3.4.1 does.

The workbench calls every model through litellm; dspy's choice only determines a model's reported capabilities and the
format of its requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from adapters.late_dataclasses import dataclass
from adapters.lm.dspy_facts import Door, dspy_facts

OWN_CONNECTION = frozenset({"api_key", "api_base", "base_url", "timeout"})
"""Settings that dspy's own client accepts; with any other, and for Azure with an address, dspy uses litellm."""


@dataclass(frozen=True)
class Route:
    """An API of dspy's client (a door) and the model name it expects."""

    door: Door
    model: str


def own_route(
    model: str,
    model_type: str = "chat",
    connection: Iterable[str] = (),
) -> Route | None:
    """Return the API of dspy's own client that dspy calls a model by; None if it uses litellm.

    `connection` names the settings in use, such as `api_base`.
    Rule: `dspy.clients.backend_selection.select_backend` and `dspy._vendor.lm15.router._resolve`.
    """
    if model_type not in ("chat", "responses"):
        return None
    found = _responses(model) if model_type == "responses" else _chat(model)
    if found is None:
        return None
    used = set(connection)
    if used - OWN_CONNECTION or (found.door.id.startswith("azure") and used & {"api_base", "base_url"}):
        return None
    return found


def has_gateway(model: str, environment: Mapping[str, str]) -> bool:
    """Return whether the environment sets the provider's address (`OPENAI_API_BASE`); then dspy uses litellm."""
    prefix = model.split("/", 1)[0].upper()
    return any(environment.get(f"{prefix}_{name}") for name in ("API_BASE", "BASE_URL"))


def _chat(model: str) -> Route | None:
    """Rule: `LMRouter.resolve_openai_chat`."""
    facts = dspy_facts()
    head, _, rest = model.partition("/")
    if rest and head in facts.prefixes:
        return Route(facts.doors[facts.prefixes[head]], rest)
    if rest and ":" not in model:
        return None
    found = _match_colon(model)
    if found is not None:
        return found
    found = _match_beginning(model)
    return Route(facts.doors["openai-chat"], found.model) if found and found.door.id == "openai" else found


def _responses(model: str) -> Route | None:
    """Rule: `dspy.clients.engines.lm15_engine._Routing.resolve`, which requires a door with the Responses API."""
    facts = dspy_facts()
    head, _, rest = model.partition("/")
    if rest and head in facts.prefixes:
        door = facts.prefixes[head]
        found: Route | None = Route(facts.doors[{"openai-chat": "openai", "azure-chat": "azure"}.get(door, door)], rest)
    else:
        found = _match_colon(model) or _match_beginning(model)
    return found if found is not None and found.door.dialect == "openai-responses" else None


def _match_colon(model: str) -> Route | None:
    """Resolve `door:name`, the client's own notation."""
    head, _, rest = model.partition(":")
    door = dspy_facts().doors.get(head.replace("_", "-"))
    return Route(door, rest) if door is not None and rest else None


def _match_beginning(model: str) -> Route | None:
    facts = dspy_facts()
    return next((Route(facts.doors[door], model) for start, door in facts.beginnings if model.startswith(start)), None)
