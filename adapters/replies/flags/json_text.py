"""Examine text that should be JSON: strings, brackets, mistakes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from adapters.replies.reading import Reading

STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"|"', re.DOTALL)
FENCE_LINE = re.compile(r"```[\w+-]{0,20}")
WORD = re.compile(r"\w+")
NUMBER_WORDS = frozenset(("true", "false", "null", "none", "nan", "infinity", "inf"))
MOST_WORDS = 100_000


class Outside(NamedTuple):
    """A text with its strings emptied, and whether it ends inside a string or bracket."""

    text: str
    is_cut_off: bool
    in_string: bool


def outside_strings(text: str) -> Outside:
    """Replace every `"…"` of a text by `""`."""
    pieces: list[str] = []
    position = 0
    is_open = False
    for match in STRING.finditer(text):
        pieces.append(text[position : match.start()])
        pieces.append('""')
        position = match.end()
        if match.end() - match.start() == 1:
            is_open = True
            position = len(text)
            break
    pieces.append(text[position:])
    bare = "".join(pieces)
    has_open = bare.count("{") > bare.count("}") or bare.count("[") > bare.count("]")
    return Outside(bare, is_open or has_open, is_open)


def strings_of(text: str) -> Iterator[str]:
    """Yield every `"…"` of the text, including a last string that is never closed."""
    for match in STRING.finditer(text):
        if match.end() - match.start() == 1:
            yield text[match.start() :]
            return
        yield match.group()


MOST_QUOTES = 200
LONGEST_REWRITTEN = 200_000
ENDS_STRING = re.compile(r"""\s*+(?:[:}\]]|,\s*+(?:["{\[}\]\-\d]|true\b|false\b|null\b)|(?:```\s*+)?\Z)""")


def unescaped_quotes(text: str) -> list[int]:
    """Return the offsets of unescaped quotes inside strings.

    Empty unless escaping them makes the first object or list valid. A quote that no JSON punctuation follows cannot end
    its string.
    """
    start = first_opening(text)
    if start < 0 or len(text) > LONGEST_REWRITTEN or valid_object_at(text, start) >= 0:
        return []
    found: list[int] = []
    is_inside = False
    for match in re.finditer(r'\\.|"', text[start:], re.DOTALL):
        at = start + match.start()
        if match.group() != '"':
            continue
        if is_inside and ENDS_STRING.match(text, at + 1) is None:
            found.append(at)
        else:
            is_inside = not is_inside
        if len(found) > MOST_QUOTES:
            return []
    return found if found and valid_object_at(with_escapes(text, found), start) >= 0 else []


def with_escapes(text: str, quotes: list[int]) -> str:
    """Insert a backslash at each of these offsets."""
    pieces = [text[start:end] for start, end in zip([0, *quotes], [*quotes, len(text)], strict=True)]
    return "\\".join(pieces)


def is_cut_off(text: str) -> bool:
    """Return whether a broken JSON text ends before its last string, object or list does.

    An odd number of quotes proves nothing if the last bracket closes the first: a string may contain a quote.
    """
    outside, stripped = outside_strings(text), without_fences(text)
    start = first_opening(stripped)
    bare = outside.text
    if stripped[:1] == "{" == stripped[1:].lstrip()[:1] and bare.count("{") == bare.count("}") + 1:
        return False  # not the end is missing: the first brace is doubled
    is_closed = start >= 0 and stripped.endswith({"{": "}", "[": "]"}[stripped[start]])
    return outside.is_cut_off and not (outside.in_string and is_closed) and not unescaped_quotes(text)


def oddities(text: str) -> Iterator[str]:
    """Name the certain mistakes that make a text invalid JSON."""
    quotes = unescaped_quotes(text)
    if quotes:
        yield (
            "a quote inside a string without a backslash"
            if len(quotes) == 1
            else ("quotes inside strings without backslashes")
        )
        text = with_escapes(text, quotes)
    if "#" in text or "//" in text:
        plain = without_comments(text)
        if plain != text:
            yield "a comment"
        text = plain
    if re.search(r'"[^"“”]{0,200}”\s*[,}\]]', text):
        yield "a typographic quote at the end of a string"
    if re.search(r"[{,]\s*\\\"", text):
        yield "quotes with backslashes, as inside a string"
    if re.search(r'[{,]\s*[A-Za-z_]\w*"\s*:', text):
        yield "a JSON key without its first quote"
    if re.search(r'"\s*:\s*(?!true\b|false\b|null\b|None\b|True\b|False\b|NaN\b)[A-Za-z][^"{}\[\]\n]*"\s*[,}\n]', text):
        yield "a value without its first quote"
    bare, _, in_string = outside_strings(text)
    if FENCE_LINE.search(bare):
        yield "a code fence"
    if '""""""' in bare or '"""' in text:
        yield "triple quotes"
    if in_string and not is_cut_off(text):
        return  # the bounds of its strings are unknown
    if "'" in bare:
        yield "single quotes"
    if re.search(r",\s*[}\]]", bare):
        yield "a comma before a closing bracket"
    if "/*" in bare:
        yield "a comment"
    if re.search(r"\b(?:True|False|None)\b", bare):
        yield "Python's True, False or None"
    if re.search(r"[“”„‟]", bare):
        yield "typographic quotes"
    if ABBREVIATED.search(bare):
        yield "... for what was left out"
    if re.search(r"\"\"\s*\"\"|(?:[}\]]|[:,\[]\s*(?:true|false|null|-?\d+(?:\.\d+)?))\s*\"\"", bare):
        yield "a missing comma"
    if re.search(r"[{,]\s*[A-Za-z_]\w*\s*:", bare):
        yield "keys without quotes"
    if any("\n" in string for string in strings_of(text)):
        yield "line breaks inside of strings"


ABBREVIATED = re.compile(r"[\[,}\]]\s*(?:\.\.\.|…)\s*[\]},]")
_STRING_OR_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|(?:(?<=[\s,}\]"\d{\[])|^)(?:#|//)[^\n]*', re.DOTALL)


def without_comments(text: str) -> str:
    """Remove the comments `# …` and `// …` outside the strings of a JSON text."""
    return _STRING_OR_COMMENT.sub(lambda match: match.group() if match.group()[0] == '"' else "", text)


def first_complaint(text: str) -> tuple[str, int] | None:
    """Return the first JSON error in the first object or list, with its offset."""
    start = first_opening(text)
    if start < 0:
        return None
    try:
        json.JSONDecoder().raw_decode(text, start)
    except json.JSONDecodeError as error:
        return error.msg[0].lower() + error.msg[1:], error.pos
    except (ValueError, RecursionError):
        return "nested too deeply", start
    return None


def first_opening(text: str) -> int:
    """Return the offset of the first `{` or `[`; -1 for none."""
    places = [place for place in (text.find("{"), text.find("[")) if place >= 0]
    return min(places, default=-1)


def begins_without_brace(reading: Reading) -> bool:
    """Return whether the parser took JSON keys before the first `{`, part of a value."""
    keys = [span.start for span in reading.spans if span.kind == "marker" and span.field]
    first = reading.completion.find("{")
    return bool(keys) and 0 <= keys[0] < first and reading.completion[keys[0]] == '"'


def valid_object_at(text: str, start: int) -> int:
    """Return the end of the valid JSON value at `start`; -1 if there is none."""
    try:
        _, end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return -1
    return end


def lost_words(text: str, value: object) -> list[str]:
    """Return words and digits of a JSON text that are missing from its parsed value.

    Empty for a text with backslashes, whose words are uncertain.
    """
    if "\\" in text:
        return []
    if "#" in text or "//" in text:
        text = without_comments(text)
    kept = set(_words_of(value))
    numbers = {int(word) for word in kept if word.isascii() and word.isdigit() and len(word) < 20}
    lost: dict[str, None] = {}
    for number, match in enumerate(WORD.finditer(FENCE_LINE.sub(" ", text))):
        word = match.group()
        if number >= MOST_WORDS:
            break
        if word in kept or word.lower() in NUMBER_WORDS:
            continue
        if word[0].isdigit() and not (
            word.isascii() and word.isdigit() and len(word) < 20 and int(word) not in numbers
        ):
            continue
        lost[word] = None
    return list(lost)


def _words_of(value: object) -> Iterator[str]:
    """Yield the words and digits of every key and leaf of a JSON value."""
    waiting = [value]
    for one in waiting:
        if isinstance(one, dict):
            waiting.extend(one)
            waiting.extend(one.values())
        elif isinstance(one, list | tuple):
            waiting.extend(one)
        elif type(one) is str:
            yield from WORD.findall(one)
        elif isinstance(one, int | float):
            yield from WORD.findall(repr(one))


def without_fences(text: str) -> str:
    """Remove the fence lines of a text and strip it."""
    return FENCE_LINE.sub("", text).strip()
