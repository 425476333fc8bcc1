"""A prompt as a picture: every message a card, every piece in the colour and style of what it is, with a legend."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from xml.sax.saxutils import escape

from adapters.prompts.text import KINDS
from adapters.shown.as_text import visible
from adapters.shown.colours import DATA, LOOKS
from sessions.exports.exported import Exported, ExportError, Source, beside

COLUMNS = 100
CELL, ROW, MARGIN = 8.4, 20, 24
MOST_ROWS = 4_000
"""A picture of more is one that nobody can open."""

STYLES: Mapping[str, tuple[str, str]] = {kind: (look.light, look.font) for kind, look in LOOKS.items()}
"""Colour and style by kind."""

HEAD = ("#24272e", "font-weight:bold")
CARD_HEAD = ("#a85a00", "font-weight:bold")


@dataclass(frozen=True)
class Run:
    """Text of one kind on one row, from a cell on."""

    start: int
    text: str
    kind: str


def svg(source: Source) -> Exported:
    """The prompt of one column and case. Raises ExportError for one of more than MOST_ROWS rows."""
    view = source.first
    cards: list[tuple[str, list[list[Run]]]] = []
    kinds: set[str] = set()
    count = 0
    for message in view.request.messages:
        shown = [(piece.text, piece.kind) for piece in message.passage.pieces]
        kinds |= {kind for _, kind in shown}
        count += 2 + max(
            sum(text.count("\n") for text, _ in shown), sum(len(text) for text, _ in shown) // COLUMNS // 2
        )
        if count > MOST_ROWS:
            raise ExportError(
                f"a picture has room for {MOST_ROWS:,} rows, and the prompt has more; the export as markdown has room"
            )
        cards.append((message.title, rows_of(shown)))
    left = list(beside(view))
    if any(message.has_data for message in view.request.messages):
        left.append("long data of images and files is cut")
    return Exported(_drawn(f"{source.name} · {view.column.id} · {view.case.name}", cards, kinds), tuple(left))


def rows_of(shown: list[tuple[str, str]]) -> list[list[Run]]:
    """The pieces as rows of at most COLUMNS cells, broken between words where there are any."""
    rows: list[list[Run]] = [[]]
    cell = 0
    for text, kind in shown:
        for number, line in enumerate(visible(text).split("\n")):
            if number:
                rows.append([])
                cell = 0
            for word in _words(line):
                width = cells(word)
                if cell and cell + width > COLUMNS:
                    rows.append([])
                    cell = 0
                for part in _chunks(word):
                    if cell and cell + cells(part) > COLUMNS:
                        rows.append([])
                        cell = 0
                    rows[-1].append(Run(cell, part, kind))
                    cell += cells(part)
    return [_joined(row) for row in rows]


def _words(line: str) -> Iterator[str]:
    """Words with the blanks behind them."""
    start = 0
    for index in range(1, len(line)):
        if line[index] != " " and line[index - 1] == " ":
            yield line[start:index]
            start = index
    if line[start:]:
        yield line[start:]


def _chunks(word: str) -> Iterator[str]:
    """A word too long for a row in pieces that fit."""
    piece, width = "", 0
    for sign in word:
        if width + cells(sign) > COLUMNS:
            yield piece
            piece, width = "", 0
        piece += sign
        width += cells(sign)
    if piece:
        yield piece


def _joined(row: list[Run]) -> list[Run]:
    joined: list[Run] = []
    for run in row:
        if joined and joined[-1].kind == run.kind:
            joined[-1] = Run(joined[-1].start, joined[-1].text + run.text, run.kind)
        else:
            joined.append(run)
    return joined


def cells(text: str) -> int:
    """How many cells of a grid the text takes: two for wide letters, none for marks on a letter."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(one) else 2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in text
    )


def _drawn(name: str, cards: list[tuple[str, list[list[Run]]]], kinds: set[str]) -> str:
    width = COLUMNS * CELL + 4 * MARGIN
    body = [_text(MARGIN, MARGIN + 14, visible(name, keep=""), *HEAD)]
    x, top = float(MARGIN), MARGIN + 14.0 + ROW
    for kind in [one for one in (*KINDS, DATA) if one in kinds]:
        if x + len(kind) * CELL > width - MARGIN:
            x, top = float(MARGIN), top + ROW
        body.append(_text(x, top, kind, *STYLES[kind]))
        x += (len(kind) + 2) * CELL
    top += ROW
    for heading, rows in cards:
        height = (len(rows) + 1) * ROW + MARGIN
        body.append(
            f'<rect x="{MARGIN}" y="{_number(top)}" width="{_number(width - 2 * MARGIN)}" height="{height}" rx="6" '
            'fill="#fbfaf7" stroke="#cfccc2"/>'
        )
        body.append(_text(2 * MARGIN, top + ROW + 4, visible(heading, keep=""), *CARD_HEAD))
        for number, row in enumerate(rows, 2):
            y = top + number * ROW + 8
            body += [_text(2 * MARGIN + run.start * CELL, y, run.text, *STYLES[run.kind]) for run in row]
        top += height + MARGIN / 2
    shown_height = _number(top + MARGIN / 2)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_number(width)}" height="{shown_height}" '
        f'viewBox="0 0 {_number(width)} {shown_height}">\n'
        "<style>text{font-family:'DejaVu Sans Mono','Fira Code',Menlo,Consolas,monospace;font-size:14px;"
        "white-space:pre}</style>\n"
        '<rect width="100%" height="100%" fill="#f4f3ef"/>\n' + "\n".join(body) + "\n</svg>\n"
    )


def _text(x: float, y: float, text: str, colour: str, style: str) -> str:
    if not text.strip():
        return ""
    styled = f' style="{style}"' if style else ""
    length = f' textLength="{_number(cells(text) * CELL)}" lengthAdjust="spacingAndGlyphs"'
    at = f'x="{_number(x)}" y="{_number(y)}"'
    return f'<text {at} fill="{colour}"{styled}{length} xml:space="preserve">{escape(text)}</text>'


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
