"""Parse JSON as dspy does: with `json.loads`, else repaired by json_repair, within our limits.

Rule: `json_repair.loads`, which dspy calls everywhere. json_repair looks ahead at every quote, character by character.
Inside a list it walks from quote to quote to the next closing bracket, so a list of quotes takes quadratic time, and
long texts take minutes. `Walk` finds the same place faster (`JSONParser.skip_to_character`, and its use in
`json_repair.parse_string`).
"""

from __future__ import annotations

import inspect
import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any, cast
from zlib import crc32

from json_repair.json_parser import JSONParser

from adapters.json_text.json_document import Member, members_from
from adapters.json_text.repair_limits import check_repairable, repair_steps


def repair_json(text: str) -> Any:
    """Repair text that is not JSON. Raises ValueError for deep nesting or a text that is too large."""
    return repair_object(text)[0]


def repair_object(text: str) -> tuple[Any, list[Member] | None]:
    """Repair text; also locate the members if json_repair took over a valid object."""
    check_repairable(text)
    if not _CAN_PLACE:
        return _BoundedParser(text).parse(), None
    parser = _PlacingParser(text)
    try:
        value = parser.parse()
    except RecursionError as error:
        raise ValueError(TOO_DEEP) from error
    return value, parser.members if value is parser.taken else None


TOO_DEEP = "Input nesting exceeds the supported parser recursion depth."
"""json_repair's own message."""

_CAN_PLACE = "try_valid_json_suffix" in inspect.signature(JSONParser).parameters and hasattr(
    JSONParser, "_try_parse_valid_json_value"
)
"""True if json_repair parses an object inside a text separately; before about 0.60 it did not, and let RecursionError
through."""


COPIED_AT_ONCE = 1024
"""Characters copied in the time of one look."""


