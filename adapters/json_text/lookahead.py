"""Where json_repair, looking ahead, finds the next quote or bracket: the same places, found faster.

It asks at every quote, and walks there character by character; inside of a list it walks from quote to quote up to the
next closing bracket, so that a list of quotes costs the square of their number, and of long texts minutes.
Rule: `json_repair.json_parser.JSONParser.skip_to_character`, and its use in `json_repair.parse_string`.
"""

from __future__ import annotations

import inspect
import re
from bisect import bisect_left
from functools import lru_cache

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
"""The walk that `Walk` shortens. All that comes of it is whether the quotes before the bracket are even in number."""


@lru_cache(maxsize=1)
def walk_is_known() -> bool:
    """Whether the installed json_repair walks like this, and nothing else of it looks for one of two characters."""
    try:
        from json_repair import parse_string

        source = inspect.getsource(parse_string)
    except (ImportError, OSError):  # another release, or one without its source
        return False
    return WALK in source and source.count("skip_to_character(character=[") == 2


def first_unescaped(text: str, targets: str, start: int) -> int:
    """Where the first of `targets` stands from `start` on that no backslash escapes; the text's length for nowhere."""
    found = _up_to(targets).match(text, start)
    assert found is not None  # the pattern matches nothing, too
    end = found.end()
    return len(text) if text[end : end + 1] == "\\" else end


@lru_cache(maxsize=64)
def _up_to(targets: str) -> re.Pattern[str]:
    others = rf"[^{re.escape(targets)}\\]*+"
    return re.compile(rf"{others}(?:\\.{others})*+", re.DOTALL)


class Walk:
    """The walk from quote to quote up to the next closing bracket, in two steps at most instead of one a quote."""

    def __init__(self, text: str, quote: str) -> None:
        self.text = text
        self._places: list[int] = []
        """Where an unescaped quote or bracket stands."""
        place = first_unescaped(text, quote + "]", 0)
        while place < len(text):
            self._places.append(place)
            place = first_unescaped(text, quote + "]", place + 1)
        self._bracket = [len(self._places)] * (len(self._places) + 1)
        """For each of them: which is the next bracket, itself included."""
        for number in range(len(self._places) - 1, -1, -1):
            is_bracket = text[self._places[number]] == "]"
            self._bracket[number] = number if is_bracket else self._bracket[number + 1]

    def step(self, start: int) -> int:
        """Where the walk from `start`, right behind a quote, may go on: a number of pairs of quotes further on.

        >>> [Walk('"a" "b" "c"]', '"').step(one) for one in (1, 3, 11)]
        [10, 11, 11]
        """
        first = bisect_left(self._places, start)
        bracket = self._bracket[first]
        if (bracket - first) % 2:
            return self._places[bracket - 1]
        return self._places[bracket] if bracket < len(self._places) else len(self.text)
