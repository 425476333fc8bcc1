"""Lints for values: missing, unexpected, invalid, shown differently, or with pieces of the format."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pydantic

from adapters.formats.profile import Profile
from adapters.lint.lint import Lint, Numbered, Part, Place
from adapters.replies.flag import shown
from adapters.replies.flags.verdict import named
from adapters.replies.reading_builder import reason
from adapters.signatures.signature import MISSING, Field, Signature
from adapters.types.recognition import START, asks_for_types, type_adapter
from adapters.values.plain_json import parts_of
from adapters.values.value_text import write_value

SEEN_BEFORE = 16
"""Characters shown before the first difference of two long values."""


class Given(NamedTuple):
    """A value of a field in an input, demo or turn, with its place and its name in a sentence."""

    field: Field
    value: Any
    place: Place
    what: str


def _given(signature: Signature, demos: Numbered, turns: Numbered, inputs: Mapping[str, Any]) -> Iterator[Given]:
    """Yield every value that the prompt shows, except the History itself."""
    history = signature.history_field
    for name, value in inputs.items():
        if name in signature.input_fields and name != history:
            yield Given(signature.fields[name], value, Place("input", None, name), f"The input `{name}`")
    groups: tuple[tuple[Part, str, Numbered], ...] = (("demo", "demo", demos), ("history", "turn", turns))
    for part, word, numbered in groups:
        for number, values in numbered:
            for name, value in values.items():
                if name in signature.fields:
                    what = f"`{name}` of {word} {number}"
                    yield Given(signature.fields[name], value, Place(part, number, name), what)


def value_lints(signature: Signature, demos: Numbered, turns: Numbered, inputs: Mapping[str, Any]) -> Iterator[Lint]:
    """Find problems of values in inputs, demos and turns."""
    yield from _presence(signature, inputs)
    for one in _given(signature, demos, turns, inputs):
        is_shown = one.place.part == "input" or (one.value is not None and one.field.name != signature.history_field)
        if is_shown:
            yield from _value(one.field, one.value, one.place, one.what)


def _presence(signature: Signature, inputs: Mapping[str, Any]) -> Iterator[Lint]:
    wanted = signature.input_fields
    if wanted and not any(name in inputs for name in wanted):
        yield Lint(
            "no-inputs",
            "No input has a value: the user message only repeats the format.",
            Place("prompt"),
        )
    for name, field in wanted.items():
        if name in inputs:
            continue
        if field.default is not MISSING or field.default_factory is not None:
            yield Lint(
                "default-not-applied",
                f"The input `{name}` has no value; dspy.Predict fills in its default, an adapter does not.",
                Place("input", None, name),
            )
        else:
            yield Lint(
                "missing-input",
                f"The input `{name}` has no value; the prompt leaves it out.",
                Place("input", None, name),
            )
    extra = [name for name in inputs if name not in wanted and isinstance(name, str)]
    if extra:
        yield Lint(
            "extra-input-ignored",
            f"{named(extra)}: not in the signature's inputs, so not in the prompt.",
            Place("input", None, extra[0]),
        )


def _value(field: Field, value: object, place: Place, what: str) -> Iterator[Lint]:
    annotation = field.annotation
    if any(isinstance(one, set | frozenset) for one in parts_of(value)):
        yield Lint("set-order", f"{what} contains a set, which has no order: its items may appear in any order.", place)
    if annotation is str and isinstance(value, list):
        yield from _list_as_text(value, place, what)
        return
    if annotation is str or asks_for_types(annotation):
        if annotation is str and value is not None and not isinstance(value, str):
            yield _other_type(value, place, what, "not a text")
        return
    try:
        validated = type_adapter(annotation).validate_python(value)
    except pydantic.ValidationError as error:
        yield _other_type(value, place, what, reason(error))
        return
    given, printed = write_value(annotation, value), write_value(annotation, validated)
    if given != printed:
        before, after = _where_they_part(given, printed)
        yield Lint(
            "validated-value-differs",
            f"{what} is shown as given, {shown(before)}; validated by its type it would be {shown(after)}.",
            place,
        )


def _where_they_part(one: str, other: str) -> tuple[str, str]:
    """Shorten two texts to start just before their first difference."""
    part = next((at for at, (left, right) in enumerate(zip(one, other, strict=False)) if left != right), 0)
    start = max(0, part - SEEN_BEFORE)
    return (f"…{one[start:]}", f"…{other[start:]}") if start else (one, other)


def _other_type(value: object, place: Place, what: str, why: str) -> Lint:
    return Lint(
        "value-of-another-type",
        f"{what} is {shown(value)}, which its type rejects ({why}); the prompt shows it, too.",
        place,
    )


def _list_as_text(value: list[Any], place: Place, what: str) -> Iterator[Lint]:
    other = next((one for one in value if not isinstance(one, str)), None)
    if other is not None or None in value:
        yield Lint(
            "list-in-a-text-field-crashes",
            f"{what} is a list in a text field and contains {shown(other)}, not a text: no prompt can be made.",
            place,
        )
        return
    how = "as the text N/A" if not value else "in « »" if len(value) == 1 else "as numbered passages in « »"
    yield Lint("list-in-a-text-field", f"{what} is a list in a text field; it is shown {how}.", place)


MARKER = re.compile(r"\[\[ ## (\w{1,200}) ## \]\]")
TAG = re.compile(r"</?([A-Za-z_][\w.\-]{0,200})[\s/>]")


def marker_lints(
    signature: Signature, demos: Numbered, turns: Numbered, inputs: Mapping[str, Any], profile: Profile
) -> Iterator[Lint]:
    """Find markers, tags and custom types' markers in inputs, demos and turns."""
    for one in _given(signature, demos, turns, inputs):
        yield from _marks(signature, one, profile)


def _marks(signature: Signature, given: Given, profile: Profile) -> Iterator[Lint]:
    is_input, place, what = given.field.name in signature.input_fields, given.place, given.what
    for text in [one for one in parts_of(given.value) if isinstance(one, str)]:
        if profile.inputs == "markers" and (match := _first(MARKER, text, {*signature.fields, "completed"})):
            yield Lint(
                "marker-in-value",
                f"{what} contains {match}, which is not escaped: to the model it looks like a field of the prompt.",
                place,
            )
        if profile.inputs == "tags" and is_input and (match := _first(TAG, text, set(signature.fields))):
            yield Lint(
                "tag-in-value",
                f"{what} contains the tag {match.strip()}; inputs are not escaped, so it looks like a field.",
                place,
            )
        if is_input and START in text and "custom-types-expand-in-values" in profile.quirks:
            yield Lint(
                "custom-type-marker-in-value",
                f"{what} contains dspy's marker of a custom type as text; its content becomes a content part of the "
                "message.",
                place,
            )


def _first(pattern: re.Pattern[str], text: str, names: set[str]) -> str | None:
    return next((match.group() for match in pattern.finditer(text) if match.group(1) in names), None)
