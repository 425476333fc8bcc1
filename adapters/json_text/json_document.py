"""Locate the members of a JSON object, valid or repaired, in its text."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, NamedTuple

_scan = json.JSONDecoder().scan_once  # type: ignore[attr-defined]
_SPACE = re.compile(r"[ \t\n\r]*+")
_BEFORE_A_KEY = ", \t\n\r"
_PLAIN_TEXT = r'[^"\\\x00-\x1f]*+'
_SCALAR = rf'(?:"{_PLAIN_TEXT}"|-?(?:0|[1-9][0-9]{{0,300}})(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|true|false|null)'


def _or_short(part: str) -> str:
    """Return the pattern of a scalar, or of a short list or object of such parts."""
    space = _SPACE.pattern
    items, members = [
        rf"{space}(?:{one}{space}(?:,{space}{one}{space}){{0,{MOST_PARTS}}})?"
        for one in (part, f'"{_PLAIN_TEXT}"{space}:{space}{part}')
    ]
    return rf"(?:{_SCALAR}|\[{items}\]|\{{{members}\}})"


MOST_PARTS = 50
"""Further parts of a list or object in a plain member."""
MOST_AT_ONCE = 1_000
"""Plain members that are looked for at once: Python's `re` remembers every repetition."""


@cache
def _plain_member() -> re.Pattern[str]:
    """Compile the pattern of a member, which takes long and which only a long row needs."""
    space = _SPACE.pattern
    return re.compile(rf'"({_PLAIN_TEXT})"{space}:{space}{_or_short(_or_short(_SCALAR))}{space}(?:,{space}|\Z)')


@lru_cache(maxsize=8)
def _plain_members(least: int, most: int) -> re.Pattern[str]:
    return re.compile(f"(?:{_plain_member().pattern}){{{least},{most}}}")


NOT_JSON = object()
LONG = 2_000
"""Characters from which pydantic's parser is asked first, which takes half the time of Python's."""
LONG_STRING = 8 * LONG
"""Characters of a string that pydantic's parser reads at once; shorter strings are left to Python's."""
LONGEST_ESCAPE = len(r"\u0041")
LONG_ROW = 1_000
"""A longer row of members with short values, none of which counts, is one member."""
MOST_UNCHECKED = 100_000
"""Members after which the whole text is checked: if it is broken, there is no use in a million more."""
APART = 100
"""The first members of an object, which are in no row."""


class Member(NamedTuple):
    """A `"key": value` of an object, with offsets of the quoted key and the value."""

    key: str
    key_start: int
    key_end: int
    start: int
    end: int
    value: Any

    def moved(self, by: int) -> Member:
        return Member(self.key, self.key_start + by, self.key_end + by, self.start + by, self.end + by, self.value)


def members(text: str, expected: Sequence[str] = ()) -> list[Member] | None:
    """Return the members of a JSON object in order, duplicates included; None for other text.

    Accepts what `json.loads` accepts, at the same speed; twice as fast if it has the `expected` keys in order. Raises
    RecursionError for deep nesting. With `expected` keys, a long row of plain members becomes one member (`LONG_ROW`).
    """
    position = _SPACE.match(text).end()  # type: ignore[union-attr]
    if text[position : position + 1] != "{":
        return None
    found = members_from(text, position, expected)
    if found is None or _SPACE.match(text, found[1]).end() != len(text):  # type: ignore[union-attr]
        return None
    return found[0]


def members_from(text: str, position: int, expected: Sequence[str] = ()) -> tuple[list[Member], int] | None:
    """Return the members of the valid object that begins at `position`, and its end."""
    found: list[Member] = []
    rows: dict[int, int] = {}
    looked = position if expected else len(text)
    try:
        position = _SPACE.match(text, position + 1).end()  # type: ignore[union-attr]
        if text[position] == "}":
            return found, position + 1
        while True:
            if text[position] != '"':
                return None
            key, key_end = scanstring(text, position + 1, True)
            if position >= looked and len(found) >= APART:
                rows, looked = _long_rows(text, position, expected)
            if position in rows:
                found.append(Member(key, position, key_end, key_end, _end_before(text, rows[position]), None))
                position = rows[position]
                continue
            colon = _SPACE.match(text, key_end).end()  # type: ignore[union-attr]
            if text[colon] != ":":
                return None
            value_start = _SPACE.match(text, colon + 1).end()  # type: ignore[union-attr]
            value, value_end = _value_until(text, value_start, key, expected[len(found) :]) or _scan(text, value_start)
            found.append(Member(key, position, key_end, value_start, value_end, value))
            # Keys are expected only of a whole text.
            if expected and len(found) == MOST_UNCHECKED and load_valid_json(text) is NOT_JSON:
                return None
            following = _SPACE.match(text, value_end).end()  # type: ignore[union-attr]
            if text[following] == "}":
                return found, following + 1
            if text[following] != ",":
                return None
            position = _SPACE.match(text, following + 1).end()  # type: ignore[union-attr]
    except (ValueError, StopIteration, IndexError):
        return None


