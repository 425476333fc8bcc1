"""Flags for what json_repair repaired, lost or invented."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from json import dumps, loads
from math import inf
from typing import TYPE_CHECKING, Any

from adapters.replies.flag import Flag, place, shown
from adapters.replies.flags.json_text import (
    ABBREVIATED,
    JsonText,
    begins_without_brace,
    keys_inside,
    lost_words,
    valid_object_at,
    with_escapes,
    without_fences,
)
from adapters.replies.reading import Detector, sought
from adapters.replies.sections import without_thinking
from adapters.types.recognition import END, START
from adapters.values.plain_json import parts_of

if TYPE_CHECKING:
    from adapters.replies.reading import FieldReading, Reading
    from adapters.values.plain_json import Step

END_OF_JSON = re.compile(r"['\"]\s*[\]}][\]}\s]*\Z")
LONGEST_END = 40
VALUE_ABOVE = re.compile(r"[ \t]*\n[^\[\]{}]*\Z")
"""The rest after a value: nothing else on its last line, and no brackets below it."""
THOUSANDS = re.compile(r"\d,\d{3}(?!\d)")
KEY_OF_WORDS = re.compile(r"[,{]\s*[A-Za-z]\w* +([A-Za-z]\w*)\s*:")
PERCENT = re.compile(r"\d\s?%")
ESCAPED_TWICE = re.compile(r'(?<!\\)(?:\\\\)+"\s*\Z')
TO_THE_END = re.compile(r"[^\s,}\]]+")
"""The rest of a value without quotes that json_repair cut at a colon."""
OPENING_SINGLE = re.compile(r"(?<![^\s({\[:,])'(?=\w)")
NEXT_IN_SINGLE = re.compile(r"\s*,\s*'")
CURLY_IN_TEXT = re.compile("”\\s*['\"]")
"""A curly quote within a text that a straight one closes, as in Swedish and Polish, or for inches."""
PART_OF_AN_ESCAPE = re.compile(
    r"(?<!\\)\\u(?:u+[0-9a-fA-F]{4}|\{[0-9a-fA-F]{4,6}\}|(?=[a-fA-F]{0,2}\d)[0-9a-fA-F]{1,3}(?![0-9A-Za-z]))"
)
"""An escape of one character with too few digits, too many u, or in braces as in JavaScript."""
BACKTICKS = re.compile("`{1,3}")
ESCAPED_END = re.compile(r'\w[^"\\\n]?\\"\s*,[^\S\n]*\n\s*"(?!\s*[,}\]])')
"""An escaped quote where a text ends its line, before the next JSON key or item."""
ESCAPED_QUOTE = re.compile(r'\\+"')
PIECE = r"""(?:"(?:[^"\\]|\\.)*+"|'(?:[^'\\\n]|\\.)*+')"""
IN_PIECES = re.compile(rf"""(?<!\\)"\s*:\s*{PIECE}(\s*\+\s*)(?:{PIECE}|[A-Za-z_][\w.()\[\]]*+)\s*[+,}}\]]""", re.DOTALL)
"""A text that goes on with + and another text or a name, as in a program."""
JSON_SIGN = re.compile(r'["{}\[\]]')
SENTENCE_ENDS = (".", "!", "?", "…", "。", "！", "？")
SHORTEST_PROSE = 20
AT_BOTH_ENDS = re.compile(r'(?<!\\)"\\"((?:[^"\\]|\\[^"])*+)\\""')
"""A JSON text within quotes of its own."""
MOST_SHOWN = 5


def repaired_json(reading: Reading) -> Iterator[Flag | Detector]:
    """Yield flags for each json_repair step, on the whole reply or on a field's text."""
    document: Step | None = None
    for field in reading.fields.values():
        for step in field.coercions:
            if step.rule != "json_repair" or type(step.before) is not str:
                continue
            if step.path and document is None:
                document = step
                yield from _whole(reading, step.before)
            if step.path:
                yield from _member(reading, field, step)
            else:
                yield from _field(reading, field, step)


