"""Where the words of Python and JSON stand in a text that is being typed, by one regular expression each."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

Syntax = Literal["text", "python", "json"]

LARGEST_TEXT = 40_000
"""Code points above which nothing is highlighted: the whole text is looked at after every key."""


class Highlight(NamedTuple):
    """Columns `start` to `end` of one line, and what stands there."""

    start: int
    end: int
    kind: str


_PYTHON = re.compile(
    r"""(?P<comment>\#[^\n]*)
      | (?P<string>[rbfuRBFU]{0,2}(?:'''(?:[^\\]|\\.)*?(?:'''|\Z)|\"\"\"(?:[^\\]|\\.)*?(?:\"\"\"|\Z)
                   |'(?:[^'\\\n]|\\.)*'?|"(?:[^"\\\n]|\\.)*"?))
      | (?P<keyword>\b(?:class|import|from|as|def|return|pass|None|True|False|in|not|and|or|is|lambda|if|else)\b|->)
      | (?P<type>\b(?:str|int|float|bool|list|dict|tuple|set|Literal|Optional|Union|Any|Enum
                   |date|datetime|Decimal|UUID)\b)
      | (?P<name>\b(?:InputField|OutputField|Signature|BaseModel|Field)\b|@\w+)
      | (?P<number>\b\d[\d_]*(?:\.\d+)?\b)
    """,
    re.VERBOSE | re.DOTALL,
)
_JSON = re.compile(
    r"""(?P<name>"(?:[^"\\\n]|\\.)*"(?=\s*:))
      | (?P<string>"(?:[^"\\\n]|\\.)*"?)
      | (?P<keyword>\b(?:true|false|null|NaN|Infinity)\b)
      | (?P<number>-?\b\d[\d.eE+-]*)
    """,
    re.VERBOSE,
)


@lru_cache(maxsize=64)
def highlight(text: str, syntax: Syntax) -> tuple[tuple[Highlight, ...], ...]:
    """What to colour, line by line (split at `\\n`); nothing for plain or very long text."""
    if syntax == "text" or len(text) > LARGEST_TEXT:
        return ()
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    found: list[list[Highlight]] = [[] for _ in lines]
    row = 0
    for match in (_PYTHON if syntax == "python" else _JSON).finditer(text):
        start, end = match.span()
        while starts[row + 1] <= start:
            row += 1
        for number in range(row, len(lines)):
            if starts[number] >= end:
                break
            column, stop = max(0, start - starts[number]), min(end - starts[number], len(lines[number]))
            if column < stop:
                found[number].append(Highlight(column, stop, str(match.lastgroup)))
    return tuple(tuple(line) for line in found)
