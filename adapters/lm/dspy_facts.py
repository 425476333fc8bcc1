"""Read `dspy_facts.json`: the APIs of dspy's own client, and dspy's table of their models.

`tests/support/oracle/write_model_facts.py` generates the file from the reference, dspy 3.4.1.
All other models are called through litellm: `adapters.lm.litellm_answers` asks the installed litellm about them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal

from adapters.late_dataclasses import dataclass

FILE = Path(__file__).with_name("dspy_facts.json")

Flag = bool | None
"""Yes, no, or (None) unknown."""

Dialect = Literal["openai-chat", "openai-responses", "anthropic", "gemini", "typesafe"]


@dataclass(frozen=True)
class Flags:
    """A model's capabilities in a table."""

    function_calling: Flag = None
    reasoning: Flag = None
    response_schema: Flag = None

    @staticmethod
    def read(code: str) -> Flags:
        """Decode flags: `+-.` means tools, no reasoning, schema unknown."""
        return Flags(*({"+": True, "-": False, ".": None}[sign] for sign in code[:3]))

    def filled(self, other: Flags) -> Flags:
        """Return these flags with unknown ones taken from `other`."""
        return Flags(
            self.function_calling if self.function_calling is not None else other.function_calling,
            self.reasoning if self.reasoning is not None else other.reasoning,
            self.response_schema if self.response_schema is not None else other.response_schema,
        )


@dataclass(frozen=True)
class Entry:
    """A model's entry in dspy's table; `provider` is litellm's name."""

    provider: str
    flags: Flags


@dataclass(frozen=True)
class Family:
    """Default capabilities of models whose name matches `pattern`, where their entry leaves them unknown.

    For listed models it applies only to those of `providers` (None: all); for unlisted models it always applies.
    """

    pattern: re.Pattern[str]
    providers: frozenset[str] | None
    flags: Flags


@dataclass(frozen=True)
class Door:
    """An API of dspy's own client.

    `namespaces` are the prefixes of its models in the table. It accepts `params` for every model, but not the features
    in `refused` (`schema`, `reasoning`, `parallel_tool_calls`); `by_beginning` replaces these by prefix of the model.
    """

    id: str
    dialect: Dialect
    namespaces: tuple[str, ...]
    params: frozenset[str]
    refused: frozenset[str]
    by_beginning: tuple[tuple[str, frozenset[str]], ...] = ()
    max_tokens: str | None = None
    """The name of a chat API's token limit parameter."""
    thinking: str | None = None
    """A chat API's format for requesting reasoning (`OpenAIChatCompat.thinking_format` of dspy's client)."""
    efforts: tuple[str, ...] | None = None
    """The accepted reasoning efforts; None is all."""
    user_field: str = "user"
    """The name of a chat API's user parameter."""
    spelling: str | None = None
    """The format of `thinking` in which a request to a chat API asks for reasoning."""
    cache_key: Literal["sent", "dropped", "refused"] = "sent"
    """The treatment of `prompt_cache_key` by a chat API."""
    keeps_reasoning: bool = False
    """True if every assistant message includes its reasoning, even if empty."""

    def refuses(self, model: str) -> frozenset[str]:
        return next((refused for start, refused in self.by_beginning if model.startswith(start)), self.refused)


class DspyFacts:
    """The file's contents, each part decoded on first use."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self.release: str = data["release"]
        self.prefixes: Mapping[str, str] = data["prefixes"]
        """The door of dspy's client by litellm's `provider/` prefix."""
        self.beginnings = tuple((start, door) for start, door in data["beginnings"])
        """Prefixes of names without provider, and their doors; the first match counts."""

    @cached_property
    def doors(self) -> Mapping[str, Door]:
        return {
            id: Door(
                id,
                one["dialect"],
                tuple(one["namespaces"]),
                frozenset(one["params"]),
                frozenset(one["refused"]),
                tuple((start, frozenset(refused)) for start, refused in one.get("by_beginning", ())),
                one.get("max_tokens"),
                one.get("thinking"),
                None if one.get("efforts") is None else tuple(one["efforts"]),
                one.get("user_field", "user"),
                one.get("spelling"),
                one.get("cache_key", "sent"),
                one.get("keeps_reasoning", False),
            )
            for id, one in self._data["doors"].items()
        }

    @cached_property
    def families(self) -> tuple[Family, ...]:
        return tuple(
            Family(
                re.compile(one["pattern"]),
                None if one["providers"] is None else frozenset(one["providers"]),
                Flags.read(one["says"]),
            )
            for one in self._data["families"]
        )

    def entry(self, name: str) -> Entry | None:
        """Return dspy's entry for exactly this name."""
        return self._table.get(name)

    @cached_property
    def _table(self) -> Mapping[str, Entry]:
        return {
            name: entry
            for provider, by_flags in self._data["table"].items()
            for code, names in by_flags.items()
            for entry in (Entry(provider, Flags.read(code)),)
            for name in names.split()
        }


@lru_cache(maxsize=1)
def dspy_facts() -> DspyFacts:
    return DspyFacts(json.loads(FILE.read_text("utf-8")))
