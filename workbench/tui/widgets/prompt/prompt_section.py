"""Lay out a message as rows: its title, its text with long values folded, its data parts."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from operator import itemgetter
from typing import NamedTuple

from rich.cells import cell_len

from adapters.late_dataclasses import dataclass
from adapters.prompts.text import DataPart, Message
from adapters.requests.token_estimates import estimate
from workbench.output.display import safe
from workbench.output.measures import summary
from workbench.tui.widgets.text.wrapping import cell_offsets, expand_tabs, hang_of, rows


@dataclass(frozen=True)
class Fold:
    """A rule for folding: pieces of more than about `above` rows show their first `shown` rows."""

    above: int
    shown: int


VALUE_FOLD = Fold(above=16, shown=8)
OTHER_FOLD = Fold(above=200, shown=100)
FOLDED, OPENED, MORE = "▸", "▾", " ⋯"
"""Signs before folded text, before text that is shown completely, and after an excerpt."""
SHORTEST_FOLDED = 16
"""Characters up to which no piece can exceed a fold's `above`."""
LONGEST_SHOWN = 200_000
"""Maximum characters shown of a piece, even unfolded."""


class Piece(NamedTuple):
    """A stretch of a section's text: its kind, and the number of its piece in the message (-1 for none)."""

    text: str
    kind: str
    number: int


class Origin(NamedTuple):
    """The origin of a piece of a prompt: its kind, its field (None: no field), and its turn."""

    kind: str
    field: str | None
    turn: str


Given = tuple[str, str, str | None]
"""A piece of a message: text, kind and field."""
IsUnfolded = Callable[[Origin], bool]


def title(message: Message) -> str:
    """Return a message's title: `system`, `user · demo 1`, `assistant · history 2`, `user`."""
    if message.turn in ("inputs", message.role):
        return message.role
    return f"{message.role} · {message.turn}"


def pieces_of(message: Message) -> list[Given]:
    """Return a message's pieces; data parts become a line of kind `data`."""
    found: list[Given] = []
    for part in message.parts:
        if isinstance(part, DataPart):
            gap = "\n" if found and not found[-1][0].endswith("\n") else ""
            found.append((f"{gap}▣ {summary(part.payload)}\n", "data", part.field))
        else:
            found.extend(part.segments)
    for key, value in message.extra.items():
        gap = "\n" if found and not found[-1][0].endswith("\n") else ""
        found.append((f"{gap}{key}: {json.dumps(value, ensure_ascii=False, default=repr)}", "data", None))
    return found