def _whole(reading: Reading, text: str) -> Iterator[Flag | Detector]:
    if begins_without_brace(reading):
        yield Flag(
            "json-repaired", "The { before the object is missing; json_repair parsed the reply as if it were there."
        )
        return
    if valid_object_at(text, text.find("{")) >= 0:
        return
    answer = "" if text.lstrip().startswith("{") else without_thinking(text) or ""
    if valid_object_at(answer, answer.find("{")) >= 0:
        said = (
            "The answer is valid JSON, but braces in the thoughts above are not: json_repair parsed both as one text."
        )
        yield Flag("json-repaired", said)
        return
    json = JsonText(text)
    at = 0 if json.complaint is None else json.complaint[1]
    follows_a_key = text[max(0, at - 20) : at].rstrip(" ").endswith(":")  # unlike a fence closed on a new line
    if json.is_cut_off and not (follows_a_key and reading.ok) and _is_prose(text, at):
        said = f"The model breaks off its JSON and goes on in prose ({_place_in(reading, text, at)})"
        yield Flag("json-broken-off", f"{said}: {shown(text[at:].strip())}.")
    elif json.is_cut_off:
        where = _place_in(reading, text, max(0, len(text.rstrip()) - 1))
        said = f"The JSON ends in the middle ({where}): json_repair closed what was open."
        yield Flag("cut-off-json-completed", said)
    yield from sought(reading, partial(_wrong_bracket, json=json), are_causes=not reading.ok)
    goes_on = text[at : at + 1] not in (*',:}]"', "")  # a quote begins another text: a comma is missing
    twice = ESCAPED_TWICE.search(text, max(0, at - LONGEST_END), at) if goes_on else None
    misread = list(_misread(reading, json, is_twice=twice is not None)) if json.unescaped_quotes else []
    if twice is not None and (misread or not reading.ok or not json.unescaped_quotes):
        where = _place_in(reading, text, twice.start())
        said = f"A quote has two backslashes ({where}): they mean a backslash, so the quote ends the text."
        yield Flag("quote-escaped-twice", said)
    if follows_a_key and (ticks := BACKTICKS.match(text, at)):
        where = _place_in(reading, text, at)
        said = f"A text begins with {ticks.group()} instead of a quote ({where}): json_repair guessed where it ends."
        yield Flag("text-in-backticks", said)
    if follows_a_key and (escaped := ESCAPED_QUOTE.match(text, at)):
        where = _place_in(reading, text, at)
        said = f"The quotes around a text have backslashes, {escaped.group()} ({where}), as only quotes inside it have"
        yield Flag("quotes-escaped", f"{said}: json_repair guessed where it ends.", _field_at(reading, text, at))
    elif '\\"' in text and (closing := ESCAPED_END.search(text)):
        at = closing.start() + closing.group().index("\\")
        said = f'The closing quote of a text has a backslash, \\" ({_place_in(reading, text, at)})'
        yield Flag("quotes-escaped", f"{said}: json_repair guessed where it ends.", _field_at(reading, text, at))
    if "+" in text and (pieces := IN_PIECES.search(text)):
        where = _place_in(reading, text, pieces.start(1))
        said = f"A text is put together with + ({where}), as in a program; JSON has no +"
        said = f"{said}, so signs of the program are in the value, or parts are lost."
        yield Flag("text-in-pieces", said, _field_at(reading, text, pieces.start(1)))
    elif twice is None:
        yield from misread
    yield partial(_why, json=json)
    yield from _abbreviated(reading, json)
    yield partial(_of_words, json=json)


def _is_prose(text: str, at: int) -> bool:
    """Return whether the rest of a text is sentences without a sign of JSON."""
    has_end = text[-LONGEST_END:].rstrip().endswith(SENTENCE_ENDS) and len(text) > at + SHORTEST_PROSE
    return has_end and text[at].isalpha() and JSON_SIGN.search(text, at) is None


def _wrong_bracket(reading: Reading, json: JsonText) -> Iterator[Flag]:
    wrong = None if json.unescaped_quotes or json.is_cut_off else json.wrong_bracket
    if wrong is not None:
        said = f"A {json.text[wrong[0]]} appears where {wrong[1]} is expected"
        said = f"{said} ({_place_in(reading, json.text, wrong[0])})"
        yield Flag("wrong-bracket", f"{said}: json_repair guessed where the list or object ends.")


