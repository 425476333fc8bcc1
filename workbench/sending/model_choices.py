"""Describe a model in a list: its API key and whether that is set, its context and its price."""

from __future__ import annotations

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
"""One model of each well known provider, which stands for the others."""

SIGNED_IN = {
    "bedrock": "AWS_ACCESS_KEY_ID",
    "vertex_ai": "GOOGLE_APPLICATION_CREDENTIALS",
    "github_copilot": None,
}
"""Providers whose key is none of the usual form; None: litellm signs in by itself."""


class Key(NamedTuple):
    """The environment variable that a provider takes its key from (None: it needs none), and whether it has a value."""

    variable: str | None
    is_set: bool | None

    @property
    def remark(self) -> str:
        if self.variable is None:
            return "signs in by itself"
        return f"{self.variable} is {'set' if self.is_set else 'not set'}"


def key_of(provider: str) -> Key:
    """The key of one of litellm's providers; its value is never looked at beyond whether it is set."""
    variable = SIGNED_IN[provider] if provider in SIGNED_IN else addresses.key_variables(provider)[0]
    if variable is None:
        return Key(None, None)
    return Key(variable, addresses.has_key(provider) or addresses.is_set(variable))


def can(known: Known) -> str:
    """Describe a model's capabilities and their source: `can: tools, schema (dspy 3.4.1's table)`."""
    has = {
        "tools": known.capabilities.function_calling,
        "reasoning": known.capabilities.reasoning,
        "schema": known.capabilities.response_schema,
        "JSON": "response_format" in known.capabilities.params and not known.capabilities.response_schema,
    }
    words = ", ".join(name for name, yes in has.items() if yes)
    return f"can: {words or 'nothing of its own'} ({known.said_by})"


def leaving(model: str) -> str | None:
    """That the model has left its provider's API or soon will, as one sentence; None where there is nothing to tell."""
    day = date.today()
    retirement = retirement_of(model)
    return retirement.sentence(day) if retirement is not None and retirement.is_near(day) else None


def facts(entry: ModelEntry) -> str:
    """Context and price, and the day on which it leaves its API when that is near; what is not known is said to be."""
    priced = entry.input_price is not None and entry.output_price is not None
    price = f"${entry.input_price:g} in ${entry.output_price:g} out a million" if priced else "price unknown"
    context = "" if entry.context_tokens is None else f"{entry.context_tokens:,} tokens, "
    retirement, today = retirement_of(entry.name), date.today()
    leaves = f" · {retirement.remark(today)}" if retirement is not None and retirement.is_near(today) else ""
    return f"{context}{price}{leaves}"
