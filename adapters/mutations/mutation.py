"""A good reply, and mutations that damage it as careless models, servers and gateways do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from adapters.formats.base import Adapter
from adapters.replies.forms import FORMS, FieldText, Form, is_deep
from adapters.replies.reading import Reading
from adapters.signatures.signature import Signature
from adapters.values.value_text import serialize_for_json, to_json


@dataclass(frozen=True)
class GoodReply:
    """A reply that `parser` reads, with what the mutations need of it.

    `parser` reads replies of `signature`: the column's adapter, or Chat where that takes the values out of a second
    model's reply (TwoStep). `fields` are the outputs as the adapter itself writes them, in their order; empty where
    the form is not known or writing them does not give the same values again.
    """

    parser: Adapter
    signature: Signature
    text: str
    reading: Reading
    source: str
    """Its origin, in words."""
    form: Form | None
    fields: tuple[FieldText, ...]
    passed_over: tuple[str, ...] = ()
    """Better candidates, each with the reason why it could not be used."""

    @property
    def values(self) -> Mapping[str, Any]:
        return self.reading.values

    def write(self, fields: Sequence[FieldText]) -> str | None:
        """A reply of these fields in its form; None for none, which no model is thought to write."""
        return None if self.form is None or not fields else self.form.write(fields)


def good_reply(
    parser: Adapter, signature: Signature, reading: Reading, source: str, passed_over: tuple[str, ...] = ()
) -> GoodReply:
    """Make a good reply of `reading`, which `parser` made of it without an error."""
    form = FORMS.get(reading.form)
    fields = () if form is None else _fields(parser, signature, reading.values, form)
    return GoodReply(parser, signature, reading.completion, reading, source, form, fields, passed_over)


def written(parser: Adapter, signature: Signature, values: Mapping[str, Any]) -> str | None:
    """Write a reply as the adapter itself does; None where its own code, or that of a type, raises."""
    outputs = {name: values[name] for name in signature.output_fields if name in values}
    try:
        content = parser.format_assistant_message_content(signature, outputs)
    except Exception:  # a user's own adapter, or a type's serializer, may raise anything
        return None
    return str(content) if isinstance(content, str) else None


def _fields(parser: Adapter, signature: Signature, values: Mapping[str, Any], form: Form) -> tuple[FieldText, ...]:
    """The outputs as the parser's own adapter writes them; none where that gives other values."""
    plain = {name: serialize_for_json(value) for name, value in values.items()}
    text = None if any(is_deep(one) for one in plain.values()) else written(parser, signature, values)
    if text is None:
        return ()
    first = parser.read(signature, text)
    fields = tuple(
        [
            FieldText(name, one.annotation, values[name], plain[name], first.fields[name].raw or "")
            for name, one in signature.output_fields.items()
            if name in values and name in first.fields
        ]
    )
    again = parser.read(signature, form.write(fields))
    return fields if again.ok and _same(again.values, values) else ()


def _same(values: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
    """Return whether both hold the same values; 1 and True differ."""
    if values.keys() != others.keys():
        return False
    return all(
        type(one) is type(others[name])
        and to_json(serialize_for_json(one)) == to_json(serialize_for_json(others[name]))
        for name, one in values.items()
    )


@dataclass(frozen=True)
class Broken:
    """A mutated reply that says something else than the good one, and does so on purpose.

    A model that quotes a word inside of a text means that text with its quotes: `meant` are the values by which the
    reading is judged, the good reply's with those changed that the mutation wrote.
    """

    text: str
    meant: Mapping[str, Any]


Make = Callable[[GoodReply], str | Broken | None]
"""A pure function: the mutated reply, or None where this cannot happen to a reply of that form and those values."""


@dataclass(frozen=True)
class Mutation:
    """A habit. `name` is what the grid, the command line and the JSON call it."""

    name: str
    imitates: str
    """The habit of models, servers or gateways, with an issue where people reported it."""
    make: Make
    group: str = ""

    def __call__(self, good: GoodReply) -> Broken | None:
        """The mutated reply with the values it means; None where the mutation does not apply or changes nothing."""
        made = self.make(good)
        if made is None or made == good.text:
            return None
        return made if isinstance(made, Broken) else Broken(made, good.values)


def grouped(group: str, *mutations: Mutation) -> tuple[Mutation, ...]:
    return tuple([replace(one, group=group) for one in mutations])


def with_text(good: GoodReply, change: Callable[[str], str], escape: Callable[[str, GoodReply], str]) -> Broken | None:
    """The first text of the reply changed, in the form's own writing after `escape`; None without a text of words."""
    for index, field in enumerate(good.fields):
        if field.is_text and len(field.value.split()) > 0:
            value = change(field.value)
            changed = replace(field, value=value, plain=value, text=escape(value, good))
            text = good.write([*good.fields[:index], changed, *good.fields[index + 1 :]])
            return None if text is None else Broken(text, {**good.values, field.name: value})
    return None


def properly(value: str, good: GoodReply) -> str:
    """A text as the form escapes it."""
    return value if good.form is None else good.form.of_text(value)


def other_value(field: FieldText) -> Any:
    """Another value of the field's type, as a draft might have had it; None where none is certain to be valid."""
    value = field.value
    if field.is_text:
        return "A first guess."
    if type(value) is bool:
        return not value
    if type(value) is int or type(value) is float:
        return value + 1
    if type(value) is list and len(value) > 1:
        return field.plain[:-1]
    return None


def draft(good: GoodReply) -> tuple[FieldText, ...]:
    """The fields with a value changed: the first that can have another; empty without any."""
    for index, field in enumerate(good.fields):
        other = other_value(field)
        if other is not None and good.form is not None:
            nested = good.form.is_nested(field)
            if field.is_text:
                text = good.form.of_text(other)
            else:
                text = good.form.of_value(other, lambda value, in_json: None, nested)
            changed = replace(field, value=other, plain=other, text=text)
            return (*good.fields[:index], changed, *good.fields[index + 1 :])
    return ()
