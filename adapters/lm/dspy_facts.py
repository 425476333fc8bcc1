"""Read `dspy_facts.json`: the APIs that dspy's own client speaks, and dspy's table of their models.

The file belongs to the reference, dspy 3.4.1, and is written from it by `tests/support/oracle/write_model_facts.py`.
Every other model is litellm's: `adapters.lm.litellm_answers` asks the installed litellm.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal

FILE = Path(__file__).with_name("dspy_facts.json")

Flag = bool | None
"""Yes, no, or not said."""

Dialect = Literal["openai-chat", "openai-responses", "anthropic", "gemini", "typesafe"]


@dataclass(frozen=True)
class Flags:
    """A model's capabilities in a table."""

    function_calling: Flag = None
    reasoning: Flag = None
    response_schema: Flag = None

    @staticmethod
    def read(code: str) -> Flags:
        """`+-.` is: tools, no reasoning, nothing said of a schema."""
        return Flags(*({"+": True, "-": False, ".": None}[sign] for sign in code[:3]))

    def filled(self, other: Flags) -> Flags:
        """With what is not said taken from `other`."""
        return Flags(
            self.function_calling if self.function_calling is not None else other.function_calling,
            self.reasoning if self.reasoning is not None else other.reasoning,
            self.response_schema if self.response_schema is not None else other.response_schema,
        )


@dataclass(frozen=True)
class Entry:
    """A model of dspy's table, and litellm's word for its provider."""

    provider: str
    flags: Flags


@dataclass(frozen=True)
class Family:
    """Capabilities of every model whose name matches `pattern`, where its entry says nothing.

    `providers` are those whose listed models it counts for; None is all. A model without an entry is always meant.
    """

    pattern: re.Pattern[str]
    providers: frozenset[str] | None
    flags: Flags


@dataclass(frozen=True)
class Door:
    """An API of dspy's own client.

    `namespaces` are the prefixes of its models in the table; it accepts `params` for every model, but not the features
    in `refused` (`schema`, `reasoning`, `parallel_tool_calls`), nor those in `by_beginning` by prefix of the model.
    """

    id: str
    dialect: Dialect
    namespaces: tuple[str, ...]
    params: frozenset[str]
    refused: frozenset[str]
    by_beginning: tuple[tuple[str, frozenset[str]], ...] = ()
    max_tokens: str | None = None
    """The name under which a chat API takes the limit of tokens."""
    thinking: str | None = None
    """How a chat API is asked to reason, in the words of dspy's client (`OpenAIChatCompat.thinking_format`)."""
    efforts: tuple[str, ...] | None = None
    """The efforts that it takes; None is all."""
    user_field: str = "user"
    """The name under which a chat API takes the user."""
    spelling: str | None = None
    """In which of the ways of `thinking` a request of a chat API asks to reason."""
    cache_key: Literal["sent", "dropped", "refused"] = "sent"
    """What becomes of `prompt_cache_key` at a chat API."""
    keeps_reasoning: bool = False
    """Whether each message of the assistant has its reasoning beside it, an empty one too."""

    def refuses(self, model: str) -> frozenset[str]:
        return next((refused for start, refused in self.by_beginning if model.startswith(start)), self.refused)


class DspyFacts:
    """The file's contents, each part read when it is first asked for."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self.release: str = data["release"]
        self.prefixes: Mapping[str, str] = data["prefixes"]
        """litellm's `provider/` to the door that dspy's client calls it by."""
        self.beginnings = tuple((start, door) for start, door in data["beginnings"])
        """How a bare name begins, and the door it leads to; the first counts."""

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
        """dspy's entry of exactly this name."""
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
