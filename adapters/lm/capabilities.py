"""Look up a model's capabilities by its name, without importing litellm.

The answers are those of dspy 3.4.1's `LM(name)` (`supports_function_calling`, `supports_reasoning`,
`supports_response_schema`, `supported_params`), because these decide what dspy's adapters put into a request.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from adapters.lm.litellm_kinds import kind_of
from adapters.lm.litellm_names import is_listed, is_said
from adapters.lm.model_facts import Flags, model_facts
from adapters.lm.model_routes import Route, has_gateway, own_route
from adapters.requests.capabilities import NONE, Capabilities

Source = Literal["dspy", "litellm", "unlisted", "offline", "hand"]
"""Who says what a model can do: dspy's table, litellm's, none (their rules hold), or the user by hand."""

TOOL_PARAMS = frozenset({"tools", "tool_choice", "parallel_tool_calls"})


@dataclass(frozen=True)
class Known:
    """A model's capabilities and their source."""

    capabilities: Capabilities
    source: Source

    @property
    def said_by(self) -> str:
        """The source in words, with its release."""
        made_from = model_facts().made_from
        if self.source == "dspy":
            return f"dspy {made_from['dspy']}'s table"
        if self.source == "litellm":
            return f"litellm {made_from['litellm']}"
        if self.source == "hand":
            return "set by hand"
        return "the offline models" if self.source == "offline" else "no table lists it: by the rules for such names"


OFFLINE = Known(NONE, "offline")


def split_model(model: str) -> tuple[str, str]:
    """Provider and name of `provider/model`; a bare name is OpenAI's, as litellm reads it.

    >>> split_model("groq/openai/gpt-oss-20b")
    ('groq', 'openai/gpt-oss-20b')
    """
    provider, separator, name = model.partition("/")
    return (provider, name) if separator else ("openai", model)


def needs_user_message(model: str) -> bool:
    """Return whether litellm refuses, before any call, to send this model a system message alone.

    Rule: litellm's `anthropic_messages_pt` and `BedrockConverseMessagesProcessor`; Gemini gets a blank one.
    """
    provider, name = split_model(model)
    return provider in ("anthropic", "bedrock") or (provider in ("vertex_ai", "azure_ai") and "claude" in name)


def capabilities_of(model: str) -> Capabilities:
    """Return a model's capabilities as dspy sees them, for chat at the provider's usual address."""
    return known_of(model).capabilities


def known_of(model: str, model_type: str = "chat", connection: Iterable[str] = ()) -> Known:
    """Return a model's capabilities as dspy sees them, and their source.

    `connection` names the settings of the connection in use (`api_base`); an address in the environment
    (`OPENAI_API_BASE`) counts too. Rule: `dspy.clients.capabilities._capabilities`.
    """
    if model.startswith("offline/"):
        return OFFLINE
    return _known(model, model_type, frozenset(connection), not has_gateway(model, os.environ))


@lru_cache(maxsize=4096)
def _known(model: str, model_type: str, connection: frozenset[str], at_home: bool) -> Known:
    route = own_route(model, model_type, connection) if at_home else None
    return by_litellm(model) if route is None else _by_own_table(route)


def by_litellm(model: str) -> Known:
    """Return what litellm tells dspy. Rule: `dspy.clients.capabilities._litellm_capabilities`."""
    facts = model_facts().litellms
    said = facts.exceptions.get(model)
    if said is None:
        # dspy tells litellm the provider where it asks for schemas and for parameters, and there alone.
        provider = split_model(model)[0]
        said = Capabilities(
            is_said(model, "function_calling"),
            is_said(model, "reasoning"),
            is_said(model, "response_schema", provider),
            facts.params(provider, kind_of(model, provider)),
        )
    return Known(said, "litellm" if is_listed(model) else "unlisted")


def _by_own_table(route: Route) -> Known:
    door, flags = route.door, _flags(route)
    tools, reasoning, schema = (
        flag is True for flag in (flags.function_calling, flags.reasoning, flags.response_schema)
    )
    refused = door.refuses(route.model)
    params = set(door.params)
    if door.dialect == "openai-chat" and (schema or tools):
        params.add("response_format")
    reasoning = reasoning and "reasoning" not in refused
    schema = schema and "schema" not in refused
    if door.dialect == "anthropic" and schema:
        params.add("response_format")
    if tools:
        params |= TOOL_PARAMS - refused
    if reasoning:
        params.add("reasoning_effort")
    source: Source = "unlisted" if flags == Flags() else "dspy"
    return Known(Capabilities(tools, reasoning, schema, frozenset(params)), source)


def _flags(route: Route) -> Flags:
    """Rule: `dspy.clients.model_metadata.model_info`: the entry, then the bare name's, then the name's family."""
    facts = model_facts()
    names, bare = route.door.namespaces, facts.entry(route.model)
    if bare is not None and bare.provider not in names:
        bare = None
    listed = (facts.entry(f"{name}/{route.model}") for name in names)
    found = next((one for one in listed if one is not None), bare)
    flags = found.flags if found is not None else Flags()
    if bare is not None:
        flags = flags.filled(bare.flags)
    return _of_families(route.model, flags, None if found is None else found.provider)


def _of_families(model: str, flags: Flags, listed_for: str | None = None) -> Flags:
    """Fill missing flags from the model's family; `listed_for` is the provider of its entry, if any."""
    for family in model_facts().families:
        counts = listed_for is None or family.providers is None or listed_for in family.providers
        if counts and family.pattern.search(model):
            flags = flags.filled(family.flags)
    return flags