class _CountedText:
    """A text that reports the cost of each access to `take`, in looks."""

    def __init__(self, text: Any, take: Callable[[int], None]) -> None:
        self._text = text
        self._take = take

    def __len__(self) -> int:
        return len(self._text)

    def __getitem__(self, place: int | slice) -> Any:
        found = self._text[place]
        self._take(1 + len(found) // COPIED_AT_ONCE)
        return found


class _BoundedParser(JSONParser):
    """json_repair's parser, stopped with `TooLargeError` when its budget of looks is spent.

    All its loops look at characters through these methods.
    """

    def __init__(self, text: str, **options: Any) -> None:
        super().__init__(text, None, False, **options)
        self._steps = repair_steps()
        self._walks: dict[str, Walk] = {}

    def get_char_at(self, count: int = 0) -> str | None:
        steps = self._steps
        steps.left = left = steps.left - 1
        if left < 0:
            steps.take(0)
        try:
            return self.json_str[self.index + count]
        except IndexError:
            return None

    def skip_to_character(self, character: str | list[str], idx: int = 0) -> int:
        text, start = self.json_str, self.index + idx
        if start < 0 or not isinstance(text, str):
            return int(super().skip_to_character(character, idx))
        if isinstance(character, list) and walk_is_known() and text[start - 1 : start] == character[0]:
            self._steps.take(1)
            walk = self._walks.get(character[0])
            if walk is None or walk.text is not text:  # json_repair rewrites some texts as it goes
                walk = self._walks[character[0]] = Walk(text, character[0], self._steps.take)
            return walk.step(start) - self.index
        found = first_unescaped(text, "".join(character), start)
        self._steps.take(looks_of(found - start))
        return found - self.index

    def parenthesized_is_explicit_tuple(self) -> bool:
        with self._looked_at():
            return bool(super().parenthesized_is_explicit_tuple())

    def top_level_parenthesized_can_start_value(self) -> bool:
        with self._looked_at():
            return bool(super().top_level_parenthesized_can_start_value())

    @contextmanager
    def _looked_at(self) -> Iterator[None]:
        """Count direct looks at the text, as in json_repair's search for a bracket's end."""
        text = self.json_str
        self.json_str = cast(str, _CountedText(text, self._steps.take))
        try:
            yield
        finally:
            self.json_str = text

    def parse_object(self, *schema: Any) -> Any:
        start = self.index
        made = super().parse_object(*schema)
        if not made:  # json_repair scans an empty object's text twice more to guess its meaning
            self._steps.take(2 * max(self.index - start, 0))
        return made

    def scroll_whitespaces(self, idx: int = 0, **options: Any) -> int:
        found: int = super().scroll_whitespaces(idx, **options)
        self._steps.take(abs(found - idx) + 1)
        return found


_SPACE = r"[ \t\n\r]*+"
_STRING = r'"[^"\\\x00-\x1f]++"'
_LEAF = rf"(?:{_STRING}|-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+|true|false|null)"
_LIST = rf"\[{_SPACE}{_LEAF}{_SPACE}(?:,{_SPACE}{_LEAF}{_SPACE})*+\]"
_MEMBER = rf"{_STRING}{_SPACE}:{_SPACE}(?:{_LEAF}|{_LIST}){_SPACE}"
_FLAT = re.compile(rf"\{{{_SPACE}{_MEMBER}(?:,{_SPACE}{_MEMBER})*+\}}(?!\}})")
"""A valid object of leaves and lists of leaves, inside another value, which json_repair reads as `json` does.

Without backslashes and empty strings, its `_try_parse_simple_quoted_string` takes every string as written; it drops
some empty values of lists, and a second brace after an object in a list."""


_BODY = r'"(?![`"])((?:[^"\\{}\[\]„,]|COMMA|\\["bnrt])*+)"'
_IN_OBJECT = re.compile(
    _BODY.replace("COMMA", r",(?!\s*+`?[\w-]*+\s*+:)") + r'(?=\s*+[,}][^"\\]*+(?:"(?!\s*+[:,}])|\Z))'
)
_IN_LIST = re.compile(_BODY.replace("COMMA", ",") + r"(?=\s*+[,\]])")
"""A string with line breaks or escapes, in an object or a list, that ends for json_repair where it ends for `json`.

It has no brackets; in an object, no comma in it is followed by a word and a colon, and the next string begins with
neither a colon, a comma nor a brace (`_handle_right_delimiter_candidate` and `classify_object_value_comma`)."""
_STRINGS = {"OBJECT_VALUE": _IN_OBJECT, "ARRAY": _IN_LIST}
"""By the name of a context, whose enum is in another module in older releases of json_repair."""
_QUOTED_COLON = re.compile(r"['“”]\s*+:")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"b": "\b", "n": "\n", "r": "\r", "t": "\t"}
_KNOWN_SOURCE = 0xD950BB82
"""The checksum of the modules that read strings in json_repair 0.64.5."""


@lru_cache(maxsize=1)
def strings_are_known() -> bool:
    """Return whether the installed json_repair reads strings as 0.64.5 does."""
    try:
        from json_repair import parse_string
        from json_repair.parse_string_helpers import object_value_context

        source = inspect.getsource(parse_string) + inspect.getsource(object_value_context)
    except (ImportError, OSError):  # another release, or no source
        return False
    return crc32(source.encode()) == _KNOWN_SOURCE


class _PlacingParser(_BoundedParser):
    """json_repair's parser, extended to locate a valid object inside the text, and to load flat objects at once."""

    members: list[Member] | None = None
    taken: Any = None
    _quoted_colon: tuple[str, bool] = ("", False)
    """The text that was searched, and the result; json_repair rewrites some texts as it goes."""

    def __init__(self, text: str) -> None:
        super().__init__(text, try_valid_json_suffix=True)

    def parse_object(self, *schema: Any) -> Any:
        start = self.index - 1
        found = None if self.context.empty or schema else _FLAT.match(cast(str, self.json_str), start)
        if found is not None:
            self._steps.take(looks_of(found.end() - start))
            with suppress(ValueError):  # a number of thousands of digits
                value = json.loads(found.group())
                self.index = found.end()
                return value
        return super().parse_object(*schema)

    def parse_string(self) -> Any:
        within = self.context.current
        pattern = _STRINGS.get(within.name) if within is not None else None
        found = pattern.match(cast(str, self.json_str), self.index) if pattern is not None else None
        if found is None or not self._is_as_in_json(found[1]):
            return super().parse_string()
        self._steps.take(looks_of(found.end() - self.index))
        self.index = found.end()
        value = _ESCAPE.sub(lambda escape: _ESCAPED.get(escape[1], escape[1]), found[1])
        return value.rstrip() if value.endswith("\n") else value

    def _is_as_in_json(self, body: str) -> bool:
        """Return whether no quotation mark in a string can be taken for the end of a key."""
        text = cast(str, self.json_str)
        if not strings_are_known() or "," not in body or not any(map(body.__contains__, "'“”")):
            return strings_are_known()
        if self._quoted_colon[0] is not text:
            self._quoted_colon = text, _QUOTED_COLON.search(text) is not None
        return not self._quoted_colon[1]

    def _try_parse_valid_json_value(self) -> tuple[bool, Any]:
        text = self.json_str
        if self.has_tried_valid_json_suffix or not self.context.empty or not isinstance(text, str):
            return super()._try_parse_valid_json_value()
        found = members_from(text, self.index) if text[self.index] == "{" else None
        if found is None:
            return super()._try_parse_valid_json_value()
        self.has_tried_valid_json_suffix = True
        self.members, self.index = found
        self.taken = {one.key: one.value for one in self.members}
        return True, self.taken


