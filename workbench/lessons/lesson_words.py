"""The words of a lesson: each part of a prompt and each step of a parser, for newcomers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from adapters.replies.reading import FieldState, SpanKind

FIELDS = (
    "The prompt begins with what the model receives and what it has to return: every field of the signature by name, "
    "with its type and description. The model knows a field without a description only by its name, so a good "
    "description is the cheapest improvement of a prompt."
)
OBJECTIVE = (
    "The system message ends with the task: the signature's docstring, word for word. Without a docstring, a default "
    "names the inputs and outputs. Up to here, nothing depends on the case: every call with this signature begins the "
    "same way."
)
DEMO = (
    "An example, in the form of an earlier exchange: a user message with its inputs, and the answer you would like. It "
    "has exactly the format that the reply must have, so it teaches the format as well as the task."
)
INCOMPLETE_DEMO = (
    "An example without {missing}. It is still used: its first line warns the model that something is not supplied, "
    "and a sentence replaces each missing output. Incomplete examples come before the complete ones, whatever their "
    "order in your list."
)
HISTORY = (
    "A turn of the conversation so far, after the examples: the question, with the reminder of the format, and the "
    "answer. The model cannot tell it from an example."
)
INPUTS = (
    "The actual question: the inputs of the current case, with the same markers as in every example. Only this part "
    "changes from call to call; providers can cache everything before it."
)
REMINDER = (
    "Models lose track of distant instructions, so the format is repeated at the very end, where it matters most: "
    "which fields, in which order, and how the reply must end."
)
OWN_SYSTEM = "The system message as this adapter writes it, without origins for its parts."
OWN_MESSAGE = "A message that only this adapter writes."


REPLY = (
    "The reply is plain text. The parser now has to find the values in it. It does not ask the model again and does "
    "not understand the text; it looks for the format that the prompt asked for."
)
SPAN_TITLES: Mapping[SpanKind, str] = MappingProxyType(
    {
        "marker": "Found: the structure",
        "value": "Sliced: the values",
        "repaired": "Sliced after a repair",
        "duplicate": "Said twice",
        "unknown": "No field of the signature",
        "ignored": "Ignored",
        "prose": "Prose for a second model",
        "untraced": "Not traced",
    }
)
SPAN_WORDS: Mapping[SpanKind, str] = MappingProxyType(
    {
        "marker": "The parser looks for the structure that it asked for: markers, tags or keys that name a field. "
        "A misspelt marker does not count, however clear it is to a person.",
        "value": "The text between two of them is cut out for the field that they name.",
        "repaired": "The text was not quite valid, so it was repaired by rule before it was cut. The places of its "
        "pieces are therefore a good guess.",
        "duplicate": "A field that was answered more than once. Only one answer is used; these are not.",
        "unknown": "Structure that names no output of the signature. The parser finds and ignores it.",
        "ignored": "The parser never looked at this text. No value contains any of it.",
        "untraced": "Another release of dspy parsed this reply and reports only the values. Which of them came from "
        "this text is uncertain.",
        "prose": "There is nothing to parse here: a second model extracts the fields from this text.",
    }
)
FIELD_STATES: Mapping[FieldState, str] = MappingProxyType(
    {
        "read": "The text for this field becomes a value of its type. Each line below is one step, by a fixed rule.",
        "default": "The reply has nothing for this field, so its default is filled in and the reply still parses.",
        "missing": "The reply has nothing for this field, and the field has no default. That alone is a parse error.",
        "failed": "The text was found but cannot be converted to the field's type. That is a parse error.",
        "unread": "The parser had stopped before it reached this field.",
        "native": "The provider returned this value separately from the reply's text.",
    }
)
READ = "All outputs have a value of their type: the reply parses. This is what the program gets."
NOT_READ = (
    "The whole reply is a parse error: one field without a value is enough. The program gets an error and no values, "
    "not even the valid ones. The error names the place, which shows what to fix in the prompt or the reply."
)
