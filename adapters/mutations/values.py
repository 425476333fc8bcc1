"""Mutations of values: numbers, choices, lists and texts as people and models write them.

A mutation that adds something to a text means the text with the addition, and is judged so; all others mean the values
of the good reply.
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, get_origin

from adapters.mutations.mutation import Broken, GoodReply, Mutation, change_text, grouped, properly
from adapters.replies.forms import FieldText, Leaf, leaves
from adapters.signatures.signature import without_none
from adapters.values.value_text import to_json

DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)\Z")


def each_leaf(leaf: Leaf) -> Callable[[GoodReply], str | None]:
    """Rewrite every number, truth value, date and None with `leaf`; keep texts."""

    def made(good: GoodReply) -> str | None:
        return _changed(good, lambda one: not one.is_text, lambda one: _rewritten(good, one, leaf))

    return made


def _rewritten(good: GoodReply, field: FieldText, leaf: Leaf) -> str | None:
    form = good.form
    is_json = form is not None and form.is_json
    if form is None or all(leaf(one, is_json) is None for one in leaves(field.plain)):
        return None
    return form.of_value(field.plain, leaf, form.is_nested(field))


def each_field(
    wanted: Callable[[FieldText], bool], write: Callable[[FieldText], str | None]
) -> Callable[[GoodReply], str | None]:
    """Replace the text of every `wanted` field by `write`'s, in JSON as a string."""

    def text(good: GoodReply, field: FieldText) -> str | None:
        written = write(field)
        return None if written is None else properly(written, good)

    def made(good: GoodReply) -> str | None:
        return _changed(good, wanted, lambda one: text(good, one))

    return made


def _changed(
    good: GoodReply, wanted: Callable[[FieldText], bool], text: Callable[[FieldText], str | None]
) -> str | None:
    fields = []
    for field in good.fields:
        written = text(field) if wanted(field) else None
        fields.append(field if written is None else replace(field, text=written))
    return None if fields == [*good.fields] else good.write(fields)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _said(text: str, in_json: bool) -> str:
    return to_json(text) if in_json else text


def quoted_number(value: object, in_json: bool) -> str | None:
    return f'"{value}"' if _is_number(value) else None


def add_unit(value: object, in_json: bool) -> str | None:
    return _said(f"{value} EUR", in_json) if _is_number(value) else None


def about(value: object, in_json: bool) -> str | None:
    return _said(f"about {value}", in_json) if _is_number(value) else None


def add_thousands_separator(value: Any, in_json: bool) -> str | None:
    return f"{value:,}" if _is_number(value) and 1000 <= abs(value) < math.inf else None


def decimal_comma(value: object, in_json: bool) -> str | None:
    is_broken = isinstance(value, float) and math.isfinite(value) and not value.is_integer()
    return str(value).replace(".", ",") if is_broken else None


def percent_text(value: object, in_json: bool) -> str | None:
    return f"{value * 100:g}%" if isinstance(value, float) and 0 < value < 1 else None


def fraction_of_ten(value: object, in_json: bool) -> str | None:
    return _said(f"{value * 10:g}/10", in_json) if isinstance(value, float) and 0 < value < 1 else None


def yes_or_no(value: object, in_json: bool) -> str | None:
    return _said("yes" if value else "no", in_json) if isinstance(value, bool) else None


def truth_in_quotes(value: object, in_json: bool) -> str | None:
    return f'"{str(value).lower()}"' if isinstance(value, bool) else None


def other_languages_truth(value: object, in_json: bool) -> str | None:
    if not isinstance(value, bool):
        return None
    return str(value) if in_json else str(value).lower()


def not_available(value: object, in_json: bool) -> str | None:
    return _said("N/A", in_json) if value is None else None


def none_in_words(value: object, in_json: bool) -> str | None:
    return _said("None", in_json) if value is None else None


def date_with_dots(value: object, in_json: bool) -> str | None:
    found = DATE.match(value) if isinstance(value, str) else None
    return None if found is None else _said(f"{found[3]}.{found[2]}.{found[1]}", in_json)


def is_choice(field: FieldText) -> bool:
    """Return whether the field is a Literal or an Enum with text values."""
    annotation = without_none(field.annotation)
    named = get_origin(annotation) is Literal or (isinstance(annotation, type) and issubclass(annotation, enum.Enum))
    return named and isinstance(field.plain, str)


def member_name(field: FieldText) -> str | None:
    return (
        str(field.value)
        if isinstance(field.value, enum.Enum) and type(field.value).__str__ is enum.Enum.__str__
        else None
    )


def values_in_words(good: GoodReply) -> str | None:
    """Write all values except texts in words."""

    def written(field: FieldText) -> str | None:
        words = _value_words(field.plain, is_choice(field))
        return None if words is None else properly(words, good)

    return _changed(good, lambda one: not one.is_text, written)


def _value_words(value: object, is_choice: bool) -> str | None:
    if isinstance(value, bool):
        return "probably" if value else "probably not"
    if _is_number(value):
        return f"about {value}"
    if isinstance(value, dict):
        return ", ".join([f"{key} is {one if isinstance(one, str) else to_json(one)}" for key, one in value.items()])
    if isinstance(value, list):
        return " and ".join([one if isinstance(one, str) else to_json(one) for one in value])
    return f"I would say {value}" if is_choice else None


