"""Flags for JSON replies: their structure, and what json_repair repaired, lost or invented."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING, Any, get_origin

from adapters.json_text.json_document import keys_of_row, place_in_row
from adapters.replies.flag import NOT_SEPARATED, Flag, line, named, place, shown
from adapters.replies.flags.json_text import (
    ABBREVIATED,
    JsonText,
    begins_without_brace,
    first_opening,
    keys_inside,
    lost_words,
    valid_object_at,
    without_fences,
)
from adapters.replies.repairs import names_by_case
from adapters.replies.sections import THOUGHTS, without_thinking
from adapters.types.recognition import END, START
from adapters.values.plain_json import parts_of

if TYPE_CHECKING:
    from adapters.replies.reading import FieldReading, Reading
    from adapters.values.plain_json import Step

NOT_TAKEN = ("duplicate", "unknown")
CLOSING = re.compile(r"[\s,]*[}\]]*(?:\s*[}\]])*")
MOST_MISSING = 20
COLON = re.compile(r"\s*:")
LONGEST_KEY = 200
KEY = re.compile(rf'"([^"\\]{{1,{LONGEST_KEY}}})"')
IN_TEXT = r"""\"(?<=[^\s{}\[\],:\"\\]\")"""
"""A quote behind a sign of a text."""
VALUE_ABOVE = re.compile(r"[ \t]*\n[^\[\]{}]*\Z")
"""The rest after a value: nothing else on its last line, and no brackets below it."""
LIST = re.compile(r"""\[[\s\[]*+(?:["'{\]]|-?\d[\d.eE+\-]*+\s*+[,\]]|(?:true|false|null)\b)""")
FULL_WIDTH = re.compile(r'"(?:[^"\\\n]|\\.)*+"?(?:\s?([：，]))?|[\'\]}\w]\s?([：，])')


def json_structure(reading: Reading) -> Iterator[Flag]:
    """Yield structural flags for a reply parsed as one JSON object."""
    before, after = ("", "") if reading.is_plain_object else _around(reading)
    is_valid = reading.is_plain_object or any(one.extract is not None for one in reading.fields.values())
    if not is_valid or before or after:
        yield from _dropped(reading, before, after, fence_is_asked_for=False)
        yield from _several(reading)
        yield from _no_object(reading)
        yield from _broken_keys(reading)
    if not reading.kinds.isdisjoint(NOT_TAKEN):
        yield from _keys(reading)


def fenced_json_structure(reading: Reading) -> Iterator[Flag]:
    """Yield structural flags for a reply parsed as a fenced JSON block."""
    yield from _dropped(reading, *_around(reading), fence_is_asked_for=True)
    if not reading.kinds.isdisjoint(NOT_TAKEN):
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
    taken = next((span.start for span in reading.spans if span.kind in ("value", "repaired") and span.field), None)
    for begin, end_of_thoughts in THOUGHTS if first > 0 else ():
        closing = completion.find(end_of_thoughts)
        if completion.find(begin, 0, first) < 0 or closing < first:
            continue
        if reading.ok and taken is not None and taken > closing:  # the braces in the thoughts were passed over
            first = completion.find("{", closing)
            continue
        said = f"The first {{…}} ({place(reading, first)}) is inside {begin}, and the parser takes it: {NOT_SEPARATED}"
        yield Flag("object-inside-think", said)
    end = _end_of_object(reading, first)
    if end < 0 or begins_without_brace(reading):
        return
    following = completion.find("{", end)
    rest = without_fences(completion[end:])
    if rest and not rest.strip("]}, \n"):
        yield Flag("text-around-dropped", f"The text after the JSON object was dropped: {shown(rest)}.")
    if following < 0:
        return
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


def _end_of_object(reading: Reading, first: int) -> int:
    """Return the end of the valid object at the first brace; -1 if it is invalid."""
    completion, spans = reading.completion, reading.spans
    is_read = not reading.repair_steps and "repaired" not in reading.kinds
    if is_read and len(spans) > 1 and completion[: spans[0].end].strip() == "{":
        rest = completion[spans[-1].start :].lstrip()
        if spans[-1].kind == "ignored" and rest[:1] == "}":
            return len(completion) - len(rest) + 1
    return valid_object_at(completion, first)


