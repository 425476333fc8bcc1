"""Mutations of values: numbers, choices, lists and texts as people and models write them.

A mutation that adds something to a text means the text with the addition, and is judged so; all others mean the values
of the good reply.
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Callable
from operator import attrgetter
from typing import Any, Literal, get_origin

from adapters.late_dataclasses import replace
from adapters.mutations.mutation import Broken, GoodReply, grouped
from adapters.replies.forms import FieldText, leaves
from adapters.signatures.signature import without_none
from adapters.values.value_text import to_json

DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)\Z")


def each_leaf(good: GoodReply, wanted: Callable[[Any], object], write: Callable[[Any, bool], str]) -> str | None:
    """Rewrite every `wanted` number, truth value, date and None; keep texts. `write` is told if it is inside JSON."""
    form, fields = good.form, [*good.fields]
    for index, field in enumerate(good.fields):
        if not field.is_text and any(map(wanted, leaves(field.plain))):
            text = form.of_value(
                field.plain, lambda one, in_json: write(one, in_json) if wanted(one) else None, form.is_nested(field)
            )
            fields[index] = replace(field, text=text)
    return None if fields == [*good.fields] else good.write(fields)


def each(
    good: GoodReply, wanted: Callable[[Any], object], write: Callable[[Any], str], bare: bool = False
) -> str | None:
    """Rewrite every `wanted` leaf with `write`, in JSON as a string unless `bare`."""
    return each_leaf(good, wanted, lambda one, in_json: to_json(write(one)) if in_json and not bare else write(one))


def each_field(
    good: GoodReply, wanted: Callable[[FieldText], bool], write: Callable[[FieldText], str | None]
) -> str | None:
    """Replace the text of every `wanted` field by `write`'s, in JSON as a string."""
    fields = []
    for field in good.fields:
        written = write(field) if wanted(field) else None
        fields.append(field if written is None else replace(field, text=good.form.of_text(written)))
    return None if fields == [*good.fields] else good.write(fields)


def outside_json(good: GoodReply, make: Callable[..., str | None], *how: Any) -> str | None:
    """Leave JSON as it is: its values stand in quotes anyway."""
    return None if good.form.is_json else make(good, *how)


is_text, is_container = attrgetter("is_text"), attrgetter("is_container")


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_share(value: object) -> bool:
    return isinstance(value, float) and 0 < value < 1


def is_truth(value: object) -> bool:
    return isinstance(value, bool)


def is_choice(field: FieldText) -> bool:
    """Return whether the field is a Literal or an Enum with text values."""
    annotation = without_none(field.annotation)
    named = get_origin(annotation) is Literal or (isinstance(annotation, type) and issubclass(annotation, enum.Enum))
    return named and isinstance(field.plain, str)


def member_name(field: FieldText) -> str | None:
    is_plain = isinstance(field.value, enum.Enum) and type(field.value).__str__ is enum.Enum.__str__
    return str(field.value) if is_plain else None


def in_words(field: FieldText) -> str | None:
    value = field.plain
    if isinstance(value, bool):
        return "probably" if value else "probably not"
    if is_number(value):
        return f"about {value}"
    if isinstance(value, dict):
        return ", ".join([f"{key} is {one if isinstance(one, str) else to_json(one)}" for key, one in value.items()])
    if isinstance(value, list):
        return " and ".join([one if isinstance(one, str) else to_json(one) for one in value])
    return f"I would say {value}" if is_choice(field) else None


def is_plain_list(field: FieldText) -> bool:
    """Return whether the value is a list of texts and numbers."""
    items = field.plain
    return isinstance(items, list) and bool(items) and not any(isinstance(one, list | dict) for one in items)


def each_list(good: GoodReply, write: Callable[[list[str]], str | None]) -> str | None:
    """Replace every list of texts and numbers by what `write` makes of its items, as texts."""
    return each_field(good, is_plain_list, lambda one: write([str(item) for item in one.plain]))


def null_for_text(good: GoodReply) -> str | None:
    for index, field in enumerate(good.fields):
        if field.is_text:
            return good.write([*good.fields[:index], replace(field, text="null"), *good.fields[index + 1 :]])
    return None


def writes(good: GoodReply, change: Callable[[str], str], escaped: bool = False) -> Broken | None:
    """Change the reply's first text, without escaping the new characters unless `escaped`; None without words."""
    for index, field in enumerate(good.fields):
        if field.is_text and field.value.split():
            value = change(field.value)
            bare = f'"{value}"' if good.form.is_json else value
            changed = replace(field, value=value, plain=value, text=good.form.of_text(value) if escaped else bare)
            text = good.write([*good.fields[:index], changed, *good.fields[index + 1 :]])
            return None if text is None else Broken(text, {**good.values, field.name: value})
    return None


def first_word(good: GoodReply, wrap: str) -> Broken | None:
    """Wrap the first word of the first text; `{}` in `wrap` stands for it."""

    def change(text: str) -> str:
        word, *rest = text.split(" ", 1)
        return " ".join([wrap.replace("{}", word), *rest])

    return writes(good, change)


def _bare_ampersand(good: GoodReply) -> Broken | None:
    """Leave a text's ampersand unescaped; add "R&D" if no escaped ampersand exists."""
    bare = writes(good, lambda text: text)
    if bare is not None and bare.text != good.text and bare.text.count("&") == good.text.count("&amp;"):
        return bare
    return writes(good, lambda text: f"{text} R&D")


