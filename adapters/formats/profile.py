"""Profiles of adapters: facts that the rest of the program asks instead of comparing names.

Lints, flags, lessons and cards decide by these facts, so that a new adapter, or a user's subclass, works without
further changes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

from adapters.replies.reading import ReplyForm

SHARED_OPTIONS = ("use_native_function_calling", "parallel_tool_calls")
FALLBACK_OPTION = "use_json_adapter_fallback"
EXTRACTION_OPTION = "extraction_model"

InputForm = Literal["markers", "tags", "prose", "sections", "own"]
"""How a user message shows its fields: under `[[ ## name ## ]]`, between tags, as lines of prose, in numbered sections,
or in a way of the adapter's own."""

Quirk = Literal[
    "instructions-split-at-any-line-break",
    "marks-what-is-not-supplied",
    "custom-types-expand-in-values",
    "prompt-ends-with-completed-marker",
    "demos-show-field-names",
    "asks-for-markers-and-reads-json",
    "types-in-short-form",
]
"""Habits of a format that surprise, each told by a lint (`adapters.lint`)."""

OF_THE_BASE: frozenset[Quirk] = frozenset(
    ("instructions-split-at-any-line-break", "marks-what-is-not-supplied", "custom-types-expand-in-values")
)
"""What an adapter has from `Adapter` unless it overrides it."""


class Card(NamedTuple):
    """A description of an adapter for choosing: essence, prompt, parsing, and when to use or avoid it."""

    essence: str
    formats: str
    parses: str
    use: tuple[str, ...]
    avoid: tuple[str, ...]


class Opening(NamedTuple):
    """Words of an adapter with which a step of its lesson begins; `is_field`: the words belong to a field."""

    pattern: re.Pattern[str]
    is_field: bool
    title: str
    explanation: str


@dataclass(frozen=True, kw_only=True)
class Profile:
    """The facts about an adapter."""

    about: str = "an adapter of your own"
    """A few words for a list to choose from."""
    card: Card
    inputs: InputForm = "own"
    reply: ReplyForm = "own"
    options: tuple[str, ...] = SHARED_OPTIONS
    """The names of the constructor that a session may set: plain values, never callbacks."""
    has_demos: bool = True
    history: Literal["turns", "printed", "left out"] = "turns"
    """Whether the turns of a History become messages, are printed into the user message, or have no place."""
    word_for_none: str = "None"
    """How a missing answer of a turn is shown."""
    quirks: frozenset[Quirk] = OF_THE_BASE
    has_finetuning_in_dspy: bool = False
    """Whether dspy's own class has `format_finetune_data`."""
    structure: str = (
        "Then the form of every message, as this adapter wants it. Its parser later looks for this form in the reply."
    )
    """What a lesson says of the part of the system message that describes the form."""
    openings: tuple[Opening, ...] = ()
    """For prompts that are not made of dspy's three parts: where a lesson's steps begin."""

    @property
    def reads_values_as_text(self) -> bool:
        return self.reply in ("markers", "xml", "prose")

    @property
    def can_fall_back(self) -> bool:
        """Test whether a parse error may cause a second call through JSON."""
        return FALLBACK_OPTION in self.options

    @property
    def has_second_model(self) -> bool:
        """Test whether a second call extracts the values from the first reply."""
        return EXTRACTION_OPTION in self.options


CUSTOM = Profile(
    card=Card(
        "An adapter of your own, or of a package that you installed.",
        "Whatever its format() makes. Where it overrides format itself, it does not say where each piece comes from.",
        "Whatever its parse() makes. Where it overrides parse itself, its reading has values and no steps.",
        ("it is yours to say",),
        ("it is yours to say",),
    )
)
"""Of an adapter that says nothing of itself."""