def _no_object(reading: Reading) -> Iterator[Flag]:
    completion = reading.completion
    start = first_opening(completion)
    if reading.error is None or reading.error.field not in (None, *_missing(reading)):
        return
    if (found := LIST.match(completion, start)) and not completion[:start].strip("`json \n"):
        kind = "Python" if found.group().endswith("'") else "JSON"
        outputs = reading.signature.output_fields
        wanted = [name for name, one in outputs.items() if len(outputs) == 1 and get_origin(one.annotation) is list]
        hint = f" It is probably `{wanted[0]}` itself." if wanted else ""
        yield Flag(
            "list-at-the-root",
            f"The reply is a {kind} list; the parser expects an object {{…}} with the output fields as its JSON keys, "
            f"and looks at most at the first {{…}} inside the list.{hint}",
        )
    signs = FULL_WIDTH.finditer(completion, start) if start >= 0 and not completion.isascii() else ()
    full_width = next((one for one in signs if one[1] or one[2]), None)
    if full_width:
        at = full_width.end() - 1
        yield Flag(
            "full-width-punctuation",
            f"The JSON is written with {completion[at]} ({line(reading, at)}): only the ASCII : and , separate keys "
            "and values.",
        )


def _broken_keys(reading: Reading) -> Iterator[Flag]:
    """Flag JSON keys of missing outputs that a quote breaks or lacks."""
    for name in _missing(reading)[:MOST_MISSING]:
        match = _key_with_quotes(name).search(reading.completion)
        within = _key_in_text(name).search(reading.completion) if match is None else None
        if within is not None:
            yield Flag(
                "key-inside-a-text",
                f"The text before the JSON key `{name}` has no closing quote ({place(reading, within.start())}), so "
                "the key was not read.",
                name,
            )
        elif match is not None:
            where = place(reading, match.start() + match.group().index('"', 1))
            yield Flag(
                "key-broken-by-quote",
                f"The JSON key `{name}` is broken by a quote inside it ({where}): {shown(match.group()[:-1].strip())}.",
                name,
            )
        elif unclosed := _key_without_end(name).search(reading.completion):
            where = place(reading, unclosed.start(1))
            yield Flag("key-broken-by-quote", f"The JSON key `{name}` has no closing quote ({where}).", name)


@lru_cache(maxsize=256)
def _key_with_quotes(name: str) -> re.Pattern[str]:
    return re.compile(f'"(?!{re.escape(name)}")' + '"?'.join(map(re.escape, name)) + '"\\s*:')


@lru_cache(maxsize=256)
def _key_without_end(name: str) -> re.Pattern[str]:
    inside = r'[^"\\]*+(?:"\s*+[^\s,:\]}]|\Z)'  # a text that only looks like a key ends before a sign of JSON
    return re.compile(rf'[{{,]\s*("){re.escape(name)}\s*:{inside}')


@lru_cache(maxsize=256)
def _key_in_text(name: str) -> re.Pattern[str]:
    return re.compile(IN_TEXT + re.escape(name) + r"\"\s*:")


def _missing(reading: Reading) -> list[str]:
    return [name for name, one in reading.fields.items() if one.state == "missing"]


def _other_keys(row: dict[str, None], outputs: Iterable[str], known: dict[str, int]) -> Iterable[str]:
    """Return the keys of a row that are neither outputs nor known; none is looked at by itself if all are short."""
    for key in (*outputs, *(known.keys() & row.keys())):
        row.pop(key, None)
    if max(map(len, row), default=0) <= LONGEST_KEY:
        return row
    return [key for key in row if len(key) <= LONGEST_KEY]


