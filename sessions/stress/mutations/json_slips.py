"""JSON as models write it: in a whole reply of JSON, or in the lists and objects of a reply of another form."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from sessions.stress.forms import FieldText, Object
from sessions.stress.good_replies import GoodReply
from sessions.stress.mutation import Mutation, grouped

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s"{}\[\],:]+|\s+', re.DOTALL)
Tokens = Callable[[Sequence[str]], Sequence[str]]


def in_json(change: Tokens) -> Callable[[GoodReply], str | None]:
    """Changes the tokens of the JSON: of the reply where that is JSON, else of each list and object in it."""

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
    """A comma behind the last member of each list and object that has members."""
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


def without_commas(tokens: Sequence[str]) -> list[str]:
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


def in_a_list(good: GoodReply) -> str | None:
    return _document(good, lambda parts: "[" + _object(parts) + "]")


def one_object_each(good: GoodReply) -> str | None:
    return _document(good, lambda parts: "\n".join([_object([one]) for one in parts])) if len(good.fields) > 1 else None


def assigned(good: GoodReply) -> str | None:
    return _document(good, lambda parts: f"answer = {_object(parts)}")


def braces_in_prose(good: GoodReply) -> str | None:
    return _document(good, lambda parts: f"With {{question}} filled in: {_object(parts)}")


def without_fence(good: GoodReply) -> str | None:
    form = good.form
    if not isinstance(form, Object) or not form.fenced or not good.fields:
        return None
    return Object().write(good.fields)


def _object(parts: Sequence[str]) -> str:
    return Object().whole(parts)


def _document(good: GoodReply, write: Callable[[Sequence[str]], str]) -> str | None:
    """A reply of JSON with another document; `write` gets its members."""
    form = good.form
    if not isinstance(form, Object) or not good.fields:
        return None
    return form.around(write([form.named(one.name, one.text) for one in good.fields]))


JSON_SLIPS = grouped(
    "JSON",
    Mutation("single quotes", "Python's notation of a dict", in_json(single_quotes)),
    Mutation("smart quotes in JSON", "word processors and chat windows replace quotes", in_json(smart_quotes)),
    Mutation("full-width punctuation", "models trained on Chinese text", in_json(full_width)),
    Mutation("trailing commas", "JavaScript allows a comma behind the last member", in_json(trailing_commas)),
    Mutation("a comment in JSON", "models explain themselves within the object", in_json(comment)),
    Mutation("Python's words in JSON", "True and None in place of true and null", in_json(python_words)),
    Mutation("keys without quotes", "JavaScript's notation of an object", in_json(bare_keys)),
    Mutation("no commas", "small models lose them between members", in_json(without_commas)),
    Mutation("the last bracket missing", "one closing bracket is forgotten", in_json(last_bracket_missing)),
    Mutation("a bracket too many", "one closing bracket is written twice", in_json(bracket_too_many)),
    Mutation("and so on", "models write ... where they think that enough is said", in_json(and_so_on)),
    Mutation("no-break spaces in JSON", "text that was copied from a web page", in_json(no_break_spaces)),
    Mutation("the object in a list", "models answer a list where one object was asked for", in_a_list),
    Mutation("an object for each field", "one JSON line a field", one_object_each),
    Mutation("assigned to a variable", "models that were tuned on code", assigned),
    Mutation("braces in the prose before", "a phrase with {braces} before the object", braces_in_prose),
    Mutation("no fence", "the fence that was asked for is left out", without_fence),
)
