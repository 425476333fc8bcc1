"""What a mutation is: a good reply made into one as careless models, servers and gateways write it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sessions.stress.forms import FieldText
from sessions.stress.good_replies import GoodReply


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
    """One habit. `name` is what the grid, the command line and the JSON call it."""

    name: str
    imitates: str
    """Which habit of models, servers or gateways it is, with an issue where people told of it."""
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
    """The fields with one value changed: the first that can have another; empty without any."""
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
