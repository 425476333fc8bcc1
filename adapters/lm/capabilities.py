"""Look up a model's capabilities by name, without importing litellm or waiting for it.

The answers are those of dspy 3.4.1's `LM(name)` (`supports_function_calling`, `supports_reasoning`,
`supports_response_schema`, `supported_params`), which determine what dspy's adapters put into a request.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from adapters.lm import fetched_table, litellm_answers
from adapters.lm.addresses import base_variables
from adapters.lm.dspy_facts import DspyFacts, Flags, Route, dspy_facts, facts_by, has_gateway, own_route
from adapters.lm.litellm_answers import Limits
from adapters.requests.capabilities import NONE, Capabilities

TOOL_PARAMS = frozenset({"tools", "tool_choice", "parallel_tool_calls"})


class Known(NamedTuple):
    """A model's capabilities and their source."""

    capabilities: Capabilities
    said_by: str


def split_model(model: str) -> tuple[str, str]:
    """Split `provider/model`; a name without a known provider is OpenAI's.

    >>> split_model("groq/openai/gpt-oss-20b")
    ('groq', 'openai/gpt-oss-20b')
    >>> split_model("claude-sonnet-5")
    ('anthropic', 'claude-sonnet-5')
    """
    return _split(model) or (_providers_listed().get(model) or "openai", model)


def is_provider_known(model: str) -> bool:
    """Return whether the name states its provider, or dspy's own client knows it; else only litellm can tell."""
    return _split(model) is not None


@lru_cache(maxsize=256)
def _split(model: str) -> tuple[str, str] | None:
    """Split a name that states its provider, or whose provider dspy's own client knows."""
    provider, separator, name = model.partition("/")
    if separator and ":" not in provider:
        return provider, name
    route = own_route(model)
    prefix = None if route is None else dspy_facts().prefix_of(route.door)
    return None if route is None or prefix is None else (prefix, route.model)


@lru_cache(maxsize=1)
def _providers_listed() -> Mapping[str, str]:
    """Return litellm's provider of every model that its table lists without one, except OpenAI's."""
    table = fetched_table.table()
    found = {name: fetched_table.provider_of(table[name]) for name in fetched_table.models_in(table) if "/" not in name}
    return {name: provider for name, provider in found.items() if provider != "text-completion-openai"}


def gateway_passed_over(model: str, model_type: str) -> str:
    """Return the variable of an address that dspy does not call, because the name states no provider; "" if none.

    Rule: `dspy.clients.backend_selection.select_backend`, which looks for `GPT-4O_API_BASE`.
    """
    head, separator, _ = model.partition("/")
    is_stated = bool(separator) and ":" not in head
    if is_stated or not is_provider_known(model) or own_route(model, model_type) is None:
        return ""
    return next((name for name in base_variables(split_model(model)[0]) if os.environ.get(name)), "")


def needs_user_message(model: str) -> bool:
    """Return whether litellm refuses to send this model only a system message.

    Rule: litellm's `anthropic_messages_pt` and `BedrockConverseMessagesProcessor`. For Gemini, litellm adds a blank
    user message.
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
        return Known(NONE, "the offline models")
    route = None if has_gateway(model) else own_route(model, model_type, connection)
    if route is not None:
        return _table_answer(route, facts_by(fetched_table.in_use()))
    found, is_current = litellm_answers.answer_of(model)
    if found is None:
        return Known(NONE, f"nothing assumed until litellm {litellm_answers.installed()} answers")
    said_by = f"litellm {found.release}"
    if not is_current:
        return Known(found.capabilities, f"a copy of {said_by}, until litellm {litellm_answers.installed()} answers")
    return Known(found.capabilities, said_by if found.is_listed else f"{said_by}, by its rules for unlisted names")


def by_other_table(model: str, model_type: str, connection: Iterable[str], waits: bool) -> Known | None:
    """Return what dspy sees with the last fetched table if it is not in use, and with the packaged one if it is.

    Returns None without a fetched table, and, unless it `waits`, without an answer of litellm with the other table.
    """
    last = fetched_table.kept()
    if last is None or model.startswith("offline/"):
        return None
    other = last if fetched_table.in_use() is None else None
    route = None if has_gateway(model) else own_route(model, model_type, connection)
    if route is None and waits:
        litellm_answers.ask_with(other, [model])
    found = litellm_answers.by_table(model, other) if route is None else _table_answer(route, facts_by(other))
    return None if found is None else Known(found.capabilities, "the packaged table" if other is None else str(other))


def limits_of(model: str) -> Limits:
    """Return a model's limits as the installed litellm knows them; unknown for offline and unlisted models."""
    found = None if model.startswith("offline/") else litellm_answers.answer_of(model)[0]
    return Limits() if found is None else found.limits


def ask_about(models: Iterable[str]) -> None:
    """Ask the installed litellm now about those of `models` for which dspy would ask it."""
    litellm_answers.ask(
        one for one in models if not one.startswith("offline/") and (has_gateway(one) or own_route(one) is None)
    )


@lru_cache(maxsize=1024)
def _table_answer(route: Route, facts: DspyFacts) -> Known:
    door, flags = route.door, _flags(route, facts)
    tools, reasoning, schema = (
        flag is True for flag in (flags.function_calling, flags.reasoning, flags.response_schema)
    )
    refused = next((names for start, names in door.by_beginning if route.model.startswith(start)), door.refused)
    params = set(door.params)
    if door.dialect == "openai-chat" and (schema or tools):
        params.add("response_format")
    reasoning = reasoning and "reasoning" not in refused
    schema = schema and "schema" not in refused
    if door.dialect == "anthropic" and schema:
        params.add("response_format")
    if tools:
        params |= TOOL_PARAMS.difference(refused)
    if reasoning:
        params.add("reasoning_effort")
    said_by = facts.name if flags != Flags() else f"{facts.name} does not list it: by the rules for such names"
    return Known(Capabilities(tools, reasoning, schema, frozenset(params)), said_by)


def _flags(route: Route, facts: DspyFacts) -> Flags:
    """Rule: `dspy.clients.model_metadata.model_info`: the entry, then the bare name's, then the name's families."""
    names, bare = route.door.namespaces, facts.entry(route.model)
    if bare is not None and bare.provider not in names:
        bare = None
    listed = (facts.entry(f"{name}/{route.model}") for name in names)
    found = next((one for one in listed if one is not None), bare)
    flags = found.flags if found is not None else Flags()
    if bare is not None:
        flags = flags.filled(bare.flags)
    for family in facts.families:
        counts = found is None or family.providers is None or found.provider in family.providers
        if counts and family.pattern.search(route.model):
            flags = flags.filled(family.flags)
    return flags
