"""Mutations within a form: almost JSON, almost Chat's markers, XML written like HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

from adapters.late_dataclasses import replace
from adapters.mutations.mutation import GoodReply, grouped
from adapters.replies.forms import FieldText, Object
from adapters.replies.sections import MARKER

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s"{}\[\],:]+|\s+', re.DOTALL)


def tokens_changed(good: GoodReply, change: Callable[[Sequence[str]], Sequence[str]]) -> str | None:
    """Change the tokens of JSON: the whole reply, or each list and object in it."""
    form = good.form
    if isinstance(form, Object):
        document = Object().write(good.fields)
        changed = "".join(change(TOKEN.findall(document)))
        return None if changed == document or not good.fields else form.around(changed)
    fields = []
    for field in good.fields:
        is_json = field.is_container and field.text[:1] in ("{", "[")
        fields.append(replace(field, text="".join(change(TOKEN.findall(field.text)))) if is_json else field)
    return None if [*good.fields] == fields else good.write(fields)


def each_token(good: GoodReply, write: Callable[[str], str]) -> str | None:
    return tokens_changed(good, lambda tokens: [write(one) for one in tokens])


def single_quotes(token: str) -> str:
    if not token.startswith('"'):
        return token
    inner = token[1:-1].replace("'", "\\'").replace('\\"', '"')
    return f"'{inner}'"


def trailing_commas(tokens: Sequence[str]) -> list[str]:
    """Add a comma after the last member of each nonempty list and object."""
    found: list[str] = []
    for token in tokens:
        if token in ("}", "]"):
            last = next(index for index in range(len(found) - 1, -1, -1) if not found[index].isspace())
            if found[last] not in ("{", "["):
                found.insert(last + 1, ",")
        found.append(token)
    return found


def comment(tokens: Sequence[str]) -> list[str]:
    first, *rest = tokens
    on_lines = bool(rest) and "\n" in rest[0]
    return [first, "\n  // the fields that were asked for" if on_lines else "/* as asked */", *rest]


def bare_keys(tokens: Sequence[str]) -> list[str]:
    following = [*tokens[1:], ""]
    return [
        one[1:-1] if after == ":" and one[1:-1].isidentifier() else one
        for one, after in zip(tokens, following, strict=True)
    ]


def and_so_on(tokens: Sequence[str]) -> list[str]:
    *before, last = tokens
    while before and before[-1].isspace():
        before.pop()
    return [*before, ", ...", last] if len(before) > 1 else [*tokens]


def strip_fence(good: GoodReply) -> str | None:
    form = good.form
    if not isinstance(form, Object) or not form.fenced or not good.fields:
        return None
    return Object().write(good.fields)


def document(good: GoodReply, write: Callable[[GoodReply, list[str]], str | None]) -> str | None:
    """Write a JSON reply as another document; `write` gets its members, too."""
    form = good.form
    if not isinstance(form, Object) or not good.fields:
        return None
    written = write(good, [form.named(one.name, one.text) for one in good.fields])
    return None if written is None else form.around(written)


as_object = Object().whole
JSON_SLIPS = grouped(
    "JSON",
    ("single quotes", "Python's notation of a dict", each_token, single_quotes),
    (
        "smart quotes in JSON",
        "word processors and chat windows replace quotes",
        each_token,
        lambda one: f"“{one[1:-1]}”" if one.startswith('"') else one,
    ),
    (
        "full-width punctuation",
        "models trained on Chinese text",
        each_token,
        lambda one: {":": "：", ",": "，"}.get(one, one),
    ),
    ("trailing commas", "JavaScript allows a comma behind the last member", tokens_changed, trailing_commas),
    ("a comment in JSON", "models explain themselves within the object", tokens_changed, comment),
    (
        "Python's words in JSON",
        "True and None in place of true and null",
        each_token,
        lambda one: {"true": "True", "false": "False", "null": "None"}.get(one, one),
    ),
    ("keys without quotes", "JavaScript's notation of an object", tokens_changed, bare_keys),
    ("no commas", "small models lose them between members", each_token, lambda one: "" if one == "," else one),
    ("the last bracket missing", "one closing bracket is forgotten", tokens_changed, lambda tokens: tokens[:-1]),
    (
        "a bracket too many",
        "one closing bracket is written twice",
        tokens_changed,
        lambda tokens: [*tokens, tokens[-1]],
    ),
    ("and so on", "models write ... in place of the rest", tokens_changed, and_so_on),
    (
        "no-break spaces in JSON",
        "text that was copied from a web page",
        each_token,
        lambda one: one.replace(" ", "\u00a0") if one.isspace() else one,
    ),
    (
        "the object in a list",
        "models answer a list where one object was asked for",
        document,
        lambda _, parts: f"[{as_object(parts)}]",
    ),
    (
        "an object for each field",
        "one JSON line a field",
        document,
        lambda _, parts: "\n".join([as_object([one]) for one in parts]) if len(parts) > 1 else None,
    ),
    (
        "printed by Python",
        "a dict on one line, as print() shows it",
        document,
        lambda good, _: repr({one.name: one.plain for one in good.fields}),
    ),
    (
        "assigned to a variable",
        "models that were tuned on code",
        document,
        lambda _, parts: f"answer = {as_object(parts)}",
    ),
    (
        "braces in the prose before",
        "a phrase with {braces} before the object",
        document,
        lambda _, parts: f"With {{question}} filled in: {as_object(parts)}",
    ),
    ("no fence", "the fence that was asked for is left out", strip_fence),
)


END = "[[ ## completed ## ]]"


def markers(good: GoodReply, change: Callable[[str], str]) -> str | None:
    """Change the answer as its form writes it; None for forms other than markers."""
    written = good.write(good.fields)
    return None if written is None or good.form.kind != "markers" else change(written)


def each_marker(good: GoodReply, replacement: str) -> str | None:
    """Replace every marker; `\\1` is the name."""
    return markers(good, lambda text: MARKER.sub(replacement, text))


def inner_break_lost(text: str) -> str:
    """Drop the line break before each marker except the first and the last."""
    for one in reversed(list(re.finditer(rf"\n+(?={MARKER.pattern})", text))[:-1]):
        text = text[: one.start()] + text[one.end() :]
    return text


MARKERS = grouped(
    "markers",
    (
        "values on the marker's line",
        "marker and value on one line (dspy#7955)",
        markers,
        lambda text: re.sub(rf"({MARKER.pattern})\n(?=.)", r"\1 ", text),
    ),
    (
        "no blank lines between",
        "models save line breaks",
        markers,
        lambda text: re.sub(r"\n\n(?=\[\[ ## )", "\n", text),
    ),
    ("markers indented", "an answer below a list item (dspy#9942)", each_marker, r"  [[ ## \1 ## ]]"),
    ("markers in bold", "Markdown around the marker", each_marker, r"**[[ ## \1 ## ]]**"),
    ("markers numbered", "fields as a list", each_marker, r"1. [[ ## \1 ## ]]"),
    ("markers as headings", "### in front of the marker", each_marker, r"### [[ ## \1 ## ]]"),
    ("markers without spaces", "tokens without their spaces", each_marker, r"[[##\1##]]"),
    ("markers in single brackets", "one bracket is dropped on both sides", each_marker, r"[ ## \1 ## ]"),
    ("markers with a third bracket", "[[[ … ]]], as in dspy#1515", each_marker, r"[[[ ## \1 ## ]]]"),
    ("markers with a closing slash", "markers closed as if they were tags", each_marker, r"[[ ## \1 ## /]]"),
    ("markers in full-width brackets", "models trained on Chinese text", each_marker, r"［［ ## \1 ## ］］"),
    ("a colon after the marker", "the marker taken for a label", each_marker, r"[[ ## \1 ## ]]:"),
    (
        "no end marker",
        "the model stops after the last value",
        markers,
        lambda text: text.replace(f"\n\n{END}", "").rstrip(),
    ),
    (
        "a remark in place of the end marker",
        "the model closes as in a chat",
        markers,
        lambda text: text.replace(END, "That should cover it.").rstrip(),
    ),
    (
        "the end marker on the value's line",
        "the line break before it is dropped (dspy#8901)",
        markers,
        lambda text: text.replace(f"\n\n{END}", f" {END}"),
    ),
    (
        "an inner line break lost",
        "the break is lost before an inner marker alone (dspy#8901)",
        markers,
        inner_break_lost,
    ),
    (
        "words after the end marker",
        "the model keeps talking",
        markers,
        lambda text: f"{text.rstrip()}\nThat should cover it.",
    ),
)


def _each_field(good: GoodReply, change: Callable[[FieldText], str], first: int = 0) -> str | None:
    """Write every field from the one at `first` with `change`; XML only."""
    form = good.form
    if not _is_xml(good):
        return None
    kept = [form.named(one.name, one.text, form.is_nested(one)) for one in good.fields[:first]]
    return form.whole([*kept, *map(change, good.fields[first:])])


_last_field = partial(_each_field, first=-1)


def _is_xml(good: GoodReply) -> bool:
    return good.form.kind == "xml" and bool(good.fields)


def _each_text(good: GoodReply, change: Callable[[FieldText], str]) -> str | None:
    """Write every text with `change`; XML only."""
    fields = [replace(one, text=change(one)) if one.is_text else one for one in good.fields]
    return good.write(fields) if _is_xml(good) and fields != [*good.fields] else None


XML_SLIPS = grouped(
    "XML",
    ("CDATA", "models wrap texts in CDATA to be safe", _each_text, lambda one: f"<![CDATA[{one.value}]]>"),
    (
        "an XML declaration",
        "a document begins with <?xml …?>",
        lambda good: f'<?xml version="1.0" encoding="UTF-8"?>\n{good.text}' if _is_xml(good) else None,
    ),
    (
        "an XML comment",
        "models explain themselves within the document",
        lambda good: f"<!-- the fields that were asked for -->\n{good.text}" if _is_xml(good) else None,
    ),
    (
        "<br> in a text",
        "HTML's line break, which is not closed",
        _each_text,
        lambda one: re.sub(r"(?<=[.!?]) ", "<br>", one.text, count=1),
    ),
    (
        "attributes on the tags",
        'type="…" as in a schema',
        _each_field,
        lambda one: f'<{one.name} type="output">{one.text}</{one.name}>',
    ),
    ("spaces in the tags", "< name > as in prose", _each_field, lambda one: f"< {one.name} >{one.text}</ {one.name} >"),
    (
        "the same tag inside",
        "the tag once more around the value",
        _last_field,
        lambda one: f"<{one.name}><{one.name}>{one.text}</{one.name}></{one.name}>",
    ),
    ("a self-closed tag", "a field without a value as one tag", _last_field, lambda one: f"<{one.name}/>"),
    (
        "the last tag not closed",
        "the model stops after the last value",
        _last_field,
        lambda one: f"<{one.name}>\n{one.text}",
    ),
    (
        "closed by another name",
        "</output> closes whatever is open",
        _last_field,
        lambda one: f"<{one.name}>\n{one.text}\n</output>",
    ),
    (
        "closed by an opening tag",
        "the slash is forgotten",
        _last_field,
        lambda one: f"<{one.name}>\n{one.text}\n<{one.name}>",
    ),
    (
        "a namespace on the tags",
        "prefixes as in an enterprise's XML",
        _each_field,
        lambda one: f"<out:{one.name}>{one.text}</out:{one.name}>",
    ),
)
