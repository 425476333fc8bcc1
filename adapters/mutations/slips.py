"""Mutations within a form: almost JSON, almost Chat's markers, XML written like HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from adapters.mutations.mutation import GoodReply, Mutation, grouped
from adapters.replies.forms import FieldText, Object
from adapters.replies.sections import MARKER

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s"{}\[\],:]+|\s+', re.DOTALL)
Tokens = Callable[[Sequence[str]], Sequence[str]]


def write_json_value(change: Tokens) -> Callable[[GoodReply], str | None]:
    """Change the tokens of JSON: the whole reply, or each list and object in it."""

    def text_of(text: str) -> str:
        return "".join(change(TOKEN.findall(text)))

    def made(good: GoodReply) -> str | None:
        form = good.form
        if isinstance(form, Object):
            document = Object().write(good.fields)
            changed = text_of(document)
            return None if changed == document or not good.fields else form.around(changed)
        if form is None or not any(_is_json(one) for one in good.fields):
            return None
        fields = [replace(one, text=text_of(one.text)) if _is_json(one) else one for one in good.fields]
        return None if [*good.fields] == fields else good.write(fields)

    return made


def _is_json(field: FieldText) -> bool:
    return field.is_container and field.text[:1] in ("{", "[")


def single_quotes(tokens: Sequence[str]) -> list[str]:
    def quoted(token: str) -> str:
        inner = token[1:-1].replace("'", "\\'").replace('\\"', '"')
        return f"'{inner}'"

    return [quoted(one) if one.startswith('"') else one for one in tokens]


def smart_quotes(tokens: Sequence[str]) -> list[str]:
    return [f"“{one[1:-1]}”" if one.startswith('"') else one for one in tokens]


def full_width(tokens: Sequence[str]) -> list[str]:
    return [{":": "：", ",": "，"}.get(one, one) for one in tokens]


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


def python_words(tokens: Sequence[str]) -> list[str]:
    return [{"true": "True", "false": "False", "null": "None"}.get(one, one) for one in tokens]


def bare_keys(tokens: Sequence[str]) -> list[str]:
    following = [*tokens[1:], ""]
    return [
        one[1:-1] if after == ":" and one[1:-1].isidentifier() else one
        for one, after in zip(tokens, following, strict=True)
    ]


def drop_commas(tokens: Sequence[str]) -> list[str]:
    return [one for one in tokens if one != ","]


def last_bracket_missing(tokens: Sequence[str]) -> list[str]:
    return [*tokens[:-1]]


def bracket_too_many(tokens: Sequence[str]) -> list[str]:
    return [*tokens, tokens[-1]]


def and_so_on(tokens: Sequence[str]) -> list[str]:
    *before, last = tokens
    while before and before[-1].isspace():
        before.pop()
    return [*before, ", ...", last] if len(before) > 1 else [*tokens]


def no_break_spaces(tokens: Sequence[str]) -> list[str]:
    return [one.replace(" ", "\u00a0") if one.isspace() else one for one in tokens]


def wrap_in_list(good: GoodReply) -> str | None:
    return _document(good, lambda parts: "[" + _object(parts) + "]")


def printed_by_python(good: GoodReply) -> str | None:
    return _document(good, lambda parts: repr({one.name: one.plain for one in good.fields}))


def one_object_each(good: GoodReply) -> str | None:
    return _document(good, lambda parts: "\n".join([_object([one]) for one in parts])) if len(good.fields) > 1 else None


def assigned(good: GoodReply) -> str | None:
    return _document(good, lambda parts: f"answer = {_object(parts)}")


def braces_in_prose(good: GoodReply) -> str | None:
    return _document(good, lambda parts: f"With {{question}} filled in: {_object(parts)}")


def strip_fence(good: GoodReply) -> str | None:
    form = good.form
    if not isinstance(form, Object) or not form.fenced or not good.fields:
        return None
    return Object().write(good.fields)


def _object(parts: Sequence[str]) -> str:
    return Object().whole(parts)


def _document(good: GoodReply, write: Callable[[Sequence[str]], str]) -> str | None:
    """Write a JSON reply as another document; `write` gets its members."""
    form = good.form
    if not isinstance(form, Object) or not good.fields:
        return None
    return form.around(write([form.named(one.name, one.text) for one in good.fields]))


JSON_SLIPS = grouped(
    "JSON",
    Mutation("single quotes", "Python's notation of a dict", write_json_value(single_quotes)),
    Mutation("smart quotes in JSON", "word processors and chat windows replace quotes", write_json_value(smart_quotes)),
    Mutation("full-width punctuation", "models trained on Chinese text", write_json_value(full_width)),
    Mutation("trailing commas", "JavaScript allows a comma behind the last member", write_json_value(trailing_commas)),
    Mutation("a comment in JSON", "models explain themselves within the object", write_json_value(comment)),
    Mutation("Python's words in JSON", "True and None in place of true and null", write_json_value(python_words)),
    Mutation("keys without quotes", "JavaScript's notation of an object", write_json_value(bare_keys)),
    Mutation("no commas", "small models lose them between members", write_json_value(drop_commas)),
    Mutation("the last bracket missing", "one closing bracket is forgotten", write_json_value(last_bracket_missing)),
    Mutation("a bracket too many", "one closing bracket is written twice", write_json_value(bracket_too_many)),
    Mutation("and so on", "models write ... where they think that enough is said", write_json_value(and_so_on)),
    Mutation("no-break spaces in JSON", "text that was copied from a web page", write_json_value(no_break_spaces)),
    Mutation("the object in a list", "models answer a list where one object was asked for", wrap_in_list),
    Mutation("an object for each field", "one JSON line a field", one_object_each),
    Mutation("printed by Python", "a dict on one line, as print() shows it", printed_by_python),
    Mutation("assigned to a variable", "models that were tuned on code", assigned),
    Mutation("braces in the prose before", "a phrase with {braces} before the object", braces_in_prose),
    Mutation("no fence", "the fence that was asked for is left out", strip_fence),
)


END = "[[ ## completed ## ]]"


def each_marker(replacement: str) -> Callable[[GoodReply], str | None]:
    """Replace every marker; `\\1` is the name."""

    def made(good: GoodReply) -> str | None:
        return _add_markers(good, lambda text: MARKER.sub(replacement, text))

    return made


def _add_markers(good: GoodReply, change: Callable[[str], str]) -> str | None:
    """Change the answer as its form writes it; None for forms other than markers."""
    written = good.write(good.fields)
    return None if written is None or good.form is None or good.form.kind != "markers" else change(written)


def values_on_the_line(good: GoodReply) -> str | None:
    return _add_markers(good, lambda text: re.sub(rf"({MARKER.pattern})\n(?=.)", r"\1 ", text))


def inner_break_lost(good: GoodReply) -> str | None:
    """Drop the line break before each marker except the first and the last."""

    def change(text: str) -> str:
        found = list(re.finditer(rf"\n+(?={MARKER.pattern})", text))[:-1]
        for one in reversed(found):
            text = text[: one.start()] + text[one.end() :]
        return text

    return _add_markers(good, change)


def no_end(good: GoodReply) -> str | None:
    return _add_markers(good, lambda text: text.replace(f"\n\n{END}", "").rstrip())


def end_on_the_line(good: GoodReply) -> str | None:
    return _add_markers(good, lambda text: text.replace(f"\n\n{END}", f" {END}"))


def words_after_end(good: GoodReply) -> str | None:
    return _add_markers(good, lambda text: f"{text.rstrip()}\nThat should cover it.")


def remark_for_end(good: GoodReply) -> str | None:
    return _add_markers(good, lambda text: text.replace(END, "That should cover it.").rstrip())


def no_blank_lines(good: GoodReply) -> str | None:
    return _add_markers(good, lambda text: re.sub(r"\n\n(?=\[\[ ## )", "\n", text))


MARKERS = grouped(
    "markers",
    Mutation("values on the marker's line", "marker and value on one line (dspy#7955)", values_on_the_line),
    Mutation("no blank lines between", "models save line breaks", no_blank_lines),
    Mutation("markers indented", "an answer below a list item (dspy#9942)", each_marker(r"  [[ ## \1 ## ]]")),
    Mutation("markers in bold", "Markdown around the marker", each_marker(r"**[[ ## \1 ## ]]**")),
    Mutation("markers numbered", "fields as a list", each_marker(r"1. [[ ## \1 ## ]]")),
    Mutation("markers as headings", "### in front of the marker", each_marker(r"### [[ ## \1 ## ]]")),
    Mutation("markers without spaces", "tokens without their spaces", each_marker(r"[[##\1##]]")),
    Mutation("markers in single brackets", "one bracket is dropped on both sides", each_marker(r"[ ## \1 ## ]")),
    Mutation("markers with a third bracket", "[[[ … ]]], as in dspy#1515", each_marker(r"[[[ ## \1 ## ]]]")),
    Mutation("markers with a closing slash", "markers closed as if they were tags", each_marker(r"[[ ## \1 ## /]]")),
    Mutation("markers in full-width brackets", "models trained on Chinese text", each_marker(r"［［ ## \1 ## ］］")),
    Mutation("a colon after the marker", "the marker taken for a label", each_marker(r"[[ ## \1 ## ]]:")),
    Mutation("no end marker", "the model stops after the last value", no_end),
    Mutation("a remark in place of the end marker", "the model closes as in a chat", remark_for_end),
    Mutation("the end marker on the value's line", "the line break before it is dropped (dspy#8901)", end_on_the_line),
    Mutation(
        "an inner line break lost", "the break is lost before an inner marker alone (dspy#8901)", inner_break_lost
    ),
    Mutation("words after the end marker", "the model goes on talking", words_after_end),
)


def _each_field(change: Callable[[FieldText], str]) -> Callable[[GoodReply], str | None]:
    """Write every field with `change`; XML only."""

    def made(good: GoodReply) -> str | None:
        return good.form.whole([change(one) for one in good.fields]) if _is_xml(good) and good.form else None

    return made


def _last_field(change: Callable[[FieldText], str]) -> Callable[[GoodReply], str | None]:
    """Write the last field with `change`; XML only."""

    def made(good: GoodReply) -> str | None:
        form = good.form
        if form is None or not _is_xml(good):
            return None
        *before, last = good.fields
        return form.whole([*[form.named(one.name, one.text, form.is_nested(one)) for one in before], change(last)])

    return made


def _is_xml(good: GoodReply) -> bool:
    return good.form is not None and good.form.kind == "xml" and bool(good.fields)


def wrap_in_cdata(good: GoodReply) -> str | None:
    """Put texts unescaped into CDATA."""
    if not _is_xml(good):
        return None
    fields = [replace(one, text=f"<![CDATA[{one.value}]]>") if one.is_text else one for one in good.fields]
    return None if fields == [*good.fields] else good.write(fields)


def declared(good: GoodReply) -> str | None:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{good.text}' if _is_xml(good) else None


def commented(good: GoodReply) -> str | None:
    return f"<!-- the fields that were asked for -->\n{good.text}" if _is_xml(good) else None


def line_break_tags(good: GoodReply) -> str | None:
    """Replace the space after a text's first sentence by `<br>`."""
    if not _is_xml(good):
        return None
    fields = [
        replace(one, text=re.sub(r"(?<=[.!?]) ", "<br>", one.text, count=1)) if one.is_text else one
        for one in good.fields
    ]
    return None if fields == [*good.fields] else good.write(fields)


