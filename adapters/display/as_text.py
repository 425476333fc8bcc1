"""Write blocks as lines of plain text, without control characters from untrusted text.

`ShowsItself` displays objects in notebooks, with the methods that Jupyter, marimo and IPython call.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from adapters.display.blocks import (
    Beside,
    Difference,
    Folded,
    Heading,
    Items,
    Note,
    Passage,
    Shown,
    Table,
    Tone,
    cut,
    text_of,
)

LONGEST = 4_000
"""The most characters of a passage."""
LONGEST_CELL = 60
MOST_ROWS = 50
LONGEST_LINE = 400
"""The most characters of a line of a difference; a line cut to its change has fewer."""
WIDEST = 110
"""The most characters in a line of a grid."""
LONGEST_DATA = 120
"""The longest text in data (an image, a file) that is shown whole."""
_TONES: Mapping[str, Tone] = {"-": "bad", "+": "good"}
"""The tone of a line of a difference, by its first character."""


def lines(shown: Shown) -> Iterator[str]:
    """Yield the lines, without newlines."""
    for line, _ in toned_lines(shown):
        yield line


def toned_lines(shown: Shown, *, most_rows: int = MOST_ROWS, width: int = WIDEST) -> Iterator[tuple[str, Tone]]:
    """Yield the lines with their tones. A grid wider than `width` is transposed or numbered, else left out."""
    if shown.title:
        yield visible(shown.title, keep=""), "strong"
    for block in shown.blocks:
        match block:
            case Note():
                yield visible(block.text, keep=""), block.tone
            case Heading():
                yield "", ""
                yield visible(block.text, keep=""), "strong"
            case Items():
                for one in block.items:
                    yield visible(text_of(one), keep=""), "" if isinstance(one, str) else one.tone
            case Passage():
                if block.title:
                    yield f"── {visible(block.title, keep='')}", ""
                pieces, missing = cut(block.pieces, LONGEST)
                yield from [(line, "") for line in visible("".join([one.text for one in pieces])).split("\n")]
                if missing:
                    yield f"… {missing:,} more characters", ""
            case Table():
                yield from [(line, "") for line in _table(block, most_rows, width)]
            case Difference():
                for one in block.lines:
                    more = f"… ({len(one):,} characters)" if len(one) > LONGEST_LINE else ""
                    yield f"     {visible(one[:LONGEST_LINE], keep='')}{more}", _TONES.get(one[:1], "")
            case Folded(title, inside, is_open=True):
                yield "", ""
                yield visible(title.text, keep=""), title.tone
                yield from toned_lines(Shown("", inside), most_rows=most_rows, width=width)
            case Folded():
                yield f"… {visible(block.title.text, keep='')}", block.title.tone
            case Beside():
                for column in block.columns:
                    yield "", ""
                    yield from toned_lines(column, most_rows=most_rows, width=width)


def _table(table: Table, most_rows: int, width: int) -> list[str]:
    if not table.is_grid:
        return _rows(table, most_rows)
    both = (table, table.turned())
    made = [*[_rows(one, len(one.rows)) for one in both], *[_numbered(one) for one in both]]
    fitting = next((one for one in made if max(map(len, one)) <= width), None)
    cells = f"{len(table.rows):,} × {len(table.head) - 1:,} cells: too many for a text; a page shows them"
    return [cells] if fitting is None else fitting


def _numbered(table: Table) -> list[str]:
    """List the column heads before the table, and use their numbers in it."""
    heads = [f"{number:>3}  {_cell(head)}" for number, head in enumerate(table.head[1:], 1)]
    numbers = (table.head[0], *[str(number) for number in range(1, len(table.head))])
    return [*heads, *_rows(table._replace(head=numbers), len(table.rows))]


def _rows(table: Table, most: int) -> list[str]:
    rows = [[_cell(text_of(one)) for one in row] for row in (table.head, *table.rows[:most])]
    widths = [max(len(row[place]) for row in rows) for place in range(len(table.head))]
    made = ["  ".join([one.ljust(width) for one, width in zip(row, widths, strict=True)]).rstrip() for row in rows]
    return [*made, f"… {len(table.rows) - most:,} more rows"] if len(table.rows) > most else made


def _cell(text: str) -> str:
    shown = visible(" ".join(text.split("\n")), keep="")
    return shown if len(shown) <= LONGEST_CELL else shown[: LONGEST_CELL - 1] + "…"


def visible(text: str, keep: str = "\n") -> str:
    """Replace unprintable characters, except those in `keep`, with visible ones: ␛ for ESC, ⟨U+202E⟩."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one in keep else _picture(one) for one in text)


def _picture(sign: str) -> str:
    if sign == "\t":
        return "    "
    if sign < " ":
        return chr(0x2400 + ord(sign))
    return "␡" if sign == "\x7f" else f"⟨U+{ord(sign):04X}⟩"


def data_line(payload: object) -> str:
    """Write the JSON of non-text content (an image, a file) on a line, cut by `cut_bytes`."""
    return json.dumps(cut_bytes(payload), ensure_ascii=False)


def cut_bytes(value: object) -> Any:
    """Cut long strings without whitespace in JSON to their start and length."""
    if isinstance(value, str) and len(value) > LONGEST_DATA and not any(map(str.isspace, value)):
        return f"{value[:40]}… ({len(value):,} characters)"
    if isinstance(value, Mapping):
        return {key: cut_bytes(one) for key, one in value.items()}
    return [cut_bytes(one) for one in value] if isinstance(value, list) else value


class ShowsItself:
    """Displays an object in Jupyter, marimo and IPython: in color if they support HTML, else as plain text."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._repr_pretty_ = ShowsItself._repr_pretty_  # type: ignore[method-assign]  # IPython prefers a class's own repr

    def shown(self) -> Shown:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        from adapters.display import as_html

        return as_html.cell(self.shown())

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text("…" if cycle else "\n".join(lines(self.shown())))
