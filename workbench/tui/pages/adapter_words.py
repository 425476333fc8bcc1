"""What each adapter is, what it asks for, and when it is the right one: for the card of a column."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class AdapterWords(NamedTuple):
    """One sentence each, and lists of when to use an adapter and when not."""

    essence: str
    formats: str
    parses: str
    use: tuple[str, ...]
    avoid: tuple[str, ...]


WORDS: Mapping[str, AdapterWords] = MappingProxyType(
    {
        "chat": AdapterWords(
            "The default of DSPy: every field under a marker of its own, in the prompt and in the reply.",
            "Inputs and outputs as text under [[ ## field ## ]] markers; the system message lists fields, form and "
            "task.",
            "The text under each marker, up to the next; the first of a field counts. Then a value of the field's "
            "type.",
            (
                "for most models, small ones too: the form is easy to follow",
                "for long texts and code: nothing has to be quoted or escaped",
                "where text in front of the answer should do no harm: it is ignored",
            ),
            (
                "for deeply nested outputs: their JSON stands under a marker and may still be broken",
                "where values may hold lines that look like markers",
            ),
        ),
        "json": AdapterWords(
            "Inputs under markers, the reply one JSON object; native structured output where the model has it.",
            "As Chat, but the outputs are described, and shown in examples, as a JSON object.",
            "The reply as JSON, mended by json_repair where it is not; a key for every output; a value of its type.",
            (
                "with models that take a schema as response_format: then the form is guaranteed",
                "for many short or nested outputs, numbers and lists",
            ),
            (
                "for long prose or code as output: quotes and line breaks must be escaped, and models slip",
                "with small models without structured output",
            ),
        ),
        "xml": AdapterWords(
            "Every field between tags, nested types as nested tags.",
            "<field> tags in prompt and reply; a nested type is spelt out as nested tags.",
            "The reply as XML: strict, so a bare & or < or a tag left open refuses all of it.",
            (
                "with models that were trained on XML tags (Anthropic's, for instance)",
                "for nested outputs without structured output",
            ),
            (
                "where values hold &, < or HTML",
                "where replies may be cut off: XML that ends early is refused as a whole",
            ),
        ),
        "baml": AdapterWords(
            "JSON replies, with the types described in BAML's short form in the place of a JSON schema.",
            "As JSON, but each output's type in a few lines with comments: far fewer tokens for nested models.",
            "As JSON: json_repair, a key for every output, a value of its type.",
            (
                "for nested pydantic models whose JSON schema is longer than the task",
                "with small or cheap models that get lost in a schema",
            ),
            ("with one model used in two places: dspy takes that for recursion and refuses",),
        ),
        "twostep": AdapterWords(
            "Two models: the first answers in prose, the second takes the fields out of it.",
            "A plain description of inputs and outputs; no markers and no examples of a form.",
            "Nothing by itself: a second call, through Chat, extracts the fields from the prose.",
            (
                "with models that reason well and format badly",
                "where a form in the prompt makes the answers worse",
            ),
            ("where latency or cost matters: every answer is two calls", "where the values must be verbatim"),
        ),
        "markdown": AdapterWords(
            "One message of numbered sections; the reply one fenced block of JSON. Ours, not dspy's.",
            "Sections for the task, each input and the response format; no place for demos and history.",
            "The fenced block, strictly: no other keys, unless the adapter is told to let them through.",
            ("for prompts that people read and edit as documents", "where a reply must be exact or refused"),
            ("with demos or history: they are left out, which is said beside the prompt",),
        ),
    }
)

CUSTOM = AdapterWords(
    "An adapter of your own, or of a package that you installed.",
    "Whatever its format() makes. Where it overrides format itself, it does not say where each piece comes from.",
    "Whatever its parse() makes. Where it overrides parse itself, its reading has values and no steps.",
    ("it is yours to say",),
    ("it is yours to say",),
)