class Section:
    """A message laid out at a width: row 0 is its title, the other rows its text."""

    form = "sections"
    is_title_alone = False
    """True if only the title is shown."""
    excerpt = hidden_rows = 0
    """Rows of folded text: those shown, and all of them, up to `LONGEST_SHOWN` characters."""

    def __init__(self, message: Message, width: int, is_unfolded: IsUnfolded) -> None:
        self.message = message
        self.width = max(1, width)
        self.folded: set[int] = set()
        given = pieces_of(message)
        made = {key: _origin(*key, message.turn) for key in {(kind, field) for _, kind, field in given}}
        self.origins = [made[kind, field] for _, kind, field in given]
        self.pieces: list[Piece] = []
        self._lay_out(given, is_unfolded)
        if not self.pieces and not self.is_title_alone:
            self.pieces.append(Piece("(no content)", "note", -1))
        # Make the whole text `safe` at once; this keeps every offset and usually changes nothing
        text = "".join([piece.text for piece in self.pieces])
        self.text = safe(text)
        if self.text != text:
            self.pieces = [piece._replace(text=safe(piece.text)) for piece in self.pieces]
        if "\t" in self.text:
            column = 0
            for position, piece in enumerate(self.pieces):
                text = expand_tabs(piece.text, column)
                self.pieces[position] = piece._replace(text=text)
                _before, newline, last = text.rpartition("\n")
                column = cell_len(last) if newline else column + cell_len(last)
            self.text = "".join([piece.text for piece in self.pieces])
        self.starts = [0, *accumulate([len(piece.text) for piece in self.pieces])]
        self.rows = [] if self.is_title_alone else rows(self.text, self.width, hangs=True)
        self.height = 1 + len(self.rows)

    def _lay_out(self, given: list[Given], is_unfolded: IsUnfolded) -> None:
        """Fill `pieces`."""
        for index, (text, kind, _) in enumerate(given):
            cut: int | None = None
            if len(text) > SHORTEST_FOLDED and ("\n" in text or len(text) > fold_of(kind).above):
                cut = fold_point(text, self.width, fold_of(kind))
            if cut is not None:
                self.folded.add(index)
                if is_unfolded(self.origins[index]):
                    cut = LONGEST_SHOWN if len(text) > LONGEST_SHOWN else None
            self.pieces.append(Piece(text[:cut], kind, index))
            if cut is not None:
                self._add_rest(len(text), index, cut, "\n" if text.endswith("\n") else "")

    def _add_rest(self, length: int, index: int, cut: int = LONGEST_SHOWN, tail: str = "") -> None:
        """Add a piece that says how much of a text is hidden after `cut`, if any."""
        if length > cut:
            self.pieces.append(Piece(f" ⋯ {length - cut:,} more characters{tail}", "fold", index))

    def is_away(self, number: int, offset: int) -> bool:
        """Return whether a character of piece `number` is hidden by a fold."""
        return number in self.folded and offset >= len(next(one.text for one in self.pieces if one.number == number))

    def row_of(self, number: int, offset: int) -> int:
        """Return the row of a character of piece `number`, or the piece's last row if the character is folded."""
        for position, piece in enumerate(self.pieces):
            if piece.number == number:
                place = min(self.starts[position] + self.shown_offset(number, offset), self.starts[position + 1] - 1)
                return self._row_at(place)
        return 1

    def shown_offset(self, number: int, offset: int) -> int:
        """Return where a character of piece `number` is in the piece's shown text."""
        return offset

    def runs(self, row: int) -> list[tuple[Piece, str]]:
        """Return the pieces in a row of text (rows start at 1, after the title), each with its text there."""
        start, end = self.rows[row - 1]
        found: list[tuple[Piece, str]] = []
        position = bisect_right(self.starts, start) - 1
        if (hang := self.hang(row)) and start < end:
            found.append((self.pieces[position]._replace(number=-1), " " * hang))
        while position < len(self.pieces) and self.starts[position] < end:
            shown = self.text[max(start, self.starts[position]) : min(end, self.starts[position + 1])]
            if shown:
                found.append((self.pieces[position], shown))
            position += 1
        return found

    def hang(self, row: int) -> int:
        """Return the indent in cells of a row that continues the line above it."""
        start = self.rows[row - 1][0]
        if row < 2 or self.rows[row - 2][1] != start or self.text[start - 1 : start] == "\n":
            return 0
        above = row - 1
        while above > 1 and self.rows[above - 2][1] == self.rows[above - 1][0]:
            above -= 1
        first, end = self.rows[above - 1]
        return hang_of(self.text[first:end], self.width)

    def rows_of(self, index: int) -> tuple[int, int]:
        """Return the first and the last row with visible text of piece `index`."""
        positions = [position for position, piece in enumerate(self.pieces) if piece.number == index]
        start, end = self.starts[positions[0]], self.starts[positions[-1] + 1]
        seen = self.text[start:end]
        first = start + len(seen) - len(seen.lstrip("\n"))
        last = start + len(seen.rstrip("\n")) - 1
        return self._row_at(min(first, end - 1)), self._row_at(max(first, last))

    def piece_near(self, row: int, cell: int) -> int | None:
        """Return the piece at a cell of a row, or the nearest one; None on an empty row."""
        found: int | None = None
        position = 0
        for piece, text in self.runs(row):
            if position > cell and found is not None:
                break
            if piece.number >= 0 and text.strip():
                found = piece.number
            position += cell_len(text)
        return found

    def piece_at(self, row: int, cell: int) -> Piece | None:
        """Return the piece at exactly this cell of a row, or None."""
        position = 0
        for piece, text in self.runs(row):
            position += cell_len(text)
            if 0 <= cell < position:
                return piece
        return None

    def cell_of(self, number: int) -> int:
        """Return the cell at which a piece starts on its first row."""
        cell = 0
        for piece, text in self.runs(self.rows_of(number)[0]):
            if piece.number == number:
                break
            cell += cell_len(text)
        return cell

    def _row_at(self, offset: int) -> int:
        return max(1, bisect_right(self.rows, offset, key=itemgetter(0)))

    def stops(self) -> list[int]:
        """Return the pieces at which the cursor stops: those with visible text."""
        own = (piece for piece in self.pieces if piece.number >= 0 and piece.kind != "fold")
        return [piece.number for piece in own if piece.text.strip()]


