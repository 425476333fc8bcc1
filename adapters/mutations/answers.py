"""Mutations of the whole answer (text around it, in its place, lost from it) and of its fields."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from typing import Any

from adapters.late_dataclasses import replace
from adapters.mutations.mutation import GoodReply, draft, grouped, unchanged
from adapters.replies.forms import FORMS, FieldText
from adapters.replies.reading import ReplyForm

LANGUAGES = {"json": "json", "xml": "xml"}
EIGHTHS = 8
TIMES_IN_A_LOOP = 40


def _is_fenced(good: GoodReply) -> bool:
    return good.text.lstrip().startswith("```")


def fenced(good: GoodReply) -> str | None:
    language = LANGUAGES.get(good.form.kind, "text")
    return None if _is_fenced(good) else f"```{language}\n{good.text.strip()}\n```"


def fence_left_open(good: GoodReply) -> str:
    text = good.text.strip()
    return text.removesuffix("```").rstrip() if _is_fenced(good) else f"```{LANGUAGES.get(good.form.kind, '')}\n{text}"


def after_a_draft(good: GoodReply, write: Callable[[str, str], str]) -> str | None:
    """Write an answer with another value, and the answer; None if no value can be changed."""
    written = good.write(draft(good))
    return None if written is None else write(written.strip(), good.text)


def template_first(good: GoodReply) -> str | None:
    """Put the format's own example, with placeholders for values, before the answer."""
    form = good.form
    placeholders = [replace(one, text=form.of_text(f"{{{one.name}}}"), plain="") for one in good.fields]
    template = good.write(placeholders)
    return None if template is None else f"{template.strip()}\n\n{good.text}"


