"""Mutations of an answer's fields: missing, added, reordered, renamed, in another format."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

from adapters.mutations.mutation import GoodReply, Mutation, draft, grouped
from adapters.replies.forms import FORMS, FieldText
from adapters.replies.reading import ReplyForm

ZERO_WIDTH = "\u200b"


def first_missing(good: GoodReply) -> str | None:
    return good.write(good.fields[1:])


def last_missing(good: GoodReply) -> str | None:
    return good.write(good.fields[:-1])


def one_too_many(good: GoodReply) -> str | None:
    if good.form is None or not good.fields:
        return None
    name = next(one for one in ("notes", "remark", "comment_of_the_model") if one not in good.signature.fields)
    text = "No remarks."
    return good.write((*good.fields, FieldText(name, str, text, text, good.form.of_text(text))))


def input_repeated(good: GoodReply) -> str | None:
    name = next(iter(good.signature.input_fields), None)
    if good.form is None or not good.fields or name is None:
        return None
    text = "As it was given."
    return good.write((FieldText(name, str, text, text, good.form.of_text(text)), *good.fields))


def reordered(good: GoodReply) -> str | None:
    return good.write(good.fields[::-1]) if len(good.fields) > 1 else None


def one_twice(good: GoodReply) -> str | None:
    return good.write((*good.fields, *good.fields[:1]))


def one_corrected(good: GoodReply) -> str | None:
    """Write a wrong value for a field first, the right value last."""
    drafted = draft(good)
    changed = [right for right, wrong in zip(good.fields, drafted, strict=False) if right is not wrong]
    return good.write((*drafted, *changed)) if changed else None


def emptied(good: GoodReply) -> str | None:
    if good.form is None or not good.fields:
        return None
    last = good.fields[-1]
    return good.write((*good.fields[:-1], replace(last, text=good.form.of_text(""), plain="")))


def renamed(rename: Callable[[str], str]) -> Callable[[GoodReply], str | None]:
    def made(good: GoodReply) -> str | None:
        if all(rename(one.name) == one.name for one in good.fields):
            return None
        return good.write([replace(one, name=rename(one.name)) for one in good.fields])

    return made


def camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join([one[:1].upper() + one[1:] for one in rest])


def title_case(name: str) -> str:
    return " ".join([one[:1].upper() + one[1:] for one in name.split("_")])


def as_json(good: GoodReply) -> str | None:
    if not good.fields or (good.form is not None and good.form.kind == "json"):
        return None
    return json.dumps({one.name: one.plain for one in good.fields}, indent=2, ensure_ascii=False)


def write_markers(good: GoodReply) -> str | None:
    return _write_in_form(good, "markers")


def write_tags(good: GoodReply) -> str | None:
    return _write_in_form(good, "xml")


def _write_in_form(good: GoodReply, kind: ReplyForm) -> str | None:
    if not good.fields or (good.form is not None and good.form.kind == kind):
        return None
    form = FORMS[kind]
    named = [
        form.named(one.name, form.of_text(form.of_value(one.plain, lambda value, in_json: None))) for one in good.fields
    ]
    return form.whole(named)


def labelled(pattern: str) -> Callable[[GoodReply], str | None]:
    """Put each field under a label for people; `pattern` takes `label` and `text`."""

    def made(good: GoodReply) -> str | None:
        parts = [pattern.format(label=title_case(one.name), text=one.text) for one in good.fields]
        return "\n\n".join(parts) if parts else None

    return made


def wrapped(good: GoodReply) -> str | None:
    """Nest all fields under an extra name, as if they were a single output."""
    form = good.form
    if form is None or not good.fields:
        return None
    inner = [form.named(one.name, one.text, form.is_nested(one)) for one in good.fields]
    if form.kind == "xml":
        return form.whole([f"<output>\n{form.whole(inner)}\n</output>"])
    if form.is_json:
        return form.whole([form.named("output", "{" + ", ".join(inner) + "}")])
    return form.whole([form.named("output", ""), *inner])


FIELDS = grouped(
    "fields",
    Mutation("the first field missing", "with many outputs, models forget one", first_missing),
    Mutation("the last field missing", "the model thinks that it is done before it is", last_missing),
    Mutation("a field too many", "models add what they find worth saying", one_too_many),
    Mutation("an input repeated first", "models repeat what they were given before they answer", input_repeated),
    Mutation("in another order", "models answer what they are sure of first", reordered),
    Mutation("a field twice", "models come back to a field at the end", one_twice),
    Mutation("a field corrected at the end", "models write a draft, and then the field again", one_corrected),
    Mutation("the last field empty", "a name without a value, where nothing comes to mind", emptied),
    Mutation("names capitalised", "names written as in a heading", renamed(lambda name: name[:1].upper() + name[1:])),
    Mutation(
        "names as titles",
        "order_number becomes Order Number",
        renamed(lambda name: title_case(name) if "_" in name else name),
    ),
    Mutation("names in camelCase", "order_number becomes orderNumber, as in JavaScript", renamed(camel_case)),
    Mutation(
        "a zero-width space in the names",
        "text that was copied from a web page",
        renamed(lambda name: ZERO_WIDTH + name),
    ),
    Mutation("wrapped in one name more", "the fields below `output`, as in a schema (dspy#8539)", wrapped),
    Mutation("as JSON", "models fall back to JSON, whatever form was asked for", as_json),
    Mutation("as markers", "models that were tuned on dspy's own prompts", write_markers),
    Mutation("as XML tags", "models that were tuned on tags", write_tags),
    Mutation("as labels", "Answer: … on a line, dspy's form of old", labelled("{label}: {text}")),
    Mutation("as headings", "Markdown headings in place of the form", labelled("## {label}\n{text}")),
    Mutation("as bold labels", "**Answer:** … as on a web page", labelled("**{label}:** {text}")),
)
