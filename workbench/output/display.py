"""The display gate: every text passes through it on its way to a terminal.

Model output, file contents, names and error messages may contain terminal control sequences, characters that reorder
a line, and invisible characters. `safe` replaces each of them with a visible character one cell wide, so the text keeps
its length and all offsets stay valid. Nothing is hidden, because an invisible character in a prompt is a finding.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Mapping
from functools import cache
from typing import Any
from unicodedata import category, east_asian_width

REPLACEMENT = "\ufffd"
INVISIBLE = "\u205e"
"""Replaces characters without width: zero-width space and joiners, byte order marks, tags, variation selectors."""
LINE_BREAK = "\u2424"
"""Replaces line breaks other than `\\n`, which terminals and editors treat differently."""

LONGEST_NAME = 200
"""The most characters of a name in a message; a name in a file may be as long as the file."""
LONGEST_VALUE = 400
"""The most characters of a value shown by `value_text`."""

BIDI = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
ZERO_WIDTH = (
    *(0x00AD, 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFEFF, 0xFFA0),
    *range(0x180B, 0x1810),
    *range(0x200B, 0x200E),
    *range(0x2060, 0x2066),
    *range(0x206A, 0x2070),
    *range(0xFE00, 0xFE0E),
    *range(0xFFF0, 0xFFFC),
)
TAGS = range(0xE0000, 0xE1000)
SURROGATES = range(0xD800, 0xE000)


@cache
def stand_ins() -> Mapping[int, str]:
    """Map 6,000 code points to what is shown instead; made when a text has one of them."""
    found = {code: chr(0x2400 + code) for code in range(0x20) if code not in (0x09, 0x0A)}
    found |= {0x7F: "\u2421"}
    found |= dict.fromkeys((*range(0x80, 0xA0), *BIDI, *SURROGATES), REPLACEMENT)
    found |= dict.fromkeys((*ZERO_WIDTH, *TAGS), INVISIBLE)
    return found | dict.fromkeys((0x85, 0x2028, 0x2029), LINE_BREAK)


_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\U000e0000-\U000e0fff"
    + "".join(map(chr, (*BIDI, *ZERO_WIDTH)))
    + "]"
)
"""The characters of `stand_ins`."""
_UNSAFE_ASCII = re.compile("[\x00-\x08\x0b-\x1f\x7f]")


def safe(text: str) -> str:
    """Replace control and invisible characters with visible ones; length and offsets stay the same.

    Newlines and tabs are kept. Returns a plain `str`, and the same object if nothing changes.
    """
    pattern = _UNSAFE_ASCII if text.isascii() else _UNSAFE
    return text.translate(stand_ins()) if pattern.search(text) else text


def cell_width(text: str) -> int:
    """Return the width in terminal cells of gated text without newlines and tabs."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(character: str) -> int:
    if character == "\ufe0f":
        return 1
    if category(character) in ("Mn", "Me"):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def _without_breaks(text: str) -> str:
    return safe(text).replace("\n", "↵").replace("\t", " ")


def one_line(text: str, width: int) -> str:
    """Gate `text` and fit it on a line of at most `width` cells; newlines show as `↵`, cuts as `…`."""
    if width <= 0:
        return ""
    head = text[: 8 * width + 8]
    line = _without_breaks(head)
    if len(head) == len(text) and cell_width(line) <= width:
        return line
    taken = cells = 0
    for character in line:
        cells += _cells(character)
        if cells > width - 1:
            break
        taken += 1
    return line[:taken] + "…"


def cut(text: str, most: int, more: str = "…") -> str:
    """Return at most `most` characters of a text; `more` follows a cut, `{}` in it counts those left out."""
    return text if len(text) <= most else text[:most] + more.format(f"{len(text) - most:,}")


def excerpt(text: str, start: int, most: int) -> str:
    """Return at most `most` characters of a text from `start` on; `…` stands for those left out."""
    return ("…" if start else "") + cut(text[start:], most)


def short_name(name: str, width: int) -> str:
    """Fit a name on `width` cells, cut in the middle: similar names often differ only at the end."""
    line = _without_breaks(name)
    tail = line[-(width // 2) :] if cell_width(line) > width > 8 else ""
    while cell_width(tail) > width // 2 or (tail and not _cells(tail[0])):
        tail = tail[1:]
    return one_line(name, width - cell_width(tail)) + tail


def value_text(value: Any) -> str:
    """Return the shortened `repr` of a value, not gated.

    If the `__repr__` of a user's class raises, the text reports that.
    """
    if isinstance(value, str):
        return repr(value) if len(value) <= LONGEST_VALUE else repr(value[:LONGEST_VALUE])[:-1] + "…"
    try:
        return _SHORT.repr(value)
    except Exception as error:  # from the `__repr__` of a user's class
        return f"<a {type(value).__name__} that cannot be shown: {type(error).__name__}>"


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = LONGEST_VALUE
_SHORT.maxlist = _SHORT.maxdict = _SHORT.maxset = _SHORT.maxtuple = 12
_SHORT.maxlong = 100
_SHORT.maxlevel = 4