def load_valid_json(text: str) -> Any:
    """Parse with `json.loads`, or return `NOT_JSON`. Raises RecursionError for deep nesting."""
    value = load_long_json(text) if len(text) >= LONG else NOT_JSON
    if value is not NOT_JSON:
        return value
    try:
        return json.loads(text)
    except ValueError:  # broken JSON, or a number with thousands of digits
        return NOT_JSON


def load_long_json(text: str) -> Any:
    """Parse a long text; `NOT_JSON` also where only `json.loads` accepts it (surrogates, deep nesting)."""
    from pydantic_core import from_json

    try:
        # Other texts as bytes: a string keeps the bytes that are made of it.
        return from_json(text if text.isascii() else text.encode(), cache_strings="keys")
    except ValueError:
        return NOT_JSON


def _value_until(text: str, start: int, key: str, expected: Sequence[str]) -> tuple[Any, int] | None:
    """Return a long value up to the second expected key, and its end; None if that is not a whole value.

    A whole value is what a scanner from `start` finds, too. `key` must be the first expected key, so that a key that is
    repeated thousands of times is not searched for each time.
    """
    if len(text) - start < LONG or text[start] not in '[{"' or key not in expected[:1]:
        return None
    next_key = f'"{expected[1]}":' if expected[1:] else ""
    if text[start] == '"':
        is_long = len(text) - start >= LONG_STRING and not (next_key and next_key in text[start : start + LONG])
        return _long_string(text, start) if is_long else None
    end = text.find(next_key, start) if next_key else text.rfind("}")
    end = _end_before(text, end)
    if end - start < LONG:
        return None
    value = load_long_json(text[start:end])
    return None if value is NOT_JSON else (value, end)


def _long_string(text: str, start: int) -> tuple[str, int]:
    """Return the string that begins at `start`, and its end. Raises ValueError if it has none.

    It is read in parts, as copies of the whole text would need fresh memory. A part that is a string of its own holds
    no end of the string. Python's scanner reads the last part, what only it accepts, and, faster, what is not ASCII.
    """
    from pydantic_core import from_json

    parts = [""]
    position = start + 1
    while len(text) - position > LONG_STRING and parts[-1].isascii():
        part = text[position : position + LONG_STRING]
        if "\\" in part[-LONGEST_ESCAPE:]:
            part = part[: part.rindex("\\")].rstrip("\\")
        if not part or not part.isascii():
            break
        try:
            parts.append(from_json(f'"{part}"', cache_strings="none"))
        except ValueError:
            break
        position += len(part)
    rest, end = scanstring(text, position, True)
    return "".join([*parts, rest]), end


def _end_before(text: str, key_start: int) -> int:
    while key_start > 0 and text[key_start - 1] in _BEFORE_A_KEY:
        key_start -= 1
    return key_start


def _long_rows(text: str, start: int, expected: Sequence[str]) -> tuple[dict[int, int], int]:
    """Return the ends of the long rows of plain members by their starts, and the end of these members.

    Rows exclude the last member, and the last member of each expected key, because its value is used.
    """
    last, end = _end_of_members(text, start)
    if end == start:
        return {}, start + 1
    *_, final = _plain_member().finditer(text, last, end)
    rows: dict[int, int] = {}
    for place in sorted({final.start(), *[_last_place(text, start, end, key) for key in expected]}):
        if place >= start:
            if _plain_members(LONG_ROW, LONG_ROW).match(text, start, place) is not None:
                rows[start] = place
            start = _plain_member().match(text, place).end()  # type: ignore[union-attr]
    return rows, end


def _end_of_members(text: str, start: int, end: int = sys.maxsize) -> tuple[int, int]:
    """Return the end of the plain members from `start`, and a position among the last `LONG_ROW` members."""
    last = start
    while (found := _plain_members(1, MOST_AT_ONCE).match(text, start, end)) is not None:
        last, start = start, found.end()
    return last, start


def _last_place(text: str, start: int, end: int, key: str) -> int:
    """Return the position of the last plain member with `key` from `start` to `end`, or -1."""
    wrong = end
    while (place := text.rfind(f'"{key}"', start, wrong)) >= 0:
        is_beside = wrong < end and _end_of_members(text, place, wrong)[1] == wrong
        if not is_beside and _end_of_members(text, place, end)[1] == end:
            break
        wrong = place
    return place


def keys_of_row(text: str, start: int, end: int) -> dict[str, int]:
    """Map the keys of a long row of members (`LONG_ROW`) to its start; {} for a single member."""
    first = _plain_member().match(text, start, end)
    if first is None or first.end() == end:
        return {}
    return dict.fromkeys(_plain_member().findall(text, start, end), start)