def _of_words(reading: Reading, json: JsonText) -> Iterator[Flag]:
    """Flag JSON keys of several words without quotes."""
    for match in KEY_OF_WORDS.finditer(json.outside):
        if match.group(1) in reading.signature.output_fields:
            yield Flag(
                "key-of-several-words",
                f"{shown(match.group()[1:].strip())} was parsed as the JSON key `{match.group(1)}`: of several words "
                "without quotes, only the last counts.",
                match.group(1),
            )


def _misread(reading: Reading, json: JsonText, is_twice: bool) -> Iterator[Flag]:
    """Flag values that unescaped quotes changed, where one backslash before each makes the JSON valid."""
    quotes, text = json.unescaped_quotes, json.text
    if any(not text[one + 1 : other].strip() for one, other in pairwise(quotes)):
        return  # two texts without a comma between them
    escaped = text.replace('\\\\"', '\\"') if is_twice else with_escapes(text, quotes)
    meant: Any = _loaded(escaped[json.start : valid_object_at(escaped, json.start)])
    for name, field in reading.fields.items() if isinstance(meant, dict) else ():
        found = field.coercions[0].after if field.coercions else None
        if field.state in ("read", "failed") and name in meant and found != meant[name]:
            if repr(_loaded(field.raw or "")) == repr(meant[name]):
                continue  # no quote is wrong in it: json_repair knows fewer escapes, and no NaN
            if isinstance(found, list) and _loaded(AT_BOTH_ENDS.sub(r'"\1"', dumps(meant[name]))) == found:
                continue  # each item has two quotes at both ends, and needs one
            where = _place_in(reading, text, quotes[0])
            said = f"A quote inside a text has no backslash ({where}), so json_repair read `{name}` as {shown(found)}"
            yield Flag("quote-misread", f"{said}, not as {shown(meant[name])}.", name)


def _why(reading: Reading, json: JsonText) -> Iterator[Flag]:
    # A fence around the object is dropped before it is parsed; its mistakes are inside.
    seen, quotes = ", ".join([one for one in json.oddities if one != "a code fence"]), json.unescaped_quotes
    complaint = ("", quotes[0]) if quotes else json.complaint
    where = ""
    if complaint is not None:
        said = f"{complaint[0]}, " if complaint[0] else ""
        where = f" ({said}{_place_in(reading, json.text, complaint[1])})"
    found = f": it has {seen}" if seen else ""
    said = f"The reply is not valid JSON{where}{found}; json_repair rewrote it before it was parsed."
    yield Flag("json-repaired", said)


def _place_in(reading: Reading, text: str, at: int) -> str:
    """Describe the place of an offset in a part of the reply."""
    return place(reading, _offset_of(reading, text) + at)


def _offset_of(reading: Reading, text: str) -> int:
    """Return where a part of the reply begins."""
    return max(0, reading.completion.find(text[:200])) if text != reading.completion else 0


def _field_at(reading: Reading, text: str, at: int) -> str | None:
    """Return the output around an offset in a part of the reply."""
    at += _offset_of(reading, text)
    return next((one.name for one in reading.fields.values() if one.place and one.place[0] <= at < one.place[1]), None)


def _abbreviated(reading: Reading, json: JsonText, name: str | None = None) -> Iterator[Flag]:
    text = json.text
    match = ABBREVIATED.search(text) if ABBREVIATED.search(json.outside) else None
    if match is not None:
        dots = "…" if "…" in match.group() else "..."
        where = _place_in(reading, text, match.start() + match.group().index(dots))
        whose = f"The value of `{name}`" if name else "The JSON"
        name = name or _field_at(reading, reading.completion, reading.completion.find(match.group()))
        yield Flag(
            "list-abbreviated", f"{whose} is abbreviated with {dots} ({where}): the model left out a part.", name
        )


