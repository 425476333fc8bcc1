"""Examine text that should be JSON: strings, brackets, mistakes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice

from adapters.replies.flag import shown
from adapters.replies.reading import Reading, kept

_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
FENCE_LINE = re.compile(r"```[\w+-]{0,20}")
WORD = re.compile(r"\w+")
NUMBER_WORDS = frozenset(("true", "false", "null", "none", "nan", "infinity", "inf"))
MOST_WORDS = 100_000
BEGINS = 20
"""Characters in which a JSON string with an object begins."""
MOST_QUOTES = 200
LONGEST_REWRITTEN = 200_000
_ENDS_STRING = r"""\s*+(?:[:}\]]|,\s*+(?:["{\[}\]\-\d]|true\b|false\b|null\b)|(?:```\s*+)?\Z)"""
_STRING_BY_ITS_END = re.compile(rf'\\.|"((?:[^"\\]++|\\.|"(?!{_ENDS_STRING}))*+)(?:"|\\?\Z)', re.DOTALL)
_ESCAPE_OR_QUOTE = re.compile(r'\\.|"', re.DOTALL)
_DECODER = json.JSONDecoder()
_LENIENT = json.JSONDecoder(strict=False)
_EXPONENT = re.compile(r"\d[eE][-+]?(\d{1,3})\b")
ABBREVIATED = re.compile(r"[\[,}\]]\s*(?:\.\.\.|…)\s*[\]},]")
_STRING_OR_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|(?:(?<=[\s,}\]"\d{\[])|^)(?:#|//)[^\n]*', re.DOTALL)

IN_THE_TEXT: Mapping[str, re.Pattern[str]] = {
    "a typographic quote at the end of a string": re.compile(r'"[^"“”]{0,200}”\s*[,}\]]'),
    "quotes with backslashes, as inside a string": re.compile(r"[{,]\s*\\\""),
    "a JSON key without its first quote": re.compile(r'[{,]\s*[A-Za-z_]\w*"\s*:'),
    "a value without its first quote": re.compile(
        r'"\s*:\s*(?!(?:true|false|null|None|True|False|NaN)\b)[A-Za-z][^"{}\[\]\n]*"\s*[,}\n]'
    ),
}
"""Certain mistakes of invalid JSON, by their name."""
OUTSIDE_STRINGS: Mapping[str, re.Pattern[str]] = {
    "single quotes": re.compile("'"),
    "a comma before a closing bracket": re.compile(r",\s*[}\]]"),
    "a comment": re.compile(r"/\*"),
    "Python's True, False or None": re.compile(r"\b(?:True|False|None)\b"),
    "typographic quotes": re.compile("[“”„‟]"),
    "... for what was left out": ABBREVIATED,
    "a semicolon where a comma belongs": re.compile(r";\s*\"\"\s*:"),
    "a missing comma": re.compile(r"\"\"\s*\"\"|(?:[}\]]|[:,\[]\s*(?:true|false|null|-?\d+(?:\.\d+)?))\s*\"\""),
    "keys without quotes": re.compile(r"[{,]\s*[A-Za-z_]\w*\s*:"),
}
"""Certain mistakes of invalid JSON outside its strings."""


WANTED: Mapping[str, str] = {
    "expecting property name enclosed in double quotes": "a JSON key in double quotes",
    "expecting value": "a value",
    "expecting ':' delimiter": "a : after the JSON key",
    "expecting ',' delimiter": "a comma or the end of the object or list",
}
"""The complaints of Python's parser as what JSON expects."""
COMPLAINTS: Mapping[str, str] = {
    "unterminated string": "the text that begins there has no closing quote",
    "invalid control character": "a line break or another control character is inside a text",
    "invalid \\escape": "the backslash there is not a JSON escape",
}
"""Other complaints in plain words."""
AN_OBJECT = re.compile(
    r"""(?<![\w\\])\{\s*(?:["'“”„:\[]|[A-Za-z_][\w-]*\s*[:=,;])|\{\n\s*[A-Za-z_]|[\w}] \{\s*[A-Za-z_]\w*\s*:"""
)
"""The beginning of an object in JSON or another language, unlike a placeholder or a command of LaTeX."""
PIECE = re.compile(r"""\w[\w.-]{0,30}:?|[^\w\s"]{1,3}|"[^"\n]{0,20}"?""")
"""The first piece at a mistake."""


def broken_at(text: str, start: int = 0) -> tuple[int, str] | None:
    """Return the first offset at which an object is no longer JSON, and a sentence's end about it."""
    begin = AN_OBJECT.search(text, start, start + LONGEST_REWRITTEN)
    if begin is None:
        return None
    start = text.index("{", begin.start())
    piece = text[start : start + LONGEST_REWRITTEN]
    found = JsonText(piece).complaint
    is_certain = len(piece) < LONGEST_REWRITTEN or (found and found[1] < LONGEST_REWRITTEN // 2)
    if found is None or not is_certain or (len(piece) == LONGEST_REWRITTEN and found[0] == "unterminated string"):
        return None
    said, at = COMPLAINTS.get(found[0], found[0]), start + found[1]
    if said in WANTED:
        there = PIECE.match(text, at)
        said = f"{WANTED[said]} is expected there, " + (
            f"not {shown(there.group())}" if there else "and nothing follows"
        )
    return at, said


_STRING_OR_BRACKET = re.compile(rf"{_STRING.pattern}|[{{}}\[\]]", re.DOTALL)
_PROSE_AFTER = re.compile(r"[}\]]\s*\n\s*[A-Z][^{}\[\]]{20,}\Z")


class JsonText:
    """A text that should be JSON; each fact about it is found once, when it is asked for."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.start = first_opening(text)

    @kept
    def outside(self) -> str:
        """The text with every `"…"` emptied."""
        return _STRING.sub('""', self.text)

    @kept
    def _first(self) -> tuple[int, tuple[str, int] | None]:
        if self.start < 0:
            return -1, None
        try:
            return _DECODER.raw_decode(self.text, self.start)[1], None
        except json.JSONDecodeError as error:
            said = error.msg[0].lower() + error.msg[1:]
            return -1, (said.removesuffix(" at").removesuffix(" starting"), error.pos)
        except (ValueError, RecursionError):
            return -1, ("nested too deeply", self.start)

    @property
    def end(self) -> int:
        """Return the end of the first object or list; -1 if it is invalid or there is none."""
        return self._first[0]

    @property
    def complaint(self) -> tuple[str, int] | None:
        """Return the first JSON error in the first object or list, with its offset."""
        return self._first[1]

    @kept
    def unescaped_quotes(self) -> list[int]:
        """The offsets of unescaped quotes inside strings.

        Empty unless escaping them makes the first object or list valid. A quote that no JSON punctuation follows cannot
        end its string.
        """
        if self.start < 0 or len(self.text) > LONGEST_REWRITTEN or self.end >= 0:
            return []
        found: list[int] = []
        for match in _STRING_BY_ITS_END.finditer(self.text, self.start):
            if match[1] and '"' in match[1]:
                inner = _ESCAPE_OR_QUOTE.finditer(self.text, *match.span(1))
                found += [one.start() for one in inner if one.group() == '"']
                if len(found) > MOST_QUOTES:
                    return []
        return found if found and valid_object_at(with_escapes(self.text, found), self.start, _LENIENT) >= 0 else []

    @kept
    def _ends_in_string(self) -> bool:
        if "\\" not in self.text:
            return self.text.count('"') % 2 == 1
        *_, last = ["", *_STRING.findall(self.text)]
        return _STRING_CLOSED.fullmatch(last) is None and last != ""

    @kept
    def is_cut_off(self) -> bool:
        """True if broken JSON ends before its last string, object or list does.

        An odd number of quotes proves nothing if the last bracket closes the first: a string may contain a quote.
        """
        if self.text[self.start + 1 : self.start + BEGINS].lstrip().startswith('\\"'):  # each quote has a backslash
            return JsonText(self.text.replace('\\"', '"')).is_cut_off
        bare, stripped = self.outside, without_fences(self.text)
        if stripped[:1] == "{" == stripped[1:].lstrip()[:1] and bare.count("{") == bare.count("}") + 1:
            return False  # not the end is missing: the first brace is doubled
        has_open = bare.count("{") > bare.count("}") or bare.count("[") > bare.count("]")
        if not has_open and not self._ends_in_string:
            return False
        if _PROSE_AFTER.search(bare[-LONGEST_REWRITTEN:]):
            return False  # a bracket is missing inside, and the text goes on after the object
        start = first_opening(stripped)
        opening, closing = "{}" if stripped[start : start + 1] == "{" else "[]"
        is_closed = start >= 0 and stripped.endswith(closing)
        if is_closed and (bare.count(opening) == bare.count(closing) or self.wrong_bracket is not None):
            return False  # a bracket is missing inside
        return not (self._ends_in_string and is_closed) and not self.unescaped_quotes

    @property
    def wrong_bracket(self) -> tuple[int, str] | None:
        """Return the first closing bracket of the wrong kind: its offset, and the expected bracket."""
        due: list[str] = []
        for match in _STRING_OR_BRACKET.finditer(self.text[:LONGEST_REWRITTEN], max(0, self.start)):
            sign = match.group()
            if sign in "{[":
                due.append("}" if sign == "{" else "]")
            elif sign in "}]" and due and sign != due.pop():
                return match.start(), "]" if sign == "}" else "}"
        return None

    @kept
    def oddities(self) -> tuple[str, ...]:
        """The certain mistakes that make the text invalid JSON."""
        quotes = self.unescaped_quotes
        said = "a quote inside a string without a backslash" if len(quotes) == 1 else ""
        found = [said or "quotes inside strings without backslashes"] if quotes else []
        one = JsonText(with_escapes(self.text, quotes)) if quotes else self
        plain = without_comments(one.text)
        if plain != one.text:
            found.append("a comment")
            one = JsonText(plain)
        text, bare = one.text, one.outside
        found += [name for name, sign in IN_THE_TEXT.items() if sign.search(text)]
        if FENCE_LINE.search(bare):
            found.append("a code fence")
        if '"""' in text:
            found.append("triple quotes")
        if one._ends_in_string and not one.is_cut_off:
            return tuple(found)  # the bounds of its strings are unknown
        found += [name for name, sign in OUTSIDE_STRINGS.items() if sign.search(bare)]
        if text.count("\n") > bare.count("\n"):
            found.append("line breaks inside of strings")
        return tuple(found)


_STRING_CLOSED = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)


def with_escapes(text: str, quotes: list[int]) -> str:
    """Insert a backslash at each of these offsets."""
    pieces = [text[start:end] for start, end in zip([0, *quotes], [*quotes, len(text)], strict=True)]
    return "\\".join(pieces)


def without_comments(text: str) -> str:
    """Remove the comments `# …` and `// …` outside the strings of a JSON text."""
    if "#" not in text and "//" not in text:
        return text
    return _STRING_OR_COMMENT.sub(lambda match: match.group() if match.group()[0] == '"' else "", text)


def first_opening(text: str) -> int:
    """Return the offset of the first `{` or `[`; -1 for none."""
    brace, bracket = text.find("{"), text.find("[")
    return max(brace, bracket) if brace < 0 or bracket < 0 else min(brace, bracket)


def begins_without_brace(reading: Reading) -> bool:
    """Return whether the parser took JSON keys before the first `{`, part of a value."""
    first = reading.completion.find("{")
    if first <= 0:
        return False
    keys = [span.start for span in reading.spans if span.kind == "marker" and span.field]
    return bool(keys) and keys[0] < first and reading.completion[keys[0]] == '"'


def valid_object_at(text: str, start: int, decoder: json.JSONDecoder = _DECODER) -> int:
    """Return the end of the valid JSON value at `start`; -1 if there is none."""
    if start < 0:
        return -1
    try:
        return decoder.raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return -1


def object_after(text: str, signs: str) -> dict[str, object] | None:
    """Return the object of a text that has only some signs before it, or None."""
    opening = text.find("{")
    if opening < 0 or text[:opening].strip(signs):
        return None
    try:
        value, _ = _LENIENT.raw_decode(text, opening)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def text_in_quotes(text: str) -> str:
    """Return the object that is written as one JSON string; "" for other texts."""
    if text.lstrip()[:1] not in ('"', "`"):
        return ""
    stripped = without_fences(text)
    if stripped[:1] != '"' or stripped[-1:] != '"' or "{" not in stripped[:BEGINS]:
        return ""
    try:
        inner = json.loads(stripped, strict=False)
    except (ValueError, RecursionError):
        return ""
    return inner if isinstance(inner, str) and inner.lstrip()[:1] == "{" else ""


def lost_words(text: str, value: object) -> list[str]:
    """Return words and digits of a JSON text that are missing from its parsed value.

    Empty for a text with backslashes, whose words are uncertain.
    """
    if "\\" in text or (type(value) is str and text.strip().strip('"') == value):
        return []
    kept = set(_words_of(value))
    words = list(islice(dict.fromkeys(WORD.findall(FENCE_LINE.sub(" ", without_comments(text)))), MOST_WORDS))
    lost = [word for word in words if word not in kept and word.lower() not in NUMBER_WORDS]
    if any(word[0].isdigit() for word in lost):
        numbers = {int(word) for word in (*kept, *_EXPONENT.findall(text)) if _is_whole_number(word)}
        lost = [word for word in lost if not word[0].isdigit() or (_is_whole_number(word) and int(word) not in numbers)]
    return lost


def _is_whole_number(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) < 20


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


def keys_inside(value: object) -> Iterator[str]:
    """Yield the keys of every object in a JSON value."""
    waiting = [value]
    for one in waiting:
        if isinstance(one, dict):
            yield from one
        if isinstance(one, dict | list):
            waiting += one.values() if isinstance(one, dict) else one


def without_fences(text: str) -> str:
    """Remove the fence lines of a text and strip it."""
    return FENCE_LINE.sub("", text).strip()
