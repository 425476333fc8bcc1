"""Define the column that a page of F7 shows, and helpers to write pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.cells import cell_len

from adapters.late_dataclasses import dataclass, field
from adapters.requests.request import Request
from adapters.requests.token_ledger import Ledger
from sessions.model.session import Case, Column, Session
from workbench.output import json_shapes, measures
from workbench.output.display import one_line
from workbench.state.document import RenderedColumn
from workbench.tui.keys import USUAL, KeyWords
from workbench.tui.runs.runs import ColumnRun
from workbench.tui.widgets.text.text_view import EMPTY, Block, Piece, block


@dataclass(frozen=True)
class LookedAt:
    """The inspected column of the current case, all columns, and the last runs and requests by column id.

    `requests` are those sent since the app started.
    """

    session: Session
    case: Case
    rendered: RenderedColumn
    columns: tuple[RenderedColumn, ...]
    runs: Mapping[str, ColumnRun] = field(default_factory=dict)
    requests: Mapping[str, Request] = field(default_factory=dict)
    keys: KeyWords = USUAL
    counted: Mapping[str, tuple[Request, Ledger]] = field(default_factory=dict)
    """The last counted request and its tokens by column id."""

    @property
    def column(self) -> Column:
        return self.rendered.column

    @property
    def run(self) -> ColumnRun | None:
        return self.runs.get(self.column.id)

    @property
    def sent(self) -> Request | None:
        """The last sent request."""
        return self.requests.get(self.column.id)

    @property
    def model(self) -> str:
        return self.session.model_of(self.column)


def duration(milliseconds: float) -> str:
    return f"{milliseconds:,.0f} ms" if milliseconds < 10_000 else f"{milliseconds / 1000:,.1f} s"


def measured(milliseconds: float, usage: object, cost: object) -> str:
    """Describe a call's time, tokens (prompt + reply) and cost, as far as known."""
    counts = usage if isinstance(usage, Mapping) else {}
    given, made = counts.get("prompt_tokens"), counts.get("completion_tokens")
    tokens = f"{given:,} + {made:,} tokens" if isinstance(given, int) and isinstance(made, int) else ""
    price = measures.cost(cost) if isinstance(cost, float | int) else ""
    if not tokens and not price:
        return f"{duration(milliseconds)} · tokens and cost unknown"
    return " · ".join((duration(milliseconds), tokens or "tokens unknown", price or measures.cost(None)))


NAME_WIDTH = 16
LONGEST_JSON = 200_000
"""The limit of a page's JSON in characters; copying gives all of it."""


def heading(text: str) -> list[Block]:
    return [EMPTY, block(text, "heading"), EMPTY]


def paragraph(text: str, style: str = "text") -> list[Block]:
    return [block(text, style), EMPTY]


def outdated(at: LookedAt) -> list[Block]:
    """Begin a page about a request, with why it is out of date, if it is."""
    said = paragraph(f"Out of date, because of {at.rendered.error}", "error") if at.rendered.error else []
    return [EMPTY, *said]


def named(name: str, *said: str | tuple[str, str], target: str = "", width: int = NAME_WIDTH) -> Block:
    """Show a name and its description, which consists of texts and pairs (text, style)."""
    pieces = [Piece(one) if isinstance(one, str) else Piece(*one) for one in said]
    label = one_line(name, width)
    return Block(tuple(pieces), 2, target, Piece(label + " " * max(1, width + 1 - cell_len(label)), "key"))


def table(rows: Sequence[Sequence[tuple[str, str]]], targets: Sequence[str] = (), widest: int = 30) -> list[Block]:
    """Align rows of cells (text, style); `targets` has a target for each row, or is empty."""
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
    """Write a value as indented JSON without ASCII escapes; other Python objects are described in words."""
    return json_shapes.dumps(value, ascii_only=False)


def json_block(value: Any) -> list[Block]:
    text = as_json(value)
    if len(text) <= LONGEST_JSON:
        return [block(text, "value", indent=2)]
    cut = f"… {len(text) - LONGEST_JSON:,} more characters; copy it to see them"
    return [block(text[:LONGEST_JSON], "value", indent=2), block(cut, "note", indent=2)]


def comma(names: Iterable[str], none: str = "none") -> str:
    return ", ".join(names) or none