XML_SLIPS = grouped(
    "XML",
    Mutation("CDATA", "models wrap texts in CDATA to be safe", wrap_in_cdata),
    Mutation("an XML declaration", "a document begins with <?xml …?>", declared),
    Mutation("an XML comment", "models explain themselves within the document", commented),
    Mutation("<br> in a text", "HTML's line break, which is not closed", line_break_tags),
    Mutation(
        "attributes on the tags",
        'type="…" as in a schema',
        _each_field(lambda one: f'<{one.name} type="output">{one.text}</{one.name}>'),
    ),
    Mutation(
        "spaces in the tags",
        "< name > as in prose",
        _each_field(lambda one: f"< {one.name} >{one.text}</ {one.name} >"),
    ),
    Mutation(
        "the same tag inside",
        "the tag once more around the value",
        _last_field(lambda one: f"<{one.name}><{one.name}>{one.text}</{one.name}></{one.name}>"),
    ),
    Mutation("a self-closed tag", "a field without a value as one tag", _last_field(lambda one: f"<{one.name}/>")),
    Mutation(
        "the last tag not closed",
        "the model stops after the last value",
        _last_field(lambda one: f"<{one.name}>\n{one.text}"),
    ),
    Mutation(
        "closed by another name",
        "</output> closes whatever is open",
        _last_field(lambda one: f"<{one.name}>\n{one.text}\n</output>"),
    ),
    Mutation(
        "closed by an opening tag",
        "the slash is forgotten",
        _last_field(lambda one: f"<{one.name}>\n{one.text}\n<{one.name}>"),
    ),
    Mutation(
        "a namespace on the tags",
        "prefixes as in an enterprise's XML",
        _each_field(lambda one: f"<out:{one.name}>{one.text}</out:{one.name}>"),
    ),
)