def _keys(reading: Reading) -> Iterator[Flag]:
    completion, outputs = reading.completion, reading.signature.output_fields
    ignored: dict[str, int] = {}
    duplicated: dict[str, int] = {}
    for span in reading.spans:
        if span.kind not in NOT_TAKEN:
            continue
        row = keys_of_row(completion, span.start, span.end)
        for name in outputs:
            if name in row and name not in duplicated:
                duplicated[name] = place_in_row(completion, span.start, name)
        if row:
            ignored.update(dict.fromkeys(_other_keys(row, (*outputs, ""), ignored), span.start))
        elif span.kind == "duplicate" and span.field:
            duplicated.setdefault(span.field, span.start)
        elif span.kind == "unknown" and (match := KEY.match(completion, span.start)):
            ignored.setdefault(match[1], span.start)
    for name, start in duplicated.items():
        taken: Any = reading.fields[name].value
        yield Flag(
            "duplicate-key-last-wins",
            f'The key "{name}" occurs more than once; the last value counts ({shown(taken)}), '
            f"that on {line(reading, start)} does not.",
            name,
        )
    folded = "\n".join(ignored).casefold()  # a million keys are searched at once
    lower = {key: name for key, name in names_by_case(reading.signature).items() if key in folded}
    told: set[str] = set()
    for key, start in ignored.items() if lower else ():
        meant = lower.get(key.strip().casefold())
        if meant is None or (meant in told and not completion.startswith(f'"{key}"', start)):
            continue
        start = place_in_row(completion, start, key)
        if not COLON.match(completion, start + len(key) + 2):
            yield Flag(
                "key-broken-by-quote",
                f"The JSON key `{meant}` runs into its value ({place(reading, start)}): no colon follows it.",
                meant,
            )
        else:
            told.add(meant)
            yield Flag(
                "key-in-another-case",
                f"The key {shown(key)} ({line(reading, start)}) is not `{meant}`: keys must match letter by letter.",
                meant,
            )
    is_refused = reading.form == "fenced json" and reading.error is not None and reading.error.field is None
    others = [key for key in ignored if key.strip().casefold() not in lower] if is_refused else []
    if others and not _missing(reading):
        yield Flag(
            "extra-keys-refused",
            f"The object has JSON keys other than the output fields, which this adapter rejects: {named(others)}.",
        )
    if ignored and not is_refused:
        yield Flag(
            "extra-keys-ignored",
            f"The object has JSON keys other than the output fields; they were ignored: {named(list(ignored))}.",
        )


END_OF_JSON = re.compile(r"['\"]\s*[\]}][\]}\s]*\Z")
LONGEST_END = 40
THOUSANDS = re.compile(r"\d,\d{3}(?!\d)")
KEY_OF_WORDS = re.compile(r"[,{]\s*[A-Za-z]\w* +([A-Za-z]\w*)\s*:")
PERCENT = re.compile(r"\d\s?%")
MOST_SHOWN = 5


def repaired_json(reading: Reading) -> Iterator[Flag]:
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


def _whole(reading: Reading, text: str) -> Iterator[Flag]:
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
    if json.is_cut_off:
        where = _place_in(reading, text, max(0, len(text.rstrip()) - 1))
        said = f"The JSON ends in the middle ({where}): json_repair closed what was open."
        yield Flag("cut-off-json-completed", said)
    wrong = None if json.unescaped_quotes or json.is_cut_off else json.wrong_bracket
    if wrong is not None:
        said = f"A {text[wrong[0]]} appears where {wrong[1]} is expected ({_place_in(reading, text, wrong[0])})"
        yield Flag("wrong-bracket", f"{said}: json_repair guessed where the list or object ends.")
    yield Flag("json-repaired", _why(reading, json))
    yield from _abbreviated(reading, json)
    for match in KEY_OF_WORDS.finditer(json.outside):
        if match.group(1) in reading.signature.output_fields:
            yield Flag(
                "key-of-several-words",
                f"{shown(match.group()[1:].strip())} was parsed as the JSON key `{match.group(1)}`: of several words "
                "without quotes, only the last counts.",
                match.group(1),
            )


