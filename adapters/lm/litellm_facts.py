"""Facts from litellm's table by model name, and its rules for unlisted names: a part of `model_facts.json`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from adapters.requests.capabilities import Capabilities

Flag = bool | None
"""Yes, no, or not said."""

COLUMNS = (
    *("function_calling", "reasoning", "response_schema", "tool_choice", "none_reasoning_effort", "web_search"),
    *("adaptive_thinking", "sampling_params", "parallel_function_calling"),
)
"""What is kept of what litellm says of a model: its words without `supports_`."""

SIGNS: Mapping[str, Flag] = {"+": True, "-": False, ".": None}
WITHOUT_RULES = "!"
"""Stands before the provider of an entry that no rule adds anything to."""


@dataclass(frozen=True)
class LitellmEntry:
    """A model of litellm's table; `provider` is litellm's word, None where the table names none."""

    name: str
    provider: str | None
    says: tuple[Flag, ...]
    is_filled: bool


@dataclass(frozen=True)
class Rule:
    """A rule of litellm for unlisted names that match `pattern`.

    `fills` are the providers to whose listed models it adds what their entries do not say.
    """

    pattern: re.Pattern[str]
    says: tuple[Flag, ...]
    fills: frozenset[str]


def signs(text: str) -> tuple[Flag, ...]:
    return tuple(SIGNS[sign] for sign in text)


class LitellmFacts:
    """The data, each part read when it is first asked for."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self._table: Mapping[str, str] = data["table"]
        self.aliases: Mapping[str, str] = data["aliases"]

    @cached_property
    def bare(self) -> Mapping[str, str]:
        """Names that litellm knows the provider of without being told."""
        return {name: provider for provider, names in self._data["bare"].items() for name in names}

    @cached_property
    def providers(self) -> frozenset[str]:
        return frozenset(self._data["providers"])

    @cached_property
    def cohere_chat(self) -> frozenset[str]:
        return frozenset(self._data["cohere_chat"])

    @cached_property
    def mistral_chat(self) -> frozenset[str]:
        return frozenset(self._data["mistral_chat"])

    @cached_property
    def vertexes(self) -> frozenset[str]:
        """Vertex's names for models of others that litellm also takes without `meta/` or `@latest`."""
        return frozenset(self._data["vertexes"])

    @cached_property
    def regions(self) -> frozenset[str]:
        """Amazon's."""
        return frozenset(self._data["regions"])

    @cached_property
    def converse(self) -> frozenset[str]:
        """Models that Bedrock is asked for by its Converse API."""
        return frozenset(self._data["converse"])

    @cached_property
    def by_chat(self) -> frozenset[str]:
        """Models that speak OpenAI's chat API, where that is said of one."""
        return frozenset(self._data["by_chat"])

    @cached_property
    def exceptions(self) -> Mapping[str, Capabilities]:
        """Listed names of which the rules do not say all."""
        return {
            name: Capabilities(said[0] == "+", said[1] == "+", said[2] == "+", self._param_set(int(said[3:])))
            for name, said in self._data["exceptions"].items()
        }

    def params(self, provider: str, kind: str) -> frozenset[str]:
        """Return the parameters that litellm accepts for a provider's models of a kind, or of the most similar kind."""
        kinds: Mapping[str, int] = self._data["kinds"].get(provider, {})
        number = kinds.get(kind)
        if number is None and kinds:
            words = set(kind.split())
            number = kinds[min(kinds, key=lambda one: len(words ^ set(one.split())))]
        return frozenset() if number is None else self._param_set(number)

    def _param_set(self, number: int) -> frozenset[str]:
        return frozenset(self._data["param_sets"][number].split())

    @cached_property
    def routing(self) -> tuple[tuple[re.Pattern[str], str], ...]:
        """Whom names without a provider lead to."""
        return tuple((re.compile(pattern, re.IGNORECASE), leads) for pattern, leads in self._data["routing"])

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        return tuple(
            Rule(re.compile(one["pattern"], re.IGNORECASE), signs(one["says"]), frozenset(one["fills"]))
            for one in self._data["rules"]
        )

    @cached_property
    def of_fireworks(self) -> tuple[tuple[str, tuple[Flag, ...]], ...]:
        """The models of Fireworks by the last part of their names, in the table's order."""
        start, folder = "fireworks_ai/", "accounts/fireworks/models/"
        return tuple(
            (short, entry.says)
            for name in self._table
            if name.startswith(start) and (short := name.removeprefix(start).removeprefix(folder))
            if (entry := self.exactly(name)) is not None
        )

    @cached_property
    def _in_small_letters(self) -> Mapping[str, str]:
        return {name.lower(): name for name in self._table}

    def exactly(self, name: str) -> LitellmEntry | None:
        found = self._table.get(name)
        if found is None:
            return None
        says, _, provider = found.partition(" ")
        bare = provider.removeprefix(WITHOUT_RULES)
        return LitellmEntry(name, bare or None, signs(says), bare == provider)

    def entry(self, name: str) -> LitellmEntry | None:
        """The entry of this name, in whatever letters. Rule: `litellm.utils.get_model_cost_key`."""
        found = self.exactly(name)
        if found is None:
            listed = self._in_small_letters.get(name.lower())
            found = None if listed is None else self.exactly(listed)
        return found
