"""Lints of values that hold a piece of the prompt's own format."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from adapters.formats.profile import Profile
from adapters.lint.lint import Lint, Numbered, Place
from adapters.signatures.conversation_field import history_field_name
from adapters.signatures.signature import Signature
from adapters.types.base import START

MARKER = re.compile(r"\[\[ ## (\w{1,200}) ## \]\]")
TAG = re.compile(r"</?([A-Za-z_][\w.\-]{0,200})[\s/>]")
MOST_NESTED = 10_000


def marker_lints(
    signature: Signature, demos: Numbered, turns: Numbered, inputs: Mapping[str, Any], profile: Profile
) -> Iterator[Lint]:
    """Markers, tags and custom types' markers in inputs, demos and turns."""
    history = history_field_name(signature)
    for name, value in inputs.items():
        if name in signature.input_fields and name != history:
            yield from _value(signature, value, Place("input", None, name), f"The input `{name}`", profile, name)
    for number, demo in demos:
        for name, value in demo.items():
            if name in signature.fields:
                yield from _value(
                    signature, value, Place("demo", number, name), f"`{name}` of demo {number}", profile, name
                )
    for number, turn in turns:
        for name, value in turn.items():
            if name in signature.fields:
                place = Place("history", number, name)
                yield from _value(signature, value, place, f"`{name}` of turn {number}", profile, name)


def _value(signature: Signature, value: Any, place: Place, what: str, profile: Profile, name: str) -> Iterator[Lint]:
    is_input = name in signature.input_fields
    for text in _texts(value):
        if profile.inputs == "markers" and (match := _first(MARKER, text, {*signature.fields, "completed"})):
            yield Lint(
                "marker-in-value",
                f"{what} holds {match}, which is not escaped: to the model it looks like a field of the prompt.",
                place,
            )
        if profile.inputs == "tags" and is_input and (match := _first(TAG, text, set(signature.fields))):
            yield Lint(
                "tag-in-value",
                f"{what} holds the tag {match.strip()}, and inputs are not escaped: it looks like a field.",
                place,
            )
        if is_input and START in text and "custom-types-expand-in-values" in profile.quirks:
            yield Lint(
                "custom-type-marker-in-value",
                f"{what} holds dspy's marker of a custom type as text; whatever it says becomes a content part of the "
                "message.",
                place,
            )


def _first(pattern: re.Pattern[str], text: str, names: set[str]) -> str | None:
    return next((match.group() for match in pattern.finditer(text) if match.group(1) in names), None)


def _texts(value: Any) -> Iterator[str]:
    """Every text in plain data."""
    waiting = [value]
    for one in waiting:
        if isinstance(one, str):
            yield one
        elif len(waiting) < MOST_NESTED:
            if isinstance(one, Mapping):
                waiting.extend(list(one.values())[:MOST_NESTED])
            elif isinstance(one, list | tuple):
                waiting.extend(one[:MOST_NESTED])
