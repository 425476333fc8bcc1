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
from adapters.mutations.mutation import Broken, GoodReply, Mutation, change_text, grouped, properly
from adapters.replies.forms import FieldText, leaves
from adapters.signatures.signature import without_none
from adapters.values.value_text import to_json

DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)\Z")


def each_leaf(write: Callable[[Any, bool], str], wanted: Callable[[Any], object]) -> Callable[[GoodReply], str | None]:
    """Rewrite every `wanted` number, truth value, date and None; keep texts. `write` is told if it is inside JSON."""

    def leaf(value: object, in_json: bool) -> str | None:
        return write(value, in_json) if wanted(value) else None

    def rewritten(good: GoodReply, field: FieldText) -> str | None:
        is_wanted = any(map(wanted, leaves(field.plain)))
        return good.form.of_value(field.plain, leaf, good.form.is_nested(field)) if is_wanted else None

    return _each(lambda one: not one.is_text, rewritten)


def each(wanted: Callable[[Any], object], write: Callable[[Any], str], bare: bool = False) -> Callable[..., str | None]:
    """Rewrite every `wanted` leaf with `write`, in JSON as a string unless `bare`."""
    return each_leaf(lambda one, in_json: to_json(write(one)) if in_json and not bare else write(one), wanted)


def each_field(
    wanted: Callable[[FieldText], bool], write: Callable[[FieldText], str | None]
) -> Callable[[GoodReply], str | None]:
    """Replace the text of every `wanted` field by `write`'s, in JSON as a string."""

    def text(good: GoodReply, field: FieldText) -> str | None:
        written = write(field)
        return None if written is None else properly(written, good)

    return _each(wanted, text)


def _each(
    wanted: Callable[[FieldText], bool], text: Callable[[GoodReply, FieldText], str | None]
) -> Callable[[GoodReply], str | None]:
    def made(good: GoodReply) -> str | None:
        fields = []
        for field in good.fields:
            written = text(good, field) if wanted(field) else None
            fields.append(field if written is None else replace(field, text=written))
        return None if fields == [*good.fields] else good.write(fields)

    return made


def outside_json(make: Callable[[GoodReply], str | None]) -> Callable[[GoodReply], str | None]:
    """Leave JSON as it is: its values stand in quotes anyway."""
    return lambda good: None if good.form.is_json else make(good)


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


def each_list(write: Callable[[list[str]], str | None]) -> Callable[[GoodReply], str | None]:
    """Replace every list of texts and numbers by what `write` makes of its items, as texts."""

    def written(field: FieldText) -> str | None:
        items = field.plain
        if not isinstance(items, list) or not items or any(isinstance(one, list | dict) for one in items):
            return None
        return write([str(one) for one in items])

    return each_field(is_container, written)


def null_for_text(good: GoodReply) -> str | None:
    for index, field in enumerate(good.fields):
        if field.is_text:
            return good.write([*good.fields[:index], replace(field, text="null"), *good.fields[index + 1 :]])
    return None


def _unescaped(value: str, good: GoodReply) -> str:
    """Write a text as a model does that escapes nothing."""
    return f'"{value}"' if good.form.is_json else value


def writes(change: Callable[[str], str], escaped: bool = False) -> Callable[[GoodReply], Broken | None]:
    """Change the first text by adding characters that need escaping, unescaped unless `escaped`."""
    return lambda good: change_text(good, change, properly if escaped else _unescaped)


def _first_word(wrap: str) -> Callable[[str], str]:
    """Wrap the first word of a text; `{}` in `wrap` stands for it."""

    def change(text: str) -> str:
        word, *rest = text.split(" ", 1)
        return " ".join([wrap.replace("{}", word), *rest])

    return change


def _bare_ampersand(good: GoodReply) -> Broken | None:
    """Leave a text's ampersand unescaped; add "R&D" if no escaped ampersand exists."""
    bare = writes(lambda text: text)(good)
    if bare is not None and bare.text != good.text and bare.text.count("&") == good.text.count("&amp;"):
        return bare
    return writes(lambda text: f"{text} R&D")(good)


