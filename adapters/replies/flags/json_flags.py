"""Flags for the structure of JSON replies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, get_origin

from adapters.json_text.json_document import keys_of_row, place_in_row
from adapters.replies.flag import MISSING, NOT_SEPARATED, UNREAD, Flag, line, named, place, shown
from adapters.replies.flags.json_text import (
    JsonText,
    begins_without_brace,
    broken_at,
    first_opening,
    valid_object_at,
    without_fences,
)
from adapters.replies.reading import Detector, sought
from adapters.replies.repairs import names_by_case
from adapters.replies.sections import THOUGHTS

if TYPE_CHECKING:
    from adapters.replies.reading import Reading

NOT_TAKEN = ("duplicate", "unknown")
CLOSING = re.compile(r"[\s,]*[}\]]*(?:\s*[}\]])*")
MOST_MISSING = 20
MOST_KEYS = 100
LONGEST_OBJECT = 4_000
COLON = re.compile(r"\s*:")
LONGEST_KEY = 200
KEY = re.compile(rf'"([^"\\]{{1,{LONGEST_KEY}}})"')
KEY_AND_COLON = re.compile(r'"([^"\\]{1,100})"\s*:')
OBJECT = re.compile(r"""\{\s*["'“}]""")
FENCED_TEXT = re.compile(r'\s*(```|"""|`)')
BRACE = re.compile("[{}]")
IN_TEXT = r"""\"(?<=[^\s{}\[\],:\"\\]\")"""
"""A quote behind a sign of a text."""
NO_END = r'[^"\\]*+(?:"\s*+[^\s,:\]}]|\Z)'
"""The rest of a JSON key without its closing quote; a text that only looks like one ends before a sign of JSON."""
VALUE = r'(?:["\[{\d-]|(?:true|false|null)\b)'
"""The beginning of a JSON value."""
LIST = re.compile(r"""\[[\s\[]*+(?:["'{\]]|-?\d[\d.eE+\-]*+\s*+[,\]]|(?:true|false|null)\b)""")
FULL_WIDTH = re.compile(r'"(?:[^"\\\n]|\\.)*+"?(?:\s?([：，]))?|[\'\]}\w]\s?([：，])')


def json_structure(reading: Reading) -> Iterator[Flag | Detector]:
    """Yield structural flags for a reply parsed as one JSON object."""
    is_whole = reading.is_plain_object or reading.is_other_object
    before, after = ("", "") if is_whole else _around(reading)
    is_valid = is_whole or any(one.extract is not None for one in reading.fields.values())
    if not is_valid or before or after:
        yield partial(_dropped, before=before, after=after)
        yield from _several(reading)
        yield from _no_object(reading)
        if "missing" in reading.states:
            yield from _broken_keys(reading)
    if not reading.kinds.isdisjoint(NOT_TAKEN):
        yield from sought(reading, _keys, are_causes=not reading.ok or _has_other_answers(reading))


def fenced_json_structure(reading: Reading) -> Iterator[Flag | Detector]:
    """Yield structural flags for a reply parsed as a fenced JSON block."""
    yield lambda reading: _dropped(reading, *_around(reading), fence_is_asked_for=True)
    if not reading.kinds.isdisjoint(NOT_TAKEN):
        yield from sought(reading, _keys, are_causes=not reading.ok or _has_other_answers(reading))


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


def _dropped(reading: Reading, before: str, after: str, fence_is_asked_for: bool = False) -> Iterator[Flag]:
    if "```" in before and not fence_is_asked_for:
        fence = reading.completion.find("```")
        yield Flag("fence-dropped", f"The code fence around the JSON ({line(reading, fence)}) was dropped.")
    for where, text in (("before", without_fences(before)), ("after", without_fences(after))):
        if text.strip("[]{}, \n") and valid_object_at(text, text.find("{")) < 0:
            yield Flag("text-around-dropped", f"The text {where} the JSON object was dropped: {shown(text)}.")


def _several(reading: Reading) -> Iterator[Flag | Detector]:
    completion = reading.completion
    first = completion.find("{")
    for begin, end_of_thoughts in THOUGHTS if first > 0 else ():
        closing = completion.find(end_of_thoughts)
        if completion.find(begin, 0, first) < 0 or closing < max(first, valid_object_at(completion, first)):
            continue
        if reading.ok and (_first_taken(reading) or 0) > closing:  # the braces in the thoughts were passed over
            first = completion.find("{", closing)
            continue
        said = f"The first {{…}} ({place(reading, first)}) is inside {begin}, and the parser takes it: {NOT_SEPARATED}"
        yield Flag("object-inside-think", said)
    yield from sought(reading, partial(_others, first=first), are_causes=reading.ok)


def _others(reading: Reading, first: int) -> Iterator[Flag]:
    """Flag what follows the first object."""
    completion = reading.completion
    end = _end_of_object(reading, first)
    if end < 0 or begins_without_brace(reading):
        return
    following = completion.find("{", end)
    rest = without_fences(completion[end:])
    if rest and not rest.strip("]}, \n"):
        yield Flag("text-around-dropped", f"The text after the JSON object was dropped: {shown(rest)}.")
    if following < 0:
        return
    taken = _first_taken(reading)
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


def _first_taken(reading: Reading) -> int | None:
    """Return where the first value begins that the parser took."""
    for start, _, kind, field in reading.spans:
        if field and kind in ("value", "repaired"):
            return start
    return None


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
    error = reading.error
    if error is None or (error.field is not None and reading.fields[error.field].state != "missing"):
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
    bare = reading.completion.replace('"', "")
    for name in _missing(reading)[:MOST_MISSING]:
        if name not in bare:
            continue
        escaped = re.escape(name)
        with_quotes = f'"(?!{escaped})' + '"?'.join(map(re.escape, name)) + r'"\s*:'
        match = re.search(with_quotes, reading.completion)
        within = re.search(rf'{IN_TEXT}{escaped}"\s*:', reading.completion) if match is None else None
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
        elif unclosed := re.search(rf'[{{,]\s*("){escaped}\s*:{NO_END}', reading.completion):
            where = place(reading, unclosed.start(1))
            yield Flag("key-broken-by-quote", f"The JSON key `{name}` has no closing quote ({where}).", name)
        elif bare_key := re.search(rf'[{{,]\s*("){escaped}"\s+{VALUE}', reading.completion):
            where = place(reading, bare_key.start(1))
            yield Flag("key-broken-by-quote", f"The JSON key `{name}` has no colon after it ({where}).", name)


def _missing(reading: Reading) -> list[str]:
    return [name for name, one in reading.fields.items() if one.state == "missing"]


def _has_other_answers(reading: Reading) -> bool:
    """Return whether an output's JSON key is repeated with another value."""
    repeated = [one for one in reading.spans if one.kind == "duplicate" and one.field]
    written = [(one.field, reading.completion[one.start : one.end].partition(":")[2].strip()) for one in repeated]
    return any(name and reading.fields[name].raw != value for name, value in written)


def _keys(reading: Reading) -> Iterator[Flag | Detector]:
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
            for key in (*outputs, "", *(ignored.keys() & row.keys())):
                row.pop(key, None)
            if max(map(len, row), default=0) > LONGEST_KEY:  # else no key is looked at by itself
                row = {key: start for key, start in row.items() if len(key) <= LONGEST_KEY}
            ignored.update(row)
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
        said = "The object has JSON keys other than the output fields; they were ignored"
        yield lambda _: (Flag("extra-keys-ignored", f"{said}: {named(list(ignored))}."),)


def first_keys(reading: Reading) -> list[str]:
    """Return the first JSON keys of a reply in JSON, each once, without texts between the wrong quotes."""
    if reading.form not in ("json", "fenced json") or "{" not in reading.completion:
        return []
    keys = [one[1] for one in islice(KEY_AND_COLON.finditer(reading.completion), MOST_KEYS)]
    return list(dict.fromkeys([one for one in keys if one[0] not in " :,{}[]\n"]))


def unread_key(reading: Reading, missing: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield why a missing output's JSON key was not read: cause, sentence and output."""
    text = reading.completion
    written = [name for name in missing if f'"{name}"' in text]
    is_fenced = reading.form == "fenced json"
    opening = OBJECT.search(text, _fence_with_fields(reading) if is_fenced else 0) if written else None
    start = -1 if opening is None else opening.start()
    found = next((one for one in KEY_AND_COLON.finditer(text, start) if one[1] in written), None) if opening else None
    if found is None:
        return
    name, at, end = found[1], found.start(), valid_object_at(text, start)
    key, first = f"The JSON key `{name}` ({place(reading, at)})", start if is_fenced else text.find("{")
    if is_fenced and at >= end:  # behind the block that is parsed
        return
    closing = _end_of_braces(text, first, start)
    if closing:
        taken = f"{shown(text[first:closing])} ({place(reading, first)})"
        yield MISSING, f"{key} was not read: the parser takes the first {{…}}, which is {taken}.", name
    if first < start:
        return
    around = next((one for one in reading.fields.values() if one.place and one.place[0] <= at < one.place[1]), None)
    if at < end:
        yield MISSING, f"{key} is inside {'another object' if around is None else f'`{around.name}`'}.", name
    elif around is not None and not isinstance(around.value, str):
        yield MISSING, f"{key} was read as a part of `{around.name}`.", name
    elif around is not None and f'{name}"' in around.value:
        yield UNREAD, f"{key} was not read: an unescaped quote in `{around.name}` makes it part of that text.", name
    elif 0 < end <= at and (text.startswith('"', end) or not text[end:at].strip("}], \n")):
        is_in_text = end < at and text.startswith('"', end)
        why = "a quote inside a text lets the object end" if is_in_text else "the object ends"
        yield UNREAD, f"{key} was not read: {why} before it ({place(reading, end - 1)}).", name
    elif end < 0 and (fence := FENCED_TEXT.match(text, found.end())):
        yield UNREAD, f"{key} was not read: its text begins with {fence[1]} instead of a quote.", name
    elif end < 0:
        bare = JsonText(text[start:at]).outside
        is_nested = sum(map(bare.count, "{[")) - sum(map(bare.count, "}]")) > 1
        if not is_nested:
            repaired = next((flag.message for flag in reading.flags if flag.name == "json-repaired"), "")
            has = repaired.partition(": it has ")[2].partition("; ")[0]
            broken = broken_json(reading)
            why = f"the JSON is not valid{has and f': it has {has}'}.{broken and f' {broken}.'}"
            yield UNREAD, f"{key} was not read, because {why}", name


def broken_json(reading: Reading) -> str:
    """Say where an object in the reply is no longer JSON; "" for another form, a valid one or one cut off."""
    is_valid = reading.has_values and not reading.repair_steps
    if is_valid or reading.form not in ("json", "fenced json") or reading.ended.finish_reason == "length":
        return ""
    found = broken_at(reading.completion, _fence_with_fields(reading) if reading.form == "fenced json" else 0)
    return f"As JSON, the reply breaks at {place(reading, found[0])}: {found[1]}" if found else ""


def _fence_with_fields(reading: Reading) -> int:
    """Return the start of the fenced block that was parsed."""
    text = reading.completion
    first = min([one.place[0] for one in reading.fields.values() if one.place], default=None)
    return max(text.find("```json") if first is None else text.rfind("```", 0, first), 0)


def _end_of_braces(text: str, first: int, before: int) -> int:
    """Return the end of the {…} at `first`. If it is not closed before `before`, that of its first }; 0 for none."""
    opened = 0
    for match in BRACE.finditer(text, first, min(before, first + LONGEST_OBJECT)):
        opened += 1 if match.group() == "{" else -1
        if not opened:
            return match.end()
    return text.find("}", first, before) + 1