def cut_off(good: GoodReply, eighths: int) -> str:
    text = good.text.strip()
    return text[: len(text) * eighths // EIGHTHS]


def stuck_in_a_loop(good: GoodReply) -> str:
    half = good.text.strip()[: len(good.text) // 2]
    return half + half[-16:] * TIMES_IN_A_LOOP


def tool_call(good: GoodReply) -> str:
    arguments = {one.name: one.plain for one in good.fields}
    call = json.dumps({"name": "final_answer", "arguments": arguments}, ensure_ascii=False)
    return f"<tool_call>\n{call}\n</tool_call>"


def object_around(good: GoodReply, wrap: Callable[[dict[str, Any]], object]) -> str | None:
    """Wrap the fields in another JSON object; None for forms other than JSON."""
    if not good.fields or not good.form.is_json:
        return None
    return json.dumps(wrap({one.name: one.plain for one in good.fields}), ensure_ascii=False)


AROUND = grouped(
    "around the answer",
    ("fenced", "models trained on Markdown wrap every structured answer in a fence", fenced),
    (
        "fenced without a language",
        "the same, where the model does not name the language",
        lambda good: None if _is_fenced(good) else f"```\n{good.text.strip()}\n```",
    ),
    ("a fence left open", "the closing fence is taken for a stop sequence", fence_left_open),
    (
        "a sentence before",
        "chat models open with a phrase, whatever the prompt says",
        lambda good: f"Sure! Here is the answer you asked for:\n\n{good.text}",
    ),
    (
        "a sentence after",
        "chat models close with an offer of more help",
        lambda good: f"{good.text.rstrip()}\n\nI hope this helps! Let me know if you need anything else.",
    ),
    (
        "a thought before",
        "reasoning models leave their <think> block in the text (dspy#7489)",
        lambda good: (
            "<think>\nThe user wants the fields filled in. Let me look at the input first: {it} is 1 < 2.\n"
            f"</think>\n\n{good.text}"
        ),
    ),
    (
        "a draft within the thought",
        "the thought tries the answer's own form first",
        after_a_draft,
        lambda first, text: f"<think>\nA first draft:\n{first}\nNo, wait.\n</think>\n\n{text}",
    ),
    (
        "a thought without its opening",
        "templates put <think> into the prompt, so that only </think> arrives",
        lambda good: f"The user wants the fields filled in.\n</think>\n\n{good.text}",
    ),
    (
        "a draft, then the answer",
        "models correct themselves in the same breath",
        after_a_draft,
        lambda first, text: f"{first}\n\nWait, let me correct that.\n\n{text}",
    ),
    ("the template, then the answer", "small models repeat the format of the prompt first", template_first),
    (
        "said twice",
        "models without an end token in their training say it again",
        lambda good: f"{good.text.rstrip()}\n\n{good.text}",
    ),
    (
        "quoted as mail",
        "an answer within an e-mail: > before every line",
        lambda good: "\n".join([f"> {line}" for line in good.text.rstrip().split("\n")]),
    ),
    (
        "indented",
        "an answer as a code block or below a list item",
        lambda good: "\n".join([f"    {line}" if line else line for line in good.text.rstrip().split("\n")]),
    ),
    (
        "escaped as one string",
        "a gateway encodes the reply as JSON once more",
        lambda good: json.dumps(good.text.strip(), ensure_ascii=False),
    ),
    (
        "an end token",
        "a local server does not stop at the template's end token",
        lambda good: f"{good.text.rstrip()}<|im_end|>",
    ),
    ("a role before", "base models write who speaks", lambda good: f"Assistant: {good.text}"),
    (
        "all on one line",
        "models and gateways drop line breaks (dspy#8379)",
        lambda good: " ".join(good.text.split("\n")).strip(),
    ),
)

CHARACTERS = grouped(
    "characters",
    ("a byte order mark", "a file or proxy puts U+FEFF in front", lambda good: f"\ufeff{good.text}"),
    ("carriage returns", "Windows line ends", lambda good: good.text.replace("\r\n", "\n").replace("\n", "\r\n")),
    ("line separators", "U+2028 in place of line breaks", lambda good: good.text.replace("\n", "\u2028")),
    ("spaces at the line ends", "Markdown's hard line breaks", lambda good: good.text.replace("\n", "  \n")),
    ("escaped for HTML", "a web gateway escapes quotes and angle brackets", lambda good: html.escape(good.text)),
    (
        "terminal colours",
        "a command-line model server prints the reply in colour",
        lambda good: f"\x1b[32m{good.text.rstrip()}\x1b[0m",
    ),
)

NO_WHOLE_ANSWER = grouped(
    "no whole answer",
    *[
        (f"cut off after {eighths}/{EIGHTHS}", "max_tokens ends the reply in mid-sentence", cut_off, eighths)
        for eighths in range(1, EIGHTHS)
    ],
    ("stuck in a loop", "a small model repeats itself until max_tokens", stuck_in_a_loop),
    ("nothing", "an empty reply after a filter or a spent budget of reasoning (dspy#9389)", lambda good: ""),
    (
        "a refusal",
        "safety training refuses a harmless request",
        lambda good: "I'm sorry, but I can't help with that request.",
    ),
    ("a tool call as text", "models tuned for agents call a tool in place of an answer", tool_call),
    (
        "one character",
        "a custom LM returns a text in place of a list of texts (dspy#8577)",
        lambda good: good.text.strip()[:1],
    ),
    (
        "harmony channels",
        "a server leaks the channels of gpt-oss (mlx-lm#1867)",
        lambda good: (
            "<|channel|>analysis<|message|>The user wants the fields filled in.<|end|><|start|>assistant"
            f"<|channel|>final<|message|>{good.text.strip()}<|return|>"
        ),
    ),
    (
        "the schema given back",
        "values under properties, as in the schema (langchain#22189)",
        object_around,
        lambda values: {"type": "object", "properties": values},
    ),
    (
        "JSON in a string",
        "the object as text under a key of its own (dspy#8539)",
        object_around,
        lambda values: {"json": json.dumps(values, ensure_ascii=False)},
    ),
    (
        "a tool wrapper",
        "a provider's tool call leaks around the object (dspy#8264)",
        object_around,
        lambda values: {"type": "function", "name": "json_tool_call", "parameters": values},
    ),
    (
        "the values alone",
        "the model answers the question and forgets the form",
        lambda good: "\n\n".join([one.text for one in good.fields]) if good.fields else None,
    ),
)


ZERO_WIDTH = "\u200b"


def one_too_many(good: GoodReply) -> str | None:
    names = [one for one in ("notes", "remark", "comment_of_the_model") if one not in good.signature.fields]
    return good.write((*good.fields, _text_field(good, names[0], "No remarks."))) if good.fields and names else None


def input_repeated(good: GoodReply) -> str | None:
    name = next(iter(good.signature.input_fields), "")
    return good.write((_text_field(good, name, "As it was given."), *good.fields)) if name and good.fields else None


def _text_field(good: GoodReply, name: str, text: str) -> FieldText:
    return FieldText(name, str, text, text, good.form.of_text(text))


def one_corrected(good: GoodReply) -> str | None:
    """Write a wrong value for a field first, the right value last."""
    drafted = draft(good)
    changed = [right for right, wrong in zip(good.fields, drafted, strict=False) if right is not wrong]
    return good.write((*drafted, *changed)) if changed else None


def emptied(good: GoodReply) -> str | None:
    emptied = [replace(one, text=good.form.of_text(""), plain="") for one in good.fields[-1:]]
    return good.write((*good.fields[:-1], *emptied))


def renamed(good: GoodReply, rename: Callable[[str], str]) -> str | None:
    if all(rename(one.name) == one.name for one in good.fields):
        return None
    return good.write([replace(one, name=rename(one.name)) for one in good.fields])


def title_case(name: str) -> str:
    return " ".join([one[:1].upper() + one[1:] for one in name.split("_")])


def as_json(good: GoodReply) -> str | None:
    if not good.fields or good.form.kind == "json":
        return None
    return json.dumps({one.name: one.plain for one in good.fields}, indent=2, ensure_ascii=False)


def in_form(good: GoodReply, kind: ReplyForm) -> str | None:
    if not good.fields or good.form.kind == kind:
        return None
    form = FORMS[kind]
    return form.whole([form.named(one.name, form.of_text(form.of_value(one.plain, unchanged))) for one in good.fields])


def labelled(good: GoodReply, pattern: str) -> str | None:
    """Put each field under a label for people; `pattern` takes `label` and `text`."""
    parts = [pattern.format(label=title_case(one.name), text=one.text) for one in good.fields]
    return "\n\n".join(parts) if parts else None


def wrapped(good: GoodReply) -> str | None:
    """Nest all fields under an extra name, as if they were a single output."""
    form = good.form
    if not good.fields:
        return None
    inner = [form.named(one.name, one.text, form.is_nested(one)) for one in good.fields]
    if form.kind == "xml":
        return form.whole([f"<output>\n{form.whole(inner)}\n</output>"])
    if form.is_json:
        return form.whole([form.named("output", "{" + ", ".join(inner) + "}")])
    return form.whole([form.named("output", ""), *inner])


FIELDS = grouped(
    "fields",
    ("the first field missing", "with many outputs, models forget one", lambda good: good.write(good.fields[1:])),
    (
        "the last field missing",
        "the model thinks that it is done before it is",
        lambda good: good.write(good.fields[:-1]),
    ),
    ("a field too many", "models add what they find worth saying", one_too_many),
    ("an input repeated first", "models repeat what they were given before they answer", input_repeated),
    (
        "in another order",
        "models answer what they are sure of first",
        lambda good: good.write(good.fields[::-1]) if len(good.fields) > 1 else None,
    ),
    (
        "a field twice",
        "models come back to a field at the end",
        lambda good: good.write((*good.fields, *good.fields[:1])),
    ),
    ("a field corrected at the end", "models write a draft, and then the field again", one_corrected),
    ("the last field empty", "a name without a value, where nothing comes to mind", emptied),
    ("names capitalised", "names written as in a heading", renamed, lambda name: name[:1].upper() + name[1:]),
    (
        "names as titles",
        "order_number becomes Order Number",
        renamed,
        lambda name: title_case(name) if "_" in name else name,
    ),
    (
        "names in camelCase",
        "order_number becomes orderNumber, as in JavaScript",
        renamed,
        lambda name: re.sub("_+(.?)", lambda found: found[1].upper(), name),
    ),
    (
        "a zero-width space in the names",
        "text that was copied from a web page",
        renamed,
        lambda name: ZERO_WIDTH + name,
    ),
    ("wrapped in one name more", "the fields below `output`, as in a schema (dspy#8539)", wrapped),
    ("as JSON", "models fall back to JSON, whatever form was asked for", as_json),
    ("as markers", "models that were tuned on dspy's own prompts", in_form, "markers"),
    ("as XML tags", "models that were tuned on tags", in_form, "xml"),
    ("as labels", "Answer: … on a line, dspy's form of old", labelled, "{label}: {text}"),
    ("as headings", "Markdown headings in place of the form", labelled, "## {label}\n{text}"),
    ("as bold labels", "**Answer:** … as on a web page", labelled, "**{label}:** {text}"),
)
