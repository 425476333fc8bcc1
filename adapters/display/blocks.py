"""Display blocks: facts described once, and written by `as_html`, `as_text` and the writers of the workbench."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

DATA = "data"
"""The kind of a line that stands for what is not text: an image, a file, a call of a tool."""

Tone = Literal["", "strong", "good", "warning", "bad", "worst", "dim"]


class Piece(NamedTuple):
    """A piece of a text, the kind that colours it (`as_html.LOOKS`), and its tooltip.

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
    """A text in pieces that, joined, are all of it: a message, a reply."""

    title: str
    pieces: tuple[Piece, ...]


class Mark(NamedTuple):
    """A short text in a table or a list, coloured by its tone.

    `says` explains it where there is room for that; `link` is the id of the `Folded` that it leads to.
    """

    text: str
    tone: Tone = ""
    says: str = ""
    link: str = ""


Text = str | Mark


class Table(NamedTuple):
    """Rows of cells under a head. The first cell of a row is its name.

    A grid has the same kind of cell everywhere, so it may be turned on its side where that fits better.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[Text, ...], ...]
    is_grid: bool = False

    @classmethod
    def of(cls, head: Sequence[str], rows: Sequence[Sequence[Text]]) -> Table:
        """Leave out the columns in which no row says anything."""
        kept = [place for place in range(len(head)) if place == 0 or any(row[place] for row in rows)]
        return cls(tuple([head[one] for one in kept]), tuple([tuple([row[one] for one in kept]) for row in rows]))

    def turned(self) -> Table:
        names = tuple([text_of(row[0]) for row in self.rows])
        cells = zip(*[row[1:] for row in self.rows], strict=True) if self.rows else [()] * (len(self.head) - 1)
        rows = [(head, *row) for head, row in zip(self.head[1:], cells, strict=True)]
        return Table((self.head[0], *names), tuple(rows), self.is_grid)


def text_of(text: Text) -> str:
    return text if isinstance(text, str) else text.text


class Note(NamedTuple):
    """A sentence."""

    text: str
    tone: Tone = "dim"


class Heading(NamedTuple):
    """A title within a page. `target` names what it is about, where that can be chosen."""

    text: str
    target: str = ""


class Items(NamedTuple):
    """Sentences of a kind, below each other."""

    items: tuple[Text, ...]


class Folded(NamedTuple):
    """Details under a title: a page folds them, a text leaves them out."""

    title: Mark
    blocks: tuple[Block, ...]
    id: str = ""


class Beside(NamedTuple):
    """Several blocks side by side, where there is room."""

    columns: tuple[Shown, ...]


Block = Passage | Table | Note | Heading | Items | Folded | Beside


class Shown(NamedTuple):
    """A title with its blocks."""

    title: str
    blocks: tuple[Block, ...]


def cut(pieces: Sequence[Piece], longest: int) -> tuple[list[Piece], int]:
    """Keep the pieces up to `longest` characters; count the characters left out."""
    kept: list[Piece] = []
    room = longest
    total = 0
    for piece in pieces:
        total += len(piece.text)
        if room > 0:
            kept.append(piece if len(piece.text) <= room else piece._replace(text=piece.text[:room]))
            room -= len(piece.text)
    return kept, max(0, total - longest)
