"""A good reply, and mutations that damage it as careless models, servers and gateways do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adapters.formats.base import Adapter
from adapters.late_dataclasses import dataclass, replace
from adapters.replies.forms import FORMS, FieldText, Form, is_deep
from adapters.replies.reading import Reading
from adapters.signatures.signature import Signature
from adapters.values.value_text import serialize_for_json, to_json


@dataclass(frozen=True)
class GoodReply:
    """A reply that parses without error, with the data that mutations need.

    `parser` parses replies of `signature`: the column's adapter, or Chat if that takes the values from a second model's
    reply (TwoStep). `fields` are the outputs as the adapter writes them, in order; empty if the form is unknown or
    writing them changes their values.
    """

    parser: Adapter
    signature: Signature
    text: str
    reading: Reading
    source: str
    """Origin of the reply, in words."""
    form: Form
    """The form of the reply; of an unknown form, nothing can be written."""
    fields: tuple[FieldText, ...]
    passed_over: tuple[str, ...] = ()
    """Better candidates that could not be used, each with the reason."""

    @property
    def values(self) -> Mapping[str, Any]:
        return self.reading.values

    def write(self, fields: Sequence[FieldText]) -> str | None:
        """Write a reply of these fields; None without fields: no model would do that."""
        return self.form.write(fields) if fields else None


def good_reply(
    parser: Adapter, signature: Signature, reading: Reading, source: str, passed_over: tuple[str, ...] = ()
) -> GoodReply:
    """Create a good reply from `reading`, which `parser` parsed without an error."""
    form = FORMS.get(reading.form, Form())
    fields = () if form.kind == "own" else _fields(parser, signature, reading.values, form)
    return GoodReply(parser, signature, reading.completion, reading, source, form, fields, passed_over)


def written(parser: Adapter, signature: Signature, values: Mapping[str, Any]) -> str | None:
    """Write a reply as the adapter does; None if its or a type's code raises."""
    outputs = {name: values[name] for name in signature.output_fields if name in values}
    try:
        content = parser.format_assistant_message_content(signature, outputs)
    except Exception:  # a user's own adapter, or a type's serializer, may raise anything
        return None
    return str(content) if isinstance(content, str) else None


def _fields(parser: Adapter, signature: Signature, values: Mapping[str, Any], form: Form) -> tuple[FieldText, ...]:
    """Return the outputs as the adapter writes them; none if they parse to other values."""
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
    is_same = again.values.keys() == values.keys() and all(
        type(one) is type(values[name]) and to_json(serialize_for_json(one)) == to_json(plain[name])
        for name, one in again.values.items()
    )
    return fields if again.ok and is_same else ()


@dataclass(frozen=True)
class Broken:
    """A mutated reply that deliberately means something else than the good reply.

    A model that quotes a word in a text means the text with its quotes: `meant` are the values expected of the parser,
    the good reply's with the mutation's changes.
    """

    text: str
    meant: Mapping[str, Any]


Make = Callable[..., str | Broken | None]


@dataclass(frozen=True)
class Mutation:
    """A kind of damage; `name` identifies it in grid, command line and JSON."""

    name: str
    imitates: str
    """The imitated habit of models, servers or gateways, with an issue that reports it."""
    make: Make
    """A pure function that returns the mutated reply, or None if that cannot happen to its form and values."""
    how: tuple[object, ...] = ()
    """The arguments of `make` after the good reply."""
    group: str = ""

    def __call__(self, good: GoodReply) -> Broken | None:
        """Return the mutated reply and its intended values; None if nothing applies or changes."""
        made = self.make(good, *self.how)
        if made is None or made == good.text:
            return None
        return made if isinstance(made, Broken) else Broken(made, good.values)


def grouped(group: str, *rows: tuple[str, str, Make, *tuple[object, ...]]) -> tuple[Mutation, ...]:
    """Make the mutations of a group; a row has name, habit, function and its arguments after the good reply."""
    return tuple([Mutation(name, imitates, make, tuple(how), group) for name, imitates, make, *how in rows])


def unchanged(value: object, in_json: bool) -> None:
    """Write a leaf as usual."""


def other_value(field: FieldText) -> Any:
    """Return a different value that is certainly valid for the field, or None."""
    value = field.value
    if field.is_text:
        return "A first guess."
    if type(value) is bool:
        return not value
    if type(value) is int or type(value) is float:
        return round(value + 1, 6)  # 1.91, where the sum of 0.91 and 1 has a tail
    if type(value) is list and len(value) > 1:
        return field.plain[:-1]
    return None


def draft(good: GoodReply) -> tuple[FieldText, ...]:
    """Return the fields with the first changeable value changed; empty if there is none."""
    for index, field in enumerate(good.fields):
        other = other_value(field)
        if other is not None:
            form = good.form
            text = form.of_text(other) if field.is_text else form.of_value(other, unchanged, form.is_nested(field))
            changed = replace(field, value=other, plain=other, text=text)
            return (*good.fields[:index], changed, *good.fields[index + 1 :])
    return ()
