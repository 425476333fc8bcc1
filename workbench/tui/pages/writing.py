"""The shapes that pages are written in: headings, paragraphs, lines of a name and what there is to say of it, JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.cells import cell_len

from workbench.output import json_shapes
from workbench.output.display import one_line
from workbench.tui.widgets.text.text_view import EMPTY, Block, Piece, block

NAME_WIDTH = 16
LONGEST_JSON = 200_000
"""Characters of JSON that a page shows; the rest can be copied."""


def heading(text: str) -> list[Block]:
    return [EMPTY, block(text, "heading"), EMPTY]


def paragraph(text: str, style: str = "text") -> list[Block]:
    return [block(text, style), EMPTY]


def named(name: str, *said: str | tuple[str, str], target: str = "", width: int = NAME_WIDTH) -> Block:
    """A name, and beside it what there is to say: texts, or (text, style)."""
    pieces = [Piece(one) if isinstance(one, str) else Piece(*one) for one in said]
    label = one_line(name, width)
    return Block(tuple(pieces), 2, target, Piece(label + " " * max(1, width + 1 - cell_len(label)), "key"))


def table(rows: Sequence[Sequence[tuple[str, str]]], targets: Sequence[str] = (), widest: int = 30) -> list[Block]:
    """Cells of (text, style) under each other; a target for each row, or none."""
    if not rows:
        return []
    count = max(len(row) for row in rows)
    shown = [[(one_line(text, widest), style) for text, style in row] for row in rows]
    widths = [max(cell_len(row[at][0]) if at < len(row) else 0 for row in shown) for at in range(count)]
    blocks: list[Block] = []
    for number, row in enumerate(shown):
        pieces = [
            Piece(text + " " * (widths[at] - cell_len(text) + 2 if at < len(row) - 1 else 0), style)
            for at, (text, style) in enumerate(row)
        ]
        blocks.append(Block(tuple(pieces), 2, targets[number] if targets else ""))
    return blocks


def as_json(value: Any) -> str:
    """A value as indented JSON of any text; what JSON does not know is said in words."""
    return json_shapes.dumps(value, ascii_only=False)


def json_block(value: Any) -> list[Block]:
    text = as_json(value)
    if len(text) <= LONGEST_JSON:
        return [block(text, "value", indent=2)]
    cut = f"… {len(text) - LONGEST_JSON:,} more characters; copy it to see them"
    return [block(text[:LONGEST_JSON], "value", indent=2), block(cut, "note", indent=2)]


def comma(names: Iterable[str], none: str = "none") -> str:
    return ", ".join(names) or none
