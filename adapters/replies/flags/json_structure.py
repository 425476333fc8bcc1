"""Flags for the structure of JSON replies: surrounding text, several objects, lists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, get_origin

from adapters.replies.flag import Flag, line, place, shown
from adapters.replies.flags.json_text import begins_without_brace, first_opening, valid_object_at, without_fences
from adapters.replies.flags.verdict import named

if TYPE_CHECKING:
    from adapters.replies.reading import Reading, Span

CLOSING = re.compile(r"[\s,]*[}\]]*(?:\s*[}\]])*")
MOST_MISSING = 20
COLON = re.compile(r"\s*:")
KEY = re.compile(r'"([^"\\]{1,200})"')
LIST = re.compile(r"""\[[\s\[]*+(?:["{\]]|-?\d[\d.eE+\-]*+\s*+[,\]]|(?:true|false|null)\b)""")
FULL_WIDTH = re.compile("[\"'\\]}\\w]\\s?[：，]")


def json_structure(reading: Reading) -> Iterator[Flag]:
    """Yield structural flags for a reply parsed as one JSON object."""
    before, after = _around(reading)
    is_valid = any(one.extract is not None for one in reading.fields.values())
    if not is_valid or before or after:
        yield from _dropped(reading, before, after, fence_is_asked_for=False)
        yield from _several(reading)
        yield from _no_object(reading)
        yield from _broken_keys(reading)
    yield from _keys(reading)


def fenced_json_structure(reading: Reading) -> Iterator[Flag]:
    """Yield structural flags for a reply parsed as a fenced JSON block."""
    yield from _dropped(reading, *_around(reading), fence_is_asked_for=True)
    yield from _keys(reading)


def _around(reading: Reading) -> tuple[str, str]:
    """Return the texts before and after the object, braces excluded, that the parser took or recognised."""
    completion, marked = reading.completion, [span for span in reading.spans if span.kind != "ignored"]
    if not marked:
        return "", ""
    start, end = marked[0].start, marked[-1].end
    if not completion.startswith("{", start):
        opening = completion.rfind("{", 0, start)
        start = start if opening < 0 else opening
    closing = CLOSING.match(completion, end, end + 200)
    return completion[:start].strip(), completion[end if closing is None else closing.end() :].strip()


def _dropped(reading: Reading, before: str, after: str, fence_is_asked_for: bool) -> Iterator[Flag]:
    if "```" in before and not fence_is_asked_for:
        fence = reading.completion.find("```")
        yield Flag("fence-dropped", f"The code fence around the JSON ({line(reading, fence)}) was dropped.")
    for where, text in (("before", without_fences(before)), ("after", without_fences(after))):
        if text.strip("[]{}, \n") and valid_object_at(text, text.find("{")) < 0:
            yield Flag("text-around-dropped", f"The text {where} the JSON object was dropped: {shown(text)}.")


def _several(reading: Reading) -> Iterator[Flag]:
    completion = reading.completion
    first = completion.find("{")
    thinks = completion.find("<think>")
    if 0 <= thinks < first < completion.find("</think>"):
        yield Flag(
            "object-inside-think",
            f"The first {{…}} ({place(reading, first)}) is inside <think>, and the parser takes it: the server did not "
            "separate the thoughts from the answer. Start it with its reasoning parser.",
        )
    end = valid_object_at(completion, first)
    if end < 0 or begins_without_brace(reading):
        return
    following = completion.find("{", end)
    rest = without_fences(completion[end:])
    if rest and not rest.strip("]}, \n"):
        yield Flag("text-around-dropped", f"The text after the JSON object was dropped: {shown(rest)}.")
    if following < 0:
        return
    taken = next((span.start for span in reading.spans if span.kind in ("value", "repaired") and span.field), None)
    if taken is None:
        which = "json_repair chose among them" if reading.ok else "only the first was examined"
    elif taken < end:
        which = "the first was taken"
    else:
        which = "a later object was taken"
    yield Flag(
        "several-objects",
        f"The reply contains more than one {{…}} ({place(reading, first)}, and {place(reading, following)}); {which}.",
    )


def _no_object(reading: Reading) -> Iterator[Flag]:
    completion = reading.completion
    start = first_opening(completion)
    if reading.error is None or reading.error.field not in (None, *_missing(reading)):
        return
    if LIST.match(completion, start) and not completion[:start].strip("`json \n"):
        yield Flag(
            "list-at-the-root",
            "The reply is a JSON list; the parser expects an object {…} with the output fields as its JSON keys, and "
            f"looks at most at the first {{…}} inside the list.{_meant_list(reading)}",
        )
    full_width = FULL_WIDTH.search(completion) if start >= 0 else None
    if full_width:
        yield Flag(
            "full-width-punctuation",
            f"The JSON is written with {full_width.group()[-1]} ({line(reading, full_width.start())}): only the "
            "ASCII : and , separate keys and values.",
        )


def _meant_list(reading: Reading) -> str:
    outputs = reading.signature.output_fields
    wanted = [name for name, one in outputs.items() if len(outputs) == 1 and get_origin(one.annotation) is list]
    return f" It is probably `{wanted[0]}` itself." if wanted else ""


def _broken_keys(reading: Reading) -> Iterator[Flag]:
    """Flag JSON keys of missing outputs that contain a stray quote, such as `"na"me"`."""
    for name in _missing(reading)[:MOST_MISSING]:
        found = _key_with_quotes(name).finditer(reading.completion)
        match = next((one for one in found if one.group().count('"') > 2), None)
        if match is not None:
            where = place(reading, match.start() + match.group().index('"', 1))
            yield Flag(
                "key-broken-by-quote",
                f"The JSON key `{name}` is broken by a quote inside it ({where}): {shown(match.group()[:-1].strip())}.",
                name,
            )


@lru_cache(maxsize=256)
def _key_with_quotes(name: str) -> re.Pattern[str]:
    return re.compile('"' + '"?'.join(map(re.escape, name)) + '"\\s*:')


def _missing(reading: Reading) -> list[str]:
    return [name for name, one in reading.fields.items() if one.state == "missing"]


def _keys(reading: Reading) -> Iterator[Flag]:
    lower = {name.casefold(): name for name in reading.signature.output_fields}
    ignored: dict[str, Span] = {}
    duplicated: set[str] = set()
    for span in reading.spans:
        if span.kind == "duplicate" and span.field and span.field not in duplicated:
            duplicated.add(span.field)
            taken: Any = reading.fields[span.field].value
            yield Flag(
                "duplicate-key-last-wins",
                f'The key "{span.field}" occurs more than once; the last value counts ({shown(taken)}), '
                f"that on {line(reading, span.start)} does not.",
                span.field,
            )
        elif span.kind == "unknown":
            match = KEY.match(reading.completion, span.start)
            if match:
                ignored.setdefault(match.group(1), span)
    for key, span in ignored.items():
        meant = lower.get(key.strip().casefold())
        if meant is not None and not COLON.match(reading.completion, span.start + len(key) + 2):
            yield Flag(
                "key-broken-by-quote",
                f"The JSON key `{meant}` runs into its value ({place(reading, span.start)}): no colon follows it.",
                meant,
            )
        elif meant is not None:
            yield Flag(
                "key-in-another-case",
                f"The key {shown(key)} ({line(reading, span.start)}) is not `{meant}`: keys must match letter by "
                "letter.",
                meant,
            )
    is_refused = reading.form == "fenced json" and reading.error is not None and reading.error.field is None
    if ignored and not is_refused:
        yield Flag(
            "extra-keys-ignored",
            f"The object has JSON keys other than the output fields; they were ignored: {named(list(ignored))}.",
        )
