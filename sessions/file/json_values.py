"""Encode users' values as lossless JSON that is readable in diffs.

Plain JSON is unchanged. Other values, and texts that are hard to read, become objects with a single key:

    {"$lines": ["first", "second"]}    text of several lines, one element for each
    {"$text": ["a long", " line"]}     text in pieces: a line too long to read, or adjacent surrogates
    {"$float": "NaN"}                  also "Infinity" and "-Infinity"
    {"$int": "0x…"}                    an integer of more than 2,048 bits, which Python may not print or parse
    {"$dict": [["$lines", 1]]}         an object whose only key is one of these, or with a key in pieces

All other objects are the user's, so `decode(encode(value))` equals `value`, including types and order of keys.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from adapters.late_dataclasses import dataclass, field
from sessions.errors import step_into

JSON = Any
"""None, bool, int, finite float, str, list, or dict with str keys."""

DEPTH = 100
"""The deepest nesting of lists and objects, well below Python's recursion limit."""

LARGE_INT_BITS = 2048
"""Most bits of a plain integer; Python's limit for printing or parsing can be as low as 640 digits (2,126 bits)."""

LONG_LINE = 400
"""Characters. A longer line (an image, a paragraph) is written in pieces to keep diffs readable."""

_TAGS = frozenset({"$lines", "$text", "$float", "$int", "$dict"})
_FLOATS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_PIECE = re.compile(r".{40,200}?[.!?;] |.{40,199} |.{1,200}", re.DOTALL)
"""A piece of a long line, preferably a sentence, so that an edit changes few of the following pieces."""
_SURROGATE_PAIR = re.compile("(?<=[\ud800-\udbff])(?=[\udc00-\udfff])")


class UnwritableError(Exception):
    """Raised for a value that JSON cannot hold; `keys` is the path inside the value."""

    def __init__(self, message: str, keys: tuple[str | int, ...] = ()) -> None:
        self.message = message
        self.keys = keys
        super().__init__(message)


class DuplicateKeyError(Exception):
    """Raised for a duplicate key in an object; JSON parsers silently drop one of the two values."""

    def __init__(self, key: str) -> None:
        self.key = key
        super().__init__(key)


def encode(value: Any, depth: int = 0) -> JSON:
    """Encode `value` as strict JSON data. Raises `UnwritableError` for other types and too deep nesting."""
    kind = type(value)
    if kind is str:
        return encode_text(value)
    if value is None or kind is bool:
        return value
    if kind is int:
        return value if value.bit_length() <= LARGE_INT_BITS else {"$int": hex(value)}
    if kind is float:
        return value if math.isfinite(value) else {"$float": float_name(value)}
    if depth >= DEPTH:
        raise UnwritableError(f"nested more than {DEPTH} levels deep")
    if kind is list:
        return [_encode_inside(index, item, depth) for index, item in enumerate(value)]
    if isinstance(value, Mapping):
        encoded: dict[str, JSON] = {}
        needs_pairs = False
        for key, item in value.items():
            if type(key) is not str:
                raise UnwritableError(f"the key {key!r} is not text")
            needs_pairs = needs_pairs or has_surrogate_pair(key)
            encoded[key] = _encode_inside(key, item, depth)
        if needs_pairs or (len(encoded) == 1 and not _TAGS.isdisjoint(encoded)):
            return {"$dict": [[encode_text(key), item] for key, item in encoded.items()]}
        return encoded
    if isinstance(value, str) and kind.__module__ == "adapters.prompts.text":
        return encode_text(str(value))
    raise UnwritableError(f"a {kind.__qualname__} is not a JSON value")


def encode_text(text: str) -> JSON:
    return {"$lines": [encode_line(line) for line in text.split("\n")]} if "\n" in text else encode_line(text)


def encode_line(line: str) -> JSON:
    """Encode a line; in pieces if it is too long or JSON would join its adjacent surrogates."""
    if has_surrogate_pair(line):
        return {"$text": _SURROGATE_PAIR.split(line)}
    return line if len(line) <= LONG_LINE else {"$text": _PIECE.findall(line)}


def has_surrogate_pair(text: str) -> bool:
    """Return whether two surrogates are adjacent; JSON's escapes would join them to a single character."""
    return _SURROGATE_PAIR.search(text) is not None


def decode(text: str) -> Any:
    """Decode a JSON text.

    Raises json.JSONDecodeError, `DuplicateKeyError`, RecursionError, and ValueError for an integer that is too long.
    """
    return json.loads(text, object_pairs_hook=_decode_object, parse_constant=_FLOATS.__getitem__)


def is_deeper_than(value: object, limit: int) -> bool:
    """Return whether lists and objects are nested deeper than `limit`; the outermost is level 1."""
    level: list[Any] = [[value]]
    for _ in range(limit + 1):
        level = [
            child
            for container in level
            for child in (container.values() if isinstance(container, dict) else container)
            if (kind := type(child)) is dict or kind is list
        ]
        if not level:
            return False
    return True


def _encode_inside(key: str | int, value: object, depth: int) -> JSON:
    try:
        return encode(value, depth + 1)
    except UnwritableError as error:
        raise UnwritableError(error.message, (key, *error.keys)) from None