def place_in_row(text: str, start: int, key: str) -> int:
    """Return the place of the first member with a key in the row from `start`."""
    if text.startswith(f'"{key}"', start):
        return start
    return next((one.start() for one in _plain_member().finditer(text, start) if one[1] == key), start)


class Aligned(NamedTuple):
    """A located member of a repaired document; `certain` if its whole value is found."""

    key: str
    key_start: int
    key_end: int
    start: int
    end: int
    certain: bool


MOST_OPENINGS = 8


def embedded_object(text: str, document: dict[str, Any]) -> list[Member] | None:
    """Return the members of a valid object in `text` that equals `document`, if any.

    json_repair takes such an object out of a fence or prose; its positions are then certain.
    """
    position = text.find("{")
    for _ in range(MOST_OPENINGS):
        if position < 0:
            return None
        found = members_from(text, position)
        if found is not None and {one.key: one.value for one in found[0]} == document:
            return found[0]
        position = text.find("{", position + 1)
    return None


MOST_KEYS = 500


def align(text: str, start: int, end: int, document: dict[str, Any]) -> list[Aligned] | None:
    """Locate a repaired document's members in its text; None if uncertain.

    json_repair reports no positions. A key is found if it appears exactly once in `text[start:end]`, quoted or not,
    before a colon, and if all keys follow the document's order. A value lies between its colon and the next key; it is
    certain if its leaves appear there in order, with only punctuation between. Each key is searched in the whole text,
    so documents of more than `MOST_KEYS` are skipped.
    """
    if len(document) > MOST_KEYS:
        return None
    places: list[tuple[str, int, int]] = []
    for key in document:
        found = _only_key(text, start, end, key)
        if found is None or (places and found[0] < places[-1][2]):
            return None
        places.append((key, *found))
    aligned: list[Aligned] = []
    for index, (key, key_start, after) in enumerate(places):
        last = index + 1 == len(places)
        value_start, value_end = _trimmed(text, after, end if last else places[index + 1][1], last)
        certain = _holds(text, value_start, value_end, document[key])
        aligned.append(Aligned(key, key_start, after - 1, value_start, value_end, certain))
    return aligned


_QUOTES = "\"'“”‘’`"
_COLON = re.compile(r"""["'“”‘’`]?\s*:""")
_PUNCTUATION = re.compile(r"""[\s,:\[\]{}"'`]*""")


def _only_key(text: str, start: int, end: int, key: str) -> tuple[int, int] | None:
    """Locate the only `key:` of the text, up to its colon; None if ambiguous."""
    if not key:
        return None
    found: tuple[int, int] | None = None
    position = text.find(key, start, end)
    while position >= 0:
        colon = _COLON.match(text, position + len(key), end)
        before = text[position - 1] if position > start else "{"
        if colon is not None and not (before.isalnum() or before == "_"):
            if found is not None:
                return None
            found = (position - 1 if before in _QUOTES else position, colon.end())
        position = text.find(key, position + 1, end)
    return found


def _trimmed(text: str, start: int, end: int, last: bool) -> tuple[int, int]:
    """Trim white space, a comma and, after the last member, the document's closing brace."""
    region = text[start:end]
    stripped = region.rstrip()
    if last and stripped.endswith("}"):
        stripped = stripped[:-1].rstrip()
    stripped = stripped.removesuffix(",").rstrip()
    lead = len(region) - len(region.lstrip())
    return (start + lead, start + len(stripped)) if len(stripped) > lead else (start, start)


def _holds(text: str, start: int, end: int, value: object) -> bool:
    """Return whether `text[start:end]` has just the keys and leaves of `value`, in order."""
    punctuation, is_at = _PUNCTUATION.match, text.startswith
    position = start
    waiting: list[Any] = [value]
    while waiting:
        one = waiting.pop()
        kind = type(one)
        if kind is dict:
            for key in reversed(one):
                waiting.append(one[key])
                waiting.append(key)
            continue
        if kind is list:
            waiting.extend(reversed(one))
            continue
        position = punctuation(text, position, end).end()  # type: ignore[union-attr]
        written = one if kind is str else str(one)
        if not is_at(written, position, end):
            spelled = next((spelling for spelling in _spellings(one) if is_at(spelling, position, end)), None)
            if spelled is None:
                return False
            written = spelled
        position += len(written)
    return punctuation(text, position, end).end() == end  # type: ignore[union-attr]


def _spellings(leaf: object) -> Iterator[str]:
    for is_ascii in (False, True):
        written = json.dumps(leaf, ensure_ascii=is_ascii)
        yield written[1:-1] if isinstance(leaf, str) else written