def _items(field: FieldText) -> list[str] | None:
    """Return the items of a list of texts and numbers, as texts."""
    if not isinstance(field.plain, list) or not field.plain:
        return None
    return None if any(isinstance(one, list | dict) for one in field.plain) else [str(one) for one in field.plain]


def bullets(field: FieldText) -> str | None:
    items = _items(field)
    return None if items is None else "\n".join([f"- {one}" for one in items])


def comma_line(field: FieldText) -> str | None:
    items = _items(field)
    return None if items is None else ", ".join(items)


def one_item(field: FieldText) -> str | None:
    items = _items(field)
    return items[0] if items is not None and len(items) == 1 else None


def json_text_of(field: FieldText) -> str | None:
    return to_json(field.plain) if field.is_container else None


def null_for_text(good: GoodReply) -> str | None:
    for index, field in enumerate(good.fields):
        if field.is_text:
            return good.write([*good.fields[:index], replace(field, text="null"), *good.fields[index + 1 :]])
    return None


def text_in_fence(good: GoodReply) -> str | None:
    return _changed(good, lambda one: one.is_text, lambda one: properly(f"```\n{one.value}\n```", good))


def json_in_fence(good: GoodReply) -> str | None:
    """Put each list and object of a text form into its own fence."""
    if good.form is None or good.form.is_json:
        return None
    return _changed(
        good, lambda one: one.is_container, lambda one: properly(f"```json\n{to_json(one.plain)}\n```", good)
    )


def text_in_quotes(good: GoodReply) -> str | None:
    """Put texts in quotes; not in JSON, which quotes them anyway."""
    if good.form is None or good.form.is_json:
        return None
    return _changed(good, lambda one: one.is_text, lambda one: properly(f'"{one.value}"', good))


def text_in_bold(good: GoodReply) -> str | None:
    return _changed(good, lambda one: one.is_text, lambda one: properly(f"**{one.value}**", good))


def _unescaped(value: str, good: GoodReply) -> str:
    """Write a text as a model does that escapes nothing."""
    return f'"{value}"' if good.form is not None and good.form.is_json else value


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


def _own_marker(good: GoodReply) -> Broken | None:
    names = [one.name for one in good.fields]
    return change_text(good, lambda text: f"{text}\n[[ ## {names[-1]} ## ]]\nis a marker.", properly)


def _own_tag(good: GoodReply) -> Broken | None:
    names = [one.name for one in good.fields]
    return change_text(good, lambda text: f"{text} (see </{names[0]}>)", _unescaped)


VALUES = grouped(
    "values",
    Mutation("numbers in quotes", "a number is written as text", each_leaf(quoted_number)),
    Mutation("numbers with a unit", "12.5 EUR, as the document has it", each_leaf(add_unit)),
    Mutation("numbers with a hedge", "about 12.5, by models that are not sure", each_leaf(about)),
    Mutation("thousands separators", "1,234 as in a document", each_leaf(add_thousands_separator)),
    Mutation("a decimal comma", "12,5 as in half of Europe", each_leaf(decimal_comma)),
    Mutation("shares in percent", "93% for 0.93", each_leaf(percent_text)),
    Mutation("shares out of ten", "9.3/10 for 0.93", each_leaf(fraction_of_ten)),
    Mutation("yes and no", "words for true and false", each_leaf(yes_or_no)),
    Mutation("true and false in quotes", "a truth value is written as text", each_leaf(truth_in_quotes)),
    Mutation(
        "the other language's true", "True in JSON, true where Python's was shown", each_leaf(other_languages_truth)
    ),
    Mutation("N/A for nothing", "paper forms contain N/A for an empty field", each_leaf(not_available)),
    Mutation("None as a word", "Python's None as a text", each_leaf(none_in_words)),
    Mutation("dates with dots", "04.11.2024 for 2024-11-04", each_leaf(date_with_dots)),
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
    Mutation("lists as bullets", "Markdown's list", each_field(lambda one: one.is_container, bullets)),
    Mutation(
        "lists on one line", "items with commas between them", each_field(lambda one: one.is_container, comma_line)
    ),
    Mutation(
        "one item without its list",
        "a list of one is written as its item",
        each_field(lambda one: one.is_container, one_item),
    ),
    Mutation(
        "lists and objects as JSON text",
        "JSON within a string, or within a tag",
        each_field(lambda one: one.is_container, json_text_of),
    ),
    Mutation("lists and objects in a fence", "JSON within a section, in a fence of its own", json_in_fence),
    Mutation("values in words", "about 12, probably, a and b: words where a value was asked for", values_in_words),
    Mutation("null for a text", "JSON's word where there is no text", null_for_text),
    Mutation("texts in quotes", "a text in quotes that are not part of it", text_in_quotes),
    Mutation("texts in bold", "Markdown's emphasis around an answer", text_in_bold),
    Mutation("texts in a fence", "a text as a block of code", text_in_fence),
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
    Mutation("a marker in a text", "a text about prompts, with a marker on a line of it", _own_marker),
    Mutation(
        "the end of CDATA in a text", "a[b[0]]>1 as in code (dspy#10269)", writes(lambda text: f"{text} a[b[0]]>1")
    ),
    Mutation("a tag in a text", "a text with its own closing tag in it (dspy#10102)", _own_tag),
)
