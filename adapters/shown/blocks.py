"""What is shown of an object, described once: `as_html` and `as_text` write it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

Tone = Literal["good", "bad", "warning", "dim"]


class Piece(NamedTuple):
    """A piece of a text, the kind that colours it (`colours.LOOKS`), and what is said of it.

    `field` is the signature's field that it is about. On a page, pieces of one `key` light up together, and those of
    one `step` are what a step of a lesson is about; both are numbers of the page's own lists.
    """

    text: str
    kind: str
    says: str = ""
    field: str = ""
    key: str = ""
    step: str = ""


class Passage(NamedTuple):
    """A text in pieces that joined are all of it: a message, a reply."""

    title: str
    pieces: tuple[Piece, ...]


class Table(NamedTuple):
    """Rows of cells under a head."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
        """Without the columns in which no row says anything."""
        kept = [place for place in range(len(head)) if place == 0 or any(row[place] for row in rows)]
        return cls(tuple([head[one] for one in kept]), tuple([tuple([row[one] for one in kept]) for row in rows]))


class Note(NamedTuple):
    """A sentence."""

    text: str
    tone: Tone = "dim"


class Beside(NamedTuple):
    """Several side by side, where there is room."""

    columns: tuple[Shown, ...]


Block = Passage | Table | Note | Beside


class Shown(NamedTuple):
    """A title and what stands under it."""

    title: str
    blocks: tuple[Block, ...]


def cut(pieces: Sequence[Piece], longest: int) -> tuple[list[Piece], int]:
    """The pieces up to `longest` characters, and how many characters are left out."""
    kept: list[Piece] = []
    room = longest
    total = 0
    for piece in pieces:
        total += len(piece.text)
        if room > 0:
            kept.append(piece if len(piece.text) <= room else piece._replace(text=piece.text[:room]))
            room -= len(piece.text)
    return kept, max(0, total - longest)
