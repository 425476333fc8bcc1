"""Describe a model in a list: its API key and whether that is set, its context and its price."""

from __future__ import annotations

import os
from datetime import date
from typing import NamedTuple

from adapters.lm import addresses
from adapters.lm.capabilities import Known
from adapters.lm.model_list import ModelEntry, retirement_of

EXAMPLE_MODELS = (
    "openai/gpt-6-luna",
    "anthropic/claude-sonnet-5-5",
    "gemini/gemini-3.8-flash",
    "mistral/mistral-small-latest",
    "groq/openai/gpt-oss-20b",
    "deepseek/deepseek-flash",
    "openrouter/openai/gpt-6-luna",
    "xai/grok-4.7",
)
"""An example model of each well-known provider."""

SIGNED_IN = {
    "bedrock": "AWS_ACCESS_KEY_ID",
    "vertex_ai": "GOOGLE_APPLICATION_CREDENTIALS",
    "github_copilot": None,
}
"""Providers without an API key variable of the usual form; None: litellm signs in by itself."""


class Key(NamedTuple):
    """The environment variable of a provider's API key (None: not needed), and whether it is set."""

    variable: str | None
    is_set: bool | None

    @property
    def remark(self) -> str:
        if self.variable is None:
            return "signs in by itself"
        return f"{self.variable} is {'set' if self.is_set else 'not set'}"


def key_of(provider: str) -> Key:
    """Return which variable holds a litellm provider's API key, and whether it is set."""
    variable = SIGNED_IN[provider] if provider in SIGNED_IN else addresses.key_variables(provider)[0]
    if variable is None:
        return Key(None, None)
    return Key(variable, bool(addresses.keys_set(provider)) or bool(os.environ.get(variable)))


def can(known: Known) -> str:
    """Describe a model's capabilities and their source: `can: tools, schema (dspy 3.4.1's table)`."""
    has = {
        "tools": known.capabilities.function_calling,
        "reasoning": known.capabilities.reasoning,
        "schema": known.capabilities.response_schema,
        "JSON": "response_format" in known.capabilities.params and not known.capabilities.response_schema,
    }
    words = ", ".join(name for name, yes in has.items() if yes)
    return f"can: {words or 'nothing special'} ({known.said_by})"


def leaving(model: str) -> str | None:
    """Describe, in one sentence, a retirement that has happened or is near; None otherwise."""
    day = date.today()
    retirement = retirement_of(model)
    return retirement.sentence(day) if retirement is not None and retirement.is_near(day) else None


def facts(entry: ModelEntry) -> str:
    """Describe price, context size and a near retirement date; an unknown price is named as unknown."""
    priced = entry.input_price is not None and entry.output_price is not None
    price = f"${entry.input_price:g} in ${entry.output_price:g} out a million" if priced else "price unknown"
    context = "" if entry.context_tokens is None else f", {entry.context_tokens:,} tokens"
    retirement, today = retirement_of(entry.name), date.today()
    leaves = f" · {retirement.remark(today)}" if retirement is not None and retirement.is_near(today) else ""
    return f"{price}{context}{leaves}"
