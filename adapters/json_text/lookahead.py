"""Find the next quote or bracket as json_repair does when it looks ahead, but faster.

It asks at every quote, and walks there character by character; inside of a list it walks from quote to quote up to the
next closing bracket, so that a list of quotes costs the square of their number, and of long texts minutes.
Rule: `json_repair.json_parser.JSONParser.skip_to_character`, and its use in `json_repair.parse_string`.
"""

from __future__ import annotations

import inspect
import re
from bisect import bisect_left
from collections.abc import Callable
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


AT_ONCE = 64
"""Characters that a search looks at in the time of one look."""


@lru_cache(maxsize=1)
def walk_is_known() -> bool:
    """Return whether the installed json_repair looks ahead in this way, and only here for one of two characters."""
    try:
        from json_repair import parse_string

        source = inspect.getsource(parse_string)
    except (ImportError, OSError):  # another release, or one without its source
        return False
    return WALK in source and source.count("skip_to_character(character=[") == 2


def looks_of(distance: int) -> int:
    """Return the cost of a search over this distance, in looks at a character."""
    return 1 + max(distance, 0) // AT_ONCE


def first_unescaped(text: str, targets: str, start: int) -> int:
    """Find the first unescaped character of `targets` from `start` on; the text's length if there is none."""
    found = _up_to(targets).match(text, start)
    assert found is not None  # the pattern matches nothing, too
    end = found.end()
    return len(text) if text[end : end + 1] == "\\" else end


@lru_cache(maxsize=64)
def _up_to(targets: str) -> re.Pattern[str]:
    others = rf"[^{re.escape(targets)}\\]*+"
    return re.compile(rf"{others}(?:\\.{others})*+", re.DOTALL)


class Walk:
    """The walk from quote to quote up to the next closing bracket, in two steps at most instead of one a quote.

    The quotes up to that bracket are looked for once, and no further: json_repair may rewrite the text at its next
    step, and a walk of the new text begins anew. `take` is told each place that is found.
    """

    def __init__(self, text: str, quote: str, take: Callable[[int], None]) -> None:
        self.text = text
        self._targets = quote + "]"
        self._take = take
        self._quotes: list[int] = []
        """Find an unescaped quote between `_start` and `_end`, the place of the bracket or the text's length."""
        self._start = self._end = -1

    def step(self, start: int) -> int:
        """Return where the walk from `start`, right after a quote, may continue: some pairs of quotes later.

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