WALK = """
            even_delimiters = next_c == outer_rstring_delimiter
            while next_c == outer_rstring_delimiter:
                i = self.skip_to_character(character=[outer_rstring_delimiter, "]"], idx=i + 1)
                next_c = self.get_char_at(i)
                if next_c != outer_rstring_delimiter:
                    even_delimiters = False
                    break
                i = self.skip_to_character(character=[outer_rstring_delimiter, "]"], idx=i + 1)
                next_c = self.get_char_at(i)
            if even_delimiters:
"""
"""The loop that `Walk` shortens. Its only result is whether the number of quotes before the bracket is even."""


AT_ONCE = 64
"""Characters that a search covers in the time of one look."""


@lru_cache(maxsize=1)
def walk_is_known() -> bool:
    """Return whether the installed json_repair has this loop and no other search for two characters."""
    try:
        from json_repair import parse_string

        source = inspect.getsource(parse_string)
    except (ImportError, OSError):  # another release, or no source
        return False
    return WALK in source and source.count("skip_to_character(character=[") == 2


def looks_of(distance: int) -> int:
    """Return the cost of a search over `distance` characters, in looks."""
    return 1 + max(distance, 0) // AT_ONCE


def first_unescaped(text: str, targets: str, start: int) -> int:
    """Return the first unescaped character of `targets` from `start` on, or the text's length."""
    found = _up_to(targets).match(text, start)
    assert found is not None  # the pattern also matches the empty string
    end = found.end()
    return len(text) if text[end : end + 1] == "\\" else end


@lru_cache(maxsize=64)
def _up_to(targets: str) -> re.Pattern[str]:
    others = rf"[^{re.escape(targets)}\\]*+"
    return re.compile(rf"{others}(?:\\.{others})*+", re.DOTALL)


class Walk:
    """A walk between quotes to the next closing bracket, in at most two steps.

    The quotes before that bracket are located once: json_repair may rewrite the text at its next step, and the new text
    needs a new walk. `take` receives the cost of each search in looks.
    """

    def __init__(self, text: str, quote: str, take: Callable[[int], None]) -> None:
        self.text = text
        self._targets = quote + "]"
        self._take = take
        self._quotes: list[int] = []
        """Unescaped quotes between `_start` and `_end`, the place of the bracket or the text's length."""
        self._start = self._end = -1

    def step(self, start: int) -> int:
        """Return where the walk from `start`, right after a quote, may continue.

        >>> walk = Walk('"a" "b" "c"]', '"', lambda looks: None)
        >>> [walk.step(start) for start in (1, 3, 11)]
        [10, 11, 11]
        """
        if not self._start <= start <= self._end:
            self._look(start)
        first = bisect_left(self._quotes, start)
        return self._quotes[-1] if (len(self._quotes) - first) % 2 else self._end

    def _look(self, start: int) -> None:
        quotes: list[int] = []
        from_here = start
        while True:
            place = first_unescaped(self.text, self._targets, from_here)
            self._take(looks_of(place - from_here))
            if place >= len(self.text) or self.text[place] == "]":
                break
            quotes.append(place)
            from_here = place + 1
        self._quotes, self._start, self._end = quotes, start, place
