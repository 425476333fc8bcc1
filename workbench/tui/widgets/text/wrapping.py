"""Wrap `safe` text to a width in terminal cells, in linear time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

from rich.cells import cell_len, get_character_cell_size

TAB_SIZE = 4
EMOJI_SELECTOR = "\ufe0f"
LONGEST_CACHED_LINE = 1_000
WIDEST_HANG = 3
"""Divisor of the width that limits the indent of continuation rows."""


def expand_tabs(text: str, column: int = 0) -> str:
    """Replace tabs by spaces up to the next tab stop; the first line starts at cell `column`."""
    if "\t" not in text:
        return text
    first, *others = text.split("\n")
    return "\n".join([_expand_line(first, column), *[_expand_line(line, 0) for line in others]])


def _expand_line(line: str, column: int) -> str:
    if "\t" not in line:
        return line
    first, *rest = line.split("\t")
    pieces, cells = [first], column + cell_len(first)
    for piece in rest:
        gap = TAB_SIZE - cells % TAB_SIZE
        pieces.append(" " * gap + piece)
        cells += gap + cell_len(piece)
    return "".join(pieces)


def cell_offsets(line: str) -> Sequence[int]:
    """Return the cell at which each character of `line` starts, followed by the line's width."""
    if line.isascii():
        return range(len(line) + 1)
    widths = [get_character_cell_size(character) for character in line]
    if EMOJI_SELECTOR in line:
        position = line.find(EMOJI_SELECTOR, 1)
        while position > 0:
            widths[position] = cell_len(line[position - 1 : position + 1]) - widths[position - 1]
            position = line.find(EMOJI_SELECTOR, position + 1)
    return list(accumulate(widths, initial=0))


def breaks(line: str, width: int, hang: int = 0) -> tuple[int, ...]:
    """Return where to break a line without tabs and newlines into rows of `width` cells (≥ 1).

    All rows after the first are `hang` cells shorter. Words stay whole if they fit; spaces at a break extend beyond the
    edge of the row before it.
    """
    if len(line) * 2 <= width or (len(line) <= width and line.isascii()):
        return ()
    return _breaks_cached(line, width, hang) if len(line) <= LONGEST_CACHED_LINE else _breaks(line, width, hang)


def hang_of(line: str, width: int) -> int:
    """Return the indent of a line's continuation rows: its own indent, limited to a share of the width."""
    return min(len(line) - len(line.lstrip(" ")), width // WIDEST_HANG)


def _breaks(line: str, width: int, hang: int) -> tuple[int, ...]:
    cells = cell_offsets(line)
    end = len(line)
    positions: list[int] = []
    start = 0
    whole = width
    while cells[end] - cells[start] > (width := whole - hang if start else whole):
        cut = start + width if isinstance(cells, range) else bisect_right(cells, cells[start] + width, start) - 1
        if line[cut] == " ":
            cut += 1
        else:
            space = line.rfind(" ", start, cut)
            if space > start:
                cut = space + 1
        start = max(cut, start + 1)
        if start >= end:
            break
        positions.append(start)
    return tuple(positions)


_breaks_cached = lru_cache(maxsize=8_192)(_breaks)


def rows(text: str, width: int, hangs: bool = False) -> list[tuple[int, int]]:
    """Return the rows of a text without tabs as (start, end) offsets, without newlines.

    With `hangs`, continuation rows of a line are `hang_of` cells shorter.
    """
    result: list[tuple[int, int]] = []
    start = 0
    for line in text.split("\n"):
        position = start
        for cut in breaks(line, width, hang_of(line, width) if hangs else 0):
            result.append((position, start + cut))
            position = start + cut
        start += len(line)
        result.append((position, start))
        start += 1
    return result