def float_name(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def _decode_object(pairs: list[tuple[str, Any]]) -> Any:
    if len(pairs) == 1:
        ((tag, content),) = pairs
        if tag == "$text" or tag == "$lines":
            if type(content) is list and content:
                try:
                    return ("\n" if tag == "$lines" else "").join(content)
                except TypeError:  # an item is not a text, so the object is the user's
                    pass
        elif tag in _TAGS:
            return _decode_tag(tag, content, {tag: content})
        return {tag: content}
    made = dict(pairs)  # not by a call for each of the thousands of objects of a file
    return made if len(made) == len(pairs) else unique_keys(pairs)


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object from its members. Raises `DuplicateKeyError`."""
    made = dict(pairs)
    if len(made) != len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise DuplicateKeyError(next(key for key in made if counts[key] > 1))
    return made


def _decode_tag(tag: str, content: object, made: dict[str, Any]) -> Any:
    """Decode a tagged object; return the object unchanged if its content is invalid for the tag."""
    if tag == "$float":
        if isinstance(content, str) and content in _FLOATS:
            return _FLOATS[content]
    elif tag == "$int":
        if isinstance(content, str) and re.fullmatch("-?0x[0-9a-f]+", content):
            number = int(content, 16)
            return number if number.bit_length() > LARGE_INT_BITS else made
    elif isinstance(content, list):
        if all(isinstance(pair, list) and len(pair) == 2 and type(pair[0]) is str for pair in content):
            return dict(content)
    return made


_quote = json.encoder.encode_basestring
_INVISIBLE = re.compile(
    "[\x7f-\x9f\xad\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)


def quote(text: str) -> str:
    """Write a readable JSON string, escaping invisible characters and those invalid in UTF-8."""
    quoted = _quote(text)
    if quoted.isascii() and "\x7f" not in quoted:
        return quoted
    return _INVISIBLE.sub(lambda match: json.encoder.encode_basestring_ascii(match[0])[1:-1], quoted)


class Written(str):
    """JSON text from `write`, already indented for its level."""

    __slots__ = ()


def written(value: JSON, level: int) -> Written:
    """Return the JSON text of a value, indented for `level`."""
    pieces: list[str] = []
    write(value, pieces, "\n" + "  " * level)
    return Written("".join(pieces))


def write(value: JSON, pieces: list[str], indent: str = "\n") -> None:
    """Append `value` to `pieces` as JSON, indented by two spaces per level."""
    kind = type(value)
    if kind is str:
        pieces.append(quote(value))
    elif kind is Written:
        pieces.append(value)
    elif kind is dict and value:
        deeper = indent + "  "
        opening = "{"
        for key, item in value.items():
            pieces.append(f"{opening}{deeper}{quote(key)}: ")
            write(item, pieces, deeper)
            opening = ","
        pieces.append(indent + "}")
    elif kind is list and value:
        deeper = indent + "  "
        opening = "["
        for item in value:
            pieces.append(opening + deeper)
            write(item, pieces, deeper)
            opening = ","
        pieces.append(indent + "]")
    else:
        pieces.append(json.dumps(value, allow_nan=False))


@dataclass(eq=False)
class WrittenParts:
    """A cache of the text of a session's parts between saves. Not thread-safe.

    The identity of a part represents its content, because demos and recordings never change; cached parts are kept
    alive.
    """

    _known: dict[int, tuple[object, Written]] = field(default_factory=dict)
    _used: dict[int, tuple[object, Written]] = field(default_factory=dict)

    def text_of(self, part: object, make: Callable[[], JSON], level: int) -> Written:
        """Return the text of `part` for `level`; call `make` if it is not cached, and raise its errors."""
        known = self._known.get(id(part)) or (part, written(make(), level))
        self._used[id(part)] = known
        return known[1]

    def evict_unused(self) -> None:
        """Drop the texts that were not used since the previous call."""
        self._known, self._used = self._used, {}


_TOKEN = re.compile(r"[\[\]{},:]|\"|[^\s\[\]{},:\"]+")


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Return the 1-based line and column of a code point."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def position(text: str, offset: int) -> str:
    line, column = line_and_column(text, offset)
    return f"line {line}, column {column}"


def find_duplicate(text: str) -> tuple[str, int] | None:
    """Return place and offset of the first duplicate key in a valid JSON text."""
    containers: list[tuple[str, set[str] | int]] = []
    place, expects_key, position = "", False, 0
    while match := _TOKEN.search(text, position):
        token, position = match[0], match.end()
        if token in "{[":
            containers.append((place, set() if token == "{" else 0))
            expects_key = token == "{"
            place = place if token == "{" else step_into(place, 0)
        elif token in "}]":
            place, _ = containers.pop()
            expects_key = False
        elif token == ",":
            parent, seen = containers[-1]
            expects_key = isinstance(seen, set)
            if isinstance(seen, int):
                containers[-1] = (parent, seen + 1)
                place = step_into(parent, seen + 1)
        elif token == '"':
            string, position = scanstring(text, position, False)
            if expects_key:
                parent, seen = containers[-1]
                place, expects_key = step_into(parent, string), False
                if isinstance(seen, set):
                    if string in seen:
                        return place, match.start()
                    seen.add(string)
    return None


def describe_syntax_error(error: json.JSONDecodeError) -> tuple[str, str, str]:
    """Return place, message and hint for a JSON syntax error."""
    text, offset = error.doc, error.pos
    if not text.strip():
        return "", "the file is empty", ""
    place = position(text, offset)
    if offset >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        return place, "the file ends in the middle", "it was cut off: restore it from a backup or from version control"
    if text.startswith(("<<<<<<<", "=======", ">>>>>>>"), text.rfind("\n", 0, offset) + 1):
        return place, "a merge conflict is left in the file", "resolve it, then open the session again"
    return place, f"not valid JSON: {error.msg}", ""