def _member(reading: Reading, field: FieldReading, step: Step) -> Iterator[Flag | Detector]:
    name = field.name
    if is_invented(reading, field, step):
        yield Flag(
            "value-invented",
            f"The reply has no readable value for `{name}`; json_repair put an empty text there.",
            name,
        )
    is_cut = field.raw is not None and field.raw.endswith(":")
    rest = TO_THE_END.match(reading.completion, field.place[1]) if is_cut and field.place else None
    if rest is not None:
        said = f"{shown(rest.group())} of {shown(f'{field.raw}{rest.group()}')} is not in the value"
        yield Flag("text-lost-in-repair", f"json_repair left out a part of `{name}`: {said}.", name)
    elif field.raw and field.state == "read":
        losses = partial(_losses, name=name, json=JsonText(field.raw), after=step.after)
        yield from sought(reading, losses, are_causes=reading.ok)
        part = PART_OF_AN_ESCAPE.search(field.raw) if "\\u" in field.raw and ":\\" not in field.raw else None
        if part is not None:
            said = f"json_repair left {part[0]} in `{name}`: it is not a whole escape, so its character is lost."
            yield Flag("text-lost-in-repair", said, name)
    if rest is None and field.state == "read" and step.after:
        yield from _wrong_ends(field, step)
    elif step.after == "" and '"""' in step.before:
        yield Flag(
            "text-lost-in-repair",
            f'Text in triple quotes is lost: json_repair parsed """ as an empty text, so `{name}` is empty.',
            name,
        )


def _wrong_ends(field: FieldReading, step: Step) -> Iterator[Flag]:
    """Flag texts that end with a quote which was meant to close them, or with the end of the JSON."""
    name, given = f"`{field.name}`", field.raw or step.before
    end = END_OF_JSON.search(step.before[-LONGEST_END:]) if field.raw else None
    texts = [one for one in parts_of(step.after) if isinstance(one, str)]
    found = [one for one in texts if end and one.endswith(end[0])]
    if found:
        said = f"json_repair took the end of the JSON into {name}, {shown(found[0])}: a quote is not JSON's, or is"
        yield Flag("value-holds-the-end", f"{said} missing.", field.name)
    elif "”" in given and (curly := _ending_curly(field, step.after)) is not None:
        said = f"{name} ends with the curly quote that was meant to close it ({shown(curly[-LONGEST_END:])})"
        yield Flag("value-holds-the-end", f"{said}: JSON has only straight quotes.", field.name)
    else:
        with_single = [one for one in texts if one[-1:] == "'" and OPENING_SINGLE.search(one) is None]
        for ending in [one[-LONGEST_END:] for one in with_single[:MOST_SHOWN]]:
            at = step.before.find(ending)
            if at >= 0 and NEXT_IN_SINGLE.match(step.before, at + len(ending)):
                said = f"{name} ends with the single quote that was meant to close it ({shown(ending)})"
                yield Flag("value-holds-the-end", f'{said}: JSON has only the quote ".', field.name)
                break


def _ending_curly(field: FieldReading, after: object) -> str | None:
    """Return the text in a value that a curly quote was meant to close."""
    start, end = field.place or (0, len(field.completion))
    if CURLY_IN_TEXT.search(field.completion, start, end + 1):
        return None
    texts = [one for one in parts_of(after) if isinstance(one, str)]
    return next((one for one in texts if one.endswith("”") and "“" not in one), None)


def is_invented(reading: Reading, field: FieldReading, step: Step) -> bool:
    """Return whether a repair put an empty text where the reply has no value."""
    if step.after != "" or field.raw or not step.path:
        return False
    return f'"{field.name}": ""' not in reading.completion.replace("\\", "")