class FoldedSection(Section):
    """A message reduced to the text that differs between columns and cases.

    A demo is reduced to its title. In a system message, the description of fields and structure is replaced by a line
    with its size in tokens and its first `excerpt` rows (fewer if the last would be empty), followed by the
    instructions.
    """

    def __init__(self, message: Message, width: int, is_unfolded: IsUnfolded, excerpt: int = 0) -> None:
        self.excerpt = excerpt
        self.first_own = 0
        """The first piece that is not folded."""
        super().__init__(message, width, is_unfolded)

    def _lay_out(self, given: list[Given], is_unfolded: IsUnfolded) -> None:
        first = _first_own(given)
        self.is_title_alone = first is None
        if first is None:
            return
        self.first_own = first
        hidden = "".join([text for text, _, _ in given[:first]])
        text = safe(hidden[:LONGEST_SHOWN])
        found = rows(text.rstrip("\n"), self.width, hangs=True)
        self.hidden_rows = len(found)
        sign = OPENED if self.excerpt >= len(found) else FOLDED
        self.pieces.append(Piece(f"{sign} fields and structure ~{estimate(hidden):,}\n", "fold", 0))
        self._add_excerpt(given[:first], text, found[: self.excerpt])
        head = len(self.pieces)
        super()._lay_out(given[first:], is_unfolded)
        self.pieces[head:] = [one._replace(number=one.number + first) for one in self.pieces[head:]]
        self.folded = {*range(first), *(number + first for number in self.folded)}

    def _add_excerpt(self, given: Sequence[Given], hidden: str, shown: list[tuple[int, int]]) -> None:
        """Add rows of the folded text, with a mark after the last unless the text is complete."""
        is_whole = len(shown) == self.hidden_rows
        while shown and shown[-1][1] == shown[-1][0]:
            shown.pop()
        self.excerpt = len(shown)
        if not shown:
            return
        start, left = shown[-1]
        if not is_whole:
            row = hidden[start:left]
            room = max(0, self.width - cell_len(MORE) - hang_of(row, self.width))
            left = start + max(0, bisect_right(cell_offsets(row), room) - 1)
        for number, (text, kind, _) in enumerate(given):
            if left > 0:
                self.pieces.append(Piece(text[:left], kind, number))
            left -= len(text)
        self.pieces.append(Piece("\n" if is_whole else f"{MORE}\n", "fold", -1))

    def is_away(self, number: int, offset: int) -> bool:
        if number >= self.first_own and not self.is_title_alone:
            return super().is_away(number, offset)
        return offset >= sum(len(one.text) for one in self.pieces if one.number == number and one.kind != "fold")


def is_foldable(message: Message) -> bool:
    """Return whether a message is a demo or has a part that is the same in every case."""
    if message.turn.startswith("demo"):
        return True
    return message.role == "system" and bool(_first_own(pieces_of(message)))


def _first_own(given: Sequence[Given]) -> int | None:
    """Return the first piece of a system message that the user wrote; None for a demo."""
    return next((index for index, (_, kind, _) in enumerate(given) if kind == "instructions"), None)


def piece_holding(message: Message, offset: int) -> tuple[int, int]:
    """Return the piece that contains a character of a message's text, and the offset within it."""
    number = -1
    for number, (text, _, _) in enumerate(pieces_of(message)):  # noqa: B007
        if offset < len(text):
            break
        offset -= len(text)
    return number, offset


def origins_of(message: Message) -> list[Origin]:
    """Return the origins of a message's pieces, in the order of `pieces_of`."""
    return [_origin(kind, field, message.turn) for _, kind, field in pieces_of(message)]


def _origin(kind: str, field: str | None, turn: str) -> Origin:
    return Origin("value" if kind == "data" else kind, field, turn)


def fold_of(kind: str) -> Fold:
    return VALUE_FOLD if kind in ("value", "data") else OTHER_FOLD


def fold_point(text: str, width: int, fold: Fold) -> int | None:
    """Return where to cut a text of more than about `fold.above` rows, or None if it is shorter."""
    if len(text) <= fold.above and text.count("\n") < fold.above:
        return None
    count = start = 0
    cut: int | None = None
    while start <= len(text):
        end = text.find("\n", start, start + (fold.above + 1) * width)
        newline = end >= 0
        if not newline:
            end = min(len(text), start + (fold.above + 1) * width)
        line_rows = max(1, -(-(end - start) // width))
        if cut is None and count + line_rows >= fold.shown:
            cut = min(end, start + (fold.shown - count) * width)
        count += line_rows
        if count > fold.above:
            return cut
        if not newline:
            return None
        start = end + 1
    return None
