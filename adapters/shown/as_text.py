"""What is shown, as lines of plain text in which no sign of others steers a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from adapters.shown.blocks import Beside, Note, Passage, Shown, Table, cut

LONGEST = 4_000
"""Characters of one passage."""
LONGEST_CELL = 60
MOST_ROWS = 50
LONGEST_DATA = 120
"""Characters of one text in data (an image, a file) which are shown."""


def lines(shown: Shown) -> Iterator[str]:
    """The lines, without their ends."""
    if shown.title:
        yield visible(shown.title, keep="")
    for block in shown.blocks:
        if isinstance(block, Note):
            yield visible(block.text, keep="")
        elif isinstance(block, Passage):
            yield from _passage(block)
        elif isinstance(block, Table):
            yield from _table(block)
        elif isinstance(block, Beside):
            for one in block.columns:
                yield ""
                yield from lines(one)


def _passage(passage: Passage) -> Iterator[str]:
    if passage.title:
        yield f"── {visible(passage.title, keep='')}"
    pieces, missing = cut(passage.pieces, LONGEST)
    yield from visible("".join([one.text for one in pieces])).split("\n")
    if missing:
        yield f"… {missing:,} more characters"


def _table(table: Table) -> Iterator[str]:
    rows = [[_cell(one) for one in row] for row in (table.head, *table.rows[:MOST_ROWS])]
    widths = [max(len(row[place]) for row in rows) for place in range(len(table.head))]
    for row in rows:
        yield "  ".join([one.ljust(width) for one, width in zip(row, widths, strict=True)]).rstrip()
    if len(table.rows) > MOST_ROWS:
        yield f"… {len(table.rows) - MOST_ROWS:,} more rows"


def _cell(text: str) -> str:
    shown = visible(" ".join(text.split("\n")), keep="")
    return shown if len(shown) <= LONGEST_CELL else shown[: LONGEST_CELL - 1] + "…"


def visible(text: str, keep: str = "\n") -> str:
    """`text` with every sign that does not print (but those of `keep`) as one that does: ␛ for ESC, ⟨U+202E⟩."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one in keep else _picture(one) for one in text)


def _picture(sign: str) -> str:
    if sign == "\t":
        return "    "
    if sign < " ":
        return chr(0x2400 + ord(sign))
    return "␡" if sign == "\x7f" else f"⟨U+{ord(sign):04X}⟩"


def data_line(payload: Any) -> str:
    """Plain JSON that is no text (an image, a file) on one line, its long texts cut as `without_bytes` does."""
    return json.dumps(without_bytes(payload), ensure_ascii=False)


def without_bytes(value: Any) -> Any:
    """The same JSON with texts that are no words (long and without a blank) cut to a beginning and their length."""
    if isinstance(value, str) and len(value) > LONGEST_DATA and not any(map(str.isspace, value)):
        return f"{value[:40]}… ({len(value):,} characters)"
    if isinstance(value, Mapping):
        return {key: without_bytes(one) for key, one in value.items()}
    return [without_bytes(one) for one in value] if isinstance(value, list) else value