VALUES = grouped(
    "values",
    Mutation("numbers in quotes", "a number is written as text", each(is_number, lambda one: f'"{one}"', True)),
    Mutation("numbers with a unit", "12.5 EUR, as the document has it", each(is_number, lambda one: f"{one} EUR")),
    Mutation("numbers with a hedge", "about 12.5, by models that are not sure", each(is_number, "about {}".format)),
    Mutation(
        "thousands separators",
        "1,234 as in a document",
        each(lambda one: is_number(one) and 1000 <= abs(one) < math.inf, "{:,}".format, True),
    ),
    Mutation(
        "a decimal comma",
        "12,5 as in half of Europe",
        each(
            lambda one: isinstance(one, float) and math.isfinite(one) and not one.is_integer(),
            lambda one: str(one).replace(".", ","),
            True,
        ),
    ),
    Mutation("shares in percent", "93% for 0.93", each(is_share, lambda one: f"{one * 100:g}%", True)),
    Mutation("shares out of ten", "9.3/10 for 0.93", each(is_share, lambda one: f"{one * 10:g}/10")),
    Mutation("yes and no", "words for true and false", each(is_truth, lambda one: "yes" if one else "no")),
    Mutation(
        "true and false in quotes",
        "a truth value is written as text",
        each(is_truth, lambda one: f'"{str(one).lower()}"', True),
    ),
    Mutation(
        "the other language's true",
        "True in JSON, true where Python's was shown",
        each_leaf(lambda one, in_json: str(one) if in_json else str(one).lower(), is_truth),
    ),
    Mutation(
        "N/A for nothing", "paper forms contain N/A for an empty field", each(lambda one: one is None, lambda _: "N/A")
    ),
    Mutation("None as a word", "Python's None as a text", each(lambda one: one is None, str)),
    Mutation(
        "dates with dots",
        "04.11.2024 for 2024-11-04",
        each(lambda one: isinstance(one, str) and DATE.match(one), lambda one: DATE.sub(r"\3.\2.\1", one)),
    ),
    Mutation(
        "choices capitalised",
        "a choice written as in a heading",
        each_field(is_choice, lambda one: one.plain.capitalize()),
    ),
    Mutation(
        "choices in capitals", "a choice written as a constant", each_field(is_choice, lambda one: one.plain.upper())
    ),
    Mutation(
        "choices with a full stop", "a choice written as a sentence", each_field(is_choice, lambda one: f"{one.plain}.")
    ),
    Mutation(
        "choices with their class",
        "Mood.CALM, as Python prints a member (dspy#10010)",
        each_field(is_choice, member_name),
    ),
    Mutation("choices in a sentence", "The answer is …", each_field(is_choice, lambda one: f"I would say {one.plain}")),
    Mutation("lists as bullets", "Markdown's list", each_list(lambda items: "\n".join([f"- {one}" for one in items]))),
    Mutation("lists on one line", "items with commas between them", each_list(", ".join)),
    Mutation(
        "one item without its list",
        "a list of one is written as its item",
        each_list(lambda items: items[0] if len(items) == 1 else None),
    ),
    Mutation(
        "lists and objects as JSON text",
        "JSON within a string, or within a tag",
        each_field(is_container, lambda one: to_json(one.plain)),
    ),
    Mutation(
        "lists and objects in a fence",
        "JSON within a section, in a fence of its own",
        outside_json(each_field(is_container, lambda one: f"```json\n{to_json(one.plain)}\n```")),
    ),
    Mutation(
        "values in words",
        "about 12, probably, a and b: words where a value was asked for",
        each_field(lambda one: not one.is_text, in_words),
    ),
    Mutation("null for a text", "JSON's word where there is no text", null_for_text),
    Mutation(
        "texts in quotes",
        "a text in quotes that are not part of it",
        outside_json(each_field(is_text, lambda one: f'"{one.value}"')),
    ),
    Mutation(
        "texts in bold", "Markdown's emphasis around an answer", each_field(is_text, lambda one: f"**{one.value}**")
    ),
    Mutation(
        "texts in a fence", "a text as a block of code", each_field(is_text, lambda one: f"```\n{one.value}\n```")
    ),
    Mutation("quotes in a text", 'a word in "quotes", which JSON has to escape', writes(_first_word('"{}"'))),
    Mutation(
        "a line break in a text",
        "paragraphs, which JSON has to escape",
        writes(lambda text: f"{text}\n\nSecond paragraph."),
    ),
    Mutation(
        "backslashes in a text",
        "a path as C:\\new\\table, which JSON has to escape",
        writes(lambda text: f"{text} C:\\new\\table"),
    ),
    Mutation("an ampersand in a text", "R&D, which XML has to escape", _bare_ampersand),
    Mutation("a less-than in a text", "x < 3, which XML has to escape", writes(lambda text: f"{text} x < 3")),
    Mutation("HTML's entities in a text", "&nbsp;, which XML does not know", writes(lambda text: f"{text}&nbsp;etc.")),
    Mutation("bold tags in a text", "<b>…</b> as on a web page", writes(_first_word("<b>{}</b>"))),
    Mutation(
        "braces in a text",
        "a text with {placeholders} in it (dspy#8759)",
        writes(lambda text: f"{text} {{like}} {{this}}"),
    ),
    Mutation(
        "a fence in a text",
        "a text with a block of code in it",
        writes(lambda text: f"{text}\n```python\nx = 1\n```", True),
    ),
    Mutation(
        "a marker in a text",
        "a text about prompts, with a marker on a line of it",
        lambda good: change_text(
            good, lambda text: f"{text}\n[[ ## {good.fields[-1].name} ## ]]\nis a marker.", properly
        ),
    ),
    Mutation(
        "the end of CDATA in a text", "a[b[0]]>1 as in code (dspy#10269)", writes(lambda text: f"{text} a[b[0]]>1")
    ),
    Mutation(
        "a tag in a text",
        "a text with its own closing tag in it (dspy#10102)",
        lambda good: change_text(good, lambda text: f"{text} (see </{good.fields[0].name}>)", _unescaped),
    ),
)
