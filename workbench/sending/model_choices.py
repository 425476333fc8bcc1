"""What is said of a model that can be chosen: the key it needs and whether that is set, its context and its price."""

from __future__ import annotations

from typing import NamedTuple

from adapters.lm import addresses
from adapters.lm.model_list import ModelEntry

EXAMPLE_MODELS = (
    "openai/gpt-4o-mini",
    "anthropic/claude-sonnet-4-5",
    "gemini/gemini-2.5-flash",
    "mistral/mistral-small-latest",
    "groq/openai/gpt-oss-20b",
    "deepseek/deepseek-chat",
    "openrouter/openai/gpt-4o-mini",
    "xai/grok-4",
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
    """The key of one of litellm's providers; its value is never looked at beyond whether there is one."""
    variable = SIGNED_IN[provider] if provider in SIGNED_IN else addresses.key_variables(provider)[0]
    if variable is None:
        return Key(None, None)
    return Key(variable, addresses.has_key(provider) or addresses.is_set(variable))


def facts(entry: ModelEntry) -> str:
    """Context and price; what is not known is `?`."""
    prices = [("?" if one is None else f"{one:g}") for one in (entry.input_price, entry.output_price)]
    context = "?" if entry.context_tokens is None else f"{entry.context_tokens:,}"
    return f"{context} tokens, ${prices[0]} in ${prices[1]} out a million"