def _field(reading: Reading, field: FieldReading, step: Step) -> Iterator[Flag | Detector]:
    name, text, after = field.name, step.before, step.after
    json = JsonText(text)
    start, end = json.start, json.end
    if end < 0:
        if isinstance(after, list | dict) and text.lstrip()[:1] not in ("[", "{", "`", '"', "'", "("):
            yield _from_prose(name, after, text)
        elif isinstance(after, list | dict):
            yield from _mended(name, json, reading.completion.rstrip().endswith((field.raw or "").rstrip()))
            yield from _abbreviated(reading, json, name)
            if field.state == "read":
                yield from sought(reading, partial(_losses, name=name, json=json, after=after), are_causes=reading.ok)
        return
    rest = text[end:].strip().lstrip("]}, \n")
    if rest[:1] in ("[", "{"):
        first = _loaded(text[start:end])
        is_joined = isinstance(after, list) and first in after and first != after
        what = "json_repair made one list of them" if is_joined else f"only {shown(after)} was taken"
        at = reading.completion.find(rest[:LONGEST_END], field.place[0] if field.place else 0)
        where = f" (the second: {place(reading, at)})" if at >= 0 else ""
        yield Flag("several-values-one-taken", f"`{name}` has several values in a row{where}; {what}.", name)
        return
    around = without_fences(f"{text[:start]} {text[end:]}".replace(START, "").replace(END, ""))
    if has_open_quote(text):
        return  # the brackets belong to what follows the value
    if around and VALUE_ABOVE.match(text[end:]) and not text[:start].strip():
        yield Flag("text-around-dropped", f"The text after the value of `{name}` was dropped: {shown(around)}.", name)
    elif around:
        yield _from_prose(name, after, around)
    elif "```" in text:
        yield Flag("fence-dropped", f"The code fence around the value of `{name}` was dropped.", name)


def _loaded(text: str) -> object:
    try:
        return loads(text)
    except (ValueError, RecursionError):
        return None


def has_open_quote(text: str) -> bool:
    """Return True if a text begins with a quote and has an odd number of them."""
    return text.startswith('"') and (text.count('"') - text.count('\\"')) % 2 == 1


def _from_prose(name: str, after: object, text: str) -> Flag:
    return Flag(
        "brackets-in-prose-taken",
        f"`{name}` is prose with brackets in it: {shown(after)} was taken as the value, and the words around it were "
        f"dropped ({shown(text)}).",
        name,
    )


def _mended(name: str, json: JsonText, is_end: bool) -> Iterator[Flag | Detector]:
    if json.is_cut_off and is_end:
        yield Flag(
            "cut-off-json-completed",
            f"The JSON of `{name}` ends in the middle: json_repair closed what was open.",
            name,
        )
    yield partial(_why_mended, name=name, json=json)


def _why_mended(reading: Reading, name: str, json: JsonText) -> Iterator[Flag]:
    seen = ", ".join(json.oddities) or (json.complaint or ("it is not well-formed", 0))[0]
    yield Flag("json-repaired", f"The value of `{name}` is not valid JSON ({seen}); json_repair rewrote it.", name)


def _losses(reading: Reading, name: str, json: JsonText, after: object) -> Iterator[Flag]:
    raw, bare = json.text, json.outside
    for key in keys_inside(after) if "\\" not in raw else ():
        if '"' in key or "\n" in key or key.count("“") != key.count("”"):
            said = (
                f"json_repair made {shown(key)} a JSON key in `{name}`: one of its quotes is not JSON's, or is missing."
            )
            yield Flag("key-holds-text", said, name)
            break
    if "-Infinity" in bare and any(one in ("Infinity", inf) for one in parts_of(after) if isinstance(one, str | float)):
        yield Flag("minus-sign-lost", f"-Infinity in `{name}` lost its sign while the JSON was repaired.", name)
    if isinstance(after, list) and THOUSANDS.search(bare):
        yield Flag(
            "number-split-at-comma",
            f"{shown(raw)} in `{name}` was parsed as several numbers: in JSON a comma never groups digits.",
            name,
        )
        return
    if PERCENT.search(bare) and not isinstance(after, str):
        yield Flag("percent-sign-dropped", f"{shown(raw)} in `{name}` lost its % and became {shown(after)}.", name)
        return
    lost = lost_words(raw, after)
    if lost:
        words = ", ".join(shown(word) for word in lost[:MOST_SHOWN]) + (", …" if len(lost) > MOST_SHOWN else "")
        yield Flag(
            "text-lost-in-repair",
            f"json_repair left out a part of `{name}`: {words} of {shown(raw)} is not in the value.",
            name,
        )
