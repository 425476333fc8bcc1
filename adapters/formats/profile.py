"""Profiles of adapters: facts that other modules use instead of comparing names.

Lints, flags, lessons and cards depend on these facts, so that new adapters and users' subclasses work without further
changes.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from adapters.late_dataclasses import dataclass
from adapters.replies.reading import ReplyForm

SHARED_OPTIONS = ("use_native_function_calling", "parallel_tool_calls")
FALLBACK_OPTION = "use_json_adapter_fallback"
EXTRACTION_OPTION = "extraction_model"

InputForm = Literal["markers", "tags", "prose", "sections", "own"]
"""Form of a user message's fields: under `[[ ## name ## ]]`, between tags, as lines of prose, in numbered sections, or
the adapter's own."""

Quirk = Literal[
    "instructions-split-at-any-line-break",
    "marks-what-is-not-supplied",
    "custom-types-expand-in-values",
    "prompt-ends-with-completed-marker",
    "demos-show-field-names",
    "asks-for-markers-and-reads-json",
    "types-in-short-form",
]
"""Surprising properties of a format, each reported by a lint (`adapters.lint`)."""

OF_THE_BASE: frozenset[Quirk] = frozenset(
    ("instructions-split-at-any-line-break", "marks-what-is-not-supplied", "custom-types-expand-in-values")
)
"""Quirks that adapters inherit from `Adapter`."""


class Card(NamedTuple):
    """A description that helps choose an adapter: essence, prompt, parsing, and when to use or avoid it."""

    essence: str
    formats: str
    parses: str
    use: tuple[str, ...]
    avoid: tuple[str, ...]


class Opening(NamedTuple):
    """Text in a prompt at which a step of the lesson starts; `is_field` if the text belongs to a field."""

    pattern: str
    title: str
    explanation: str
    is_field: bool = False


@dataclass(frozen=True, kw_only=True)
class Profile:
    """Facts about an adapter."""

    about: str = "an adapter of your own"
    """A short description for lists."""
    card: Card
    inputs: InputForm = "own"
    reply: ReplyForm = "own"
    options: tuple[str, ...] = SHARED_OPTIONS
    """Constructor arguments that a session may set: plain values, never callbacks."""
    has_demos: bool = True
    history: Literal["turns", "printed", "left out"] = "turns"
    """The place of a History's turns: messages, text in the user message, or nowhere."""
    word_for_none: str = "None"
    """Text of a missing output in a turn."""
    quirks: frozenset[Quirk] = OF_THE_BASE
    has_finetuning_in_dspy: bool = False
    """True if dspy's class has `format_finetune_data`."""
    structure: str = (
        "Then the form of every message, as this adapter wants it. Its parser later looks for this form in the reply."
    )
    """The lesson's explanation of the format description in the system message."""
    openings: tuple[Opening, ...] = ()
    """Starts of a lesson's steps, for prompts without dspy's three parts."""

    @property
    def reads_values_as_text(self) -> bool:
        return self.reply in ("markers", "xml", "prose")

    @property
    def can_fall_back(self) -> bool:
        """Tell whether a parse error may cause a second call through JSON."""
        return FALLBACK_OPTION in self.options

    @property
    def has_second_model(self) -> bool:
        """Tell whether a second call extracts the values from the first reply."""
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
"""Profile of adapters without their own."""