def _why(reading: Reading, json: JsonText) -> str:
    # A fence around the object is dropped before it is parsed; its mistakes are inside.
    seen, quotes = ", ".join([one for one in json.oddities if one != "a code fence"]), json.unescaped_quotes
    complaint = ("", quotes[0]) if quotes else json.complaint
    where = ""
    if complaint is not None:
        said = f"{complaint[0]}, " if complaint[0] else ""
        where = f" ({said}{_place_in(reading, json.text, complaint[1])})"
    found = f": it has {seen}" if seen else ""
    return f"The reply is not valid JSON{where}{found}; json_repair rewrote it before it was parsed."


def _place_in(reading: Reading, text: str, at: int) -> str:
    """Describe the place of an offset in a part of the reply."""
    offset = max(0, reading.completion.find(text[:200])) if text != reading.completion else 0
    return place(reading, offset + at)


def _abbreviated(reading: Reading, json: JsonText, name: str | None = None) -> Iterator[Flag]:
    text = json.text
    match = ABBREVIATED.search(text) if ABBREVIATED.search(json.outside) else None
    if match is not None:
        dots = "…" if "…" in match.group() else "..."
        where = _place_in(reading, text, match.start() + match.group().index(dots))
        whose = f"The value of `{name}`" if name else "The JSON"
        at = reading.completion.find(match.group())
        name = name or next(
            (one.name for one in reading.fields.values() if one.place and one.place[0] <= at < one.place[1]), None
        )
        yield Flag(
            "list-abbreviated", f"{whose} is abbreviated with {dots} ({where}): the model left out a part.", name
        )


def _member(reading: Reading, field: FieldReading, step: Step) -> Iterator[Flag]:
    name = field.name
    if step.after == "" and not field.raw and f'"{name}": ""' not in reading.completion.replace("\\", ""):
        yield Flag(
            "value-invented",
            f"The reply has no readable value for `{name}`; json_repair put an empty text there.",
            name,
        )
    if field.raw and field.state == "read":
        yield from _losses(name, JsonText(field.raw), step.after)
        end = END_OF_JSON.search(step.before[-LONGEST_END:])
        found = [one for one in parts_of(step.after) if isinstance(one, str) and one.endswith(end[0])] if end else ()
        if found:
            said = f"json_repair took the end of the JSON into `{name}`, {shown(found[0])}"
            yield Flag("value-holds-the-end", f"{said}: a quote is not JSON's, or is missing.", name)
    elif step.after == "" and '"""' in step.before:
        yield Flag(
            "text-lost-in-repair",
            f'Text in triple quotes is lost: json_repair parsed """ as an empty text, so `{name}` is empty.',
            name,
        )


def _field(reading: Reading, field: FieldReading, step: Step) -> Iterator[Flag]:
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
                yield from _losses(name, json, after)
        return
    rest = text[end:].strip()
    if rest[:1] in ("[", "{"):
        yield Flag(
            "several-values-one-taken",
            f"`{name}` has several values in a row; only {shown(after)} was taken.",
            name,
        )
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


def _mended(name: str, json: JsonText, is_end: bool) -> Iterator[Flag]:
    if json.is_cut_off and is_end:
        yield Flag(
            "cut-off-json-completed",
            f"The JSON of `{name}` ends in the middle: json_repair closed what was open.",
            name,
        )
    seen = ", ".join(json.oddities) or (json.complaint or ("it is not well-formed", 0))[0]
    yield Flag("json-repaired", f"The value of `{name}` is not valid JSON ({seen}); json_repair rewrote it.", name)


def _holds_quote(key: str) -> bool:
    return '"' in key or "\n" in key or key.count("“") != key.count("”")


def _losses(name: str, json: JsonText, after: object) -> Iterator[Flag]:
    raw, bare = json.text, json.outside
    if "\\" not in raw and (key := next(filter(_holds_quote, keys_inside(after)), None)) is not None:
        yield Flag(
            "key-holds-text",
            f"json_repair made {shown(key)} a JSON key in `{name}`: one of its quotes is not JSON's, or is missing.",
            name,
        )
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