VALUES = grouped(
    "values",
    ("numbers in quotes", "a number is written as text", each, is_number, lambda one: f'"{one}"', True),
    ("numbers with a unit", "12.5 EUR, as the document has it", each, is_number, lambda one: f"{one} EUR"),
    ("numbers with a hedge", "about 12.5, by models that are not sure", each, is_number, "about {}".format),
    (
        "thousands separators",
        "1,234 as in a document",
        each,
        lambda one: is_number(one) and 1000 <= abs(one) < math.inf,
        "{:,}".format,
        True,
    ),
    (
        "a decimal comma",
        "12,5 as in half of Europe",
        each,
        lambda one: isinstance(one, float) and math.isfinite(one) and not one.is_integer(),
        lambda one: str(one).replace(".", ","),
        True,
    ),
    ("shares in percent", "93% for 0.93", each, is_share, lambda one: f"{one * 100:g}%", True),
    ("shares out of ten", "9.3/10 for 0.93", each, is_share, lambda one: f"{one * 10:g}/10"),
    ("yes and no", "words for true and false", each, is_truth, lambda one: "yes" if one else "no"),
    (
        "true and false in quotes",
        "a truth value is written as text",
        each,
        is_truth,
        lambda one: f'"{str(one).lower()}"',
        True,
    ),
    (
        "the other language's true",
        "True in JSON, true where Python's was shown",
        each_leaf,
        is_truth,
        lambda one, in_json: str(one) if in_json else str(one).lower(),
    ),
    ("N/A for nothing", "paper forms contain N/A for an empty field", each, lambda one: one is None, lambda _: "N/A"),
    ("None as a word", "Python's None as a text", each, lambda one: one is None, str),
    (
        "dates with dots",
        "04.11.2024 for 2024-11-04",
        each,
        lambda one: isinstance(one, str) and DATE.match(one),
        lambda one: DATE.sub(r"\3.\2.\1", one),
    ),
    (
        "choices capitalised",
        "a choice written as in a heading",
        each_field,
        is_choice,
        lambda one: one.plain.capitalize(),
    ),
    ("choices in capitals", "a choice written as a constant", each_field, is_choice, lambda one: one.plain.upper()),
    ("choices with a full stop", "a choice written as a sentence", each_field, is_choice, lambda one: f"{one.plain}."),
    (
        "choices with their class",
        "Mood.CALM, as Python prints a member (dspy#10010)",
        each_field,
        is_choice,
        member_name,
    ),
    ("choices in a sentence", "The answer is …", each_field, is_choice, lambda one: f"I would say {one.plain}"),
    ("lists as bullets", "Markdown's list", each_list, lambda items: "\n".join([f"- {one}" for one in items])),
    ("lists on one line", "items with commas between them", each_list, ", ".join),
    (
        "one item without its list",
        "a list of one is written as its item",
        each_list,
        lambda items: items[0] if len(items) == 1 else None,
    ),
    (
        "lists and objects as JSON text",
        "JSON within a string, or within a tag",
        each_field,
        is_container,
        lambda one: to_json(one.plain),
    ),
    (
        "lists and objects in a fence",
        "JSON within a section, in a fence of its own",
        outside_json,
        each_field,
        is_container,
        lambda one: f"```json\n{to_json(one.plain)}\n```",
    ),
    (
        "values in words",
        "about 12, probably, a and b: words where a value was asked for",
        each_field,
        lambda one: not one.is_text,
        in_words,
    ),
    ("null for a text", "JSON's word where there is no text", null_for_text),
    (
        "texts in quotes",
        "a text in quotes that are not part of it",
        outside_json,
        each_field,
        is_text,
        lambda one: f'"{one.value}"',
    ),
    ("texts in bold", "Markdown's emphasis around an answer", each_field, is_text, lambda one: f"**{one.value}**"),
    ("texts in a fence", "a text as a block of code", each_field, is_text, lambda one: f"```\n{one.value}\n```"),
    ("quotes in a text", 'a word in "quotes", which JSON has to escape', first_word, '"{}"'),
    (
        "a line break in a text",
        "paragraphs, which JSON has to escape",
        writes,
        lambda text: f"{text}\n\nSecond paragraph.",
    ),
    (
        "backslashes in a text",
        "a path as C:\\new\\table, which JSON has to escape",
        writes,
        lambda text: f"{text} C:\\new\\table",
    ),
    ("an ampersand in a text", "R&D, which XML has to escape", _bare_ampersand),
    ("a less-than in a text", "x < 3, which XML has to escape", writes, lambda text: f"{text} x < 3"),
    ("HTML's entities in a text", "&nbsp;, which XML does not know", writes, lambda text: f"{text}&nbsp;etc."),
    ("bold tags in a text", "<b>…</b> as on a web page", first_word, "<b>{}</b>"),
    (
        "braces in a text",
        "a text with {placeholders} in it (dspy#8759)",
        writes,
        lambda text: f"{text} {{like}} {{this}}",
    ),
    (
        "a fence in a text",
        "a text with a block of code in it",
        writes,
        lambda text: f"{text}\n```python\nx = 1\n```",
        True,
    ),
    (
        "a marker in a text",
        "a text about prompts, with a marker on a line of it",
        lambda good: writes(good, lambda text: f"{text}\n[[ ## {good.fields[-1].name} ## ]]\nis a marker.", True),
    ),
    ("the end of CDATA in a text", "a[b[0]]>1 as in code (dspy#10269)", writes, lambda text: f"{text} a[b[0]]>1"),
    (
        "a tag in a text",
        "a text with its own closing tag in it (dspy#10102)",
        lambda good: writes(good, lambda text: f"{text} (see </{good.fields[0].name}>)"),
    ),
)
