"""Display blocks, written by `as_html`, `as_text` and the writers of the workbench."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

DATA = "data"
"""The kind of a line that describes non-text content: an image, a file, a tool call."""

Tone = Literal["", "strong", "good", "warning", "bad", "worst", "dim"]


class Piece(NamedTuple):
    """A piece of text, its kind (which determines its color, `as_html.LOOKS`), and its tooltip `says`.

    `field` is the signature's field it belongs to. On a page, pieces with the same `key` are highlighted together, and
    those with the same `step` belong to a step of the lesson; both are numbers within the page.
    """

    text: str
    kind: str
    says: str = ""
    field: str = ""
    key: str = ""
    step: str = ""


class Passage(NamedTuple):
    """A text, such as a message or a reply, as pieces that join to the whole."""

    title: str
    pieces: tuple[Piece, ...]


class Mark(NamedTuple):
    """A short text in a table or a list, colored by its tone.

    `says` explains it in media with tooltips; `link` is the id of the `Folded` that it links to. Marks with links of
    their own may follow it (`then`), each after a space.
    """

    text: str
    tone: Tone = ""
    says: str = ""
    link: str = ""
    then: tuple[Mark, ...] = ()


Text = str | Mark


class Table(NamedTuple):
    """Rows of cells below a head. The first cell of a row is its name.

    All cells of a grid are of the same kind, so it may be transposed to fit.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[Text, ...], ...]
    is_grid: bool = False

    @classmethod
    def of(cls, head: Sequence[str], rows: Sequence[Sequence[Text]]) -> Table:
        """Build a table without columns that are empty in all rows."""
        kept = [place for place in range(len(head)) if place == 0 or any(row[place] for row in rows)]
        return cls(tuple([head[one] for one in kept]), tuple([tuple([row[one] for one in kept]) for row in rows]))

    def turned(self) -> Table:
        names = tuple([text_of(row[0]) for row in self.rows])
        cells = zip(*[row[1:] for row in self.rows], strict=True) if self.rows else [()] * (len(self.head) - 1)
        rows = [(head, *row) for head, row in zip(self.head[1:], cells, strict=True)]
        return Table((self.head[0], *names), tuple(rows), self.is_grid)


def text_of(text: Text) -> str:
    return text if isinstance(text, str) else " ".join([text.text, *[one.text for one in text.then]])


class Note(NamedTuple):
    """A sentence."""

    text: str
    tone: Tone = "dim"


class Heading(NamedTuple):
    """A heading within a page. `target` names its subject if that can be selected."""

    text: str
    target: str = ""


class Items(NamedTuple):
    """A list of sentences."""

    items: tuple[Text, ...]


class Difference(NamedTuple):
    """Lines of a difference: those that begin with "-" were removed, those with "+" added."""

    lines: tuple[str, ...]


class Folded(NamedTuple):
    """Details under a title: folded on a page, left out in text.

    With `is_open` they are unfolded on a page, and in text the title is a heading.
    """

    title: Mark
    blocks: tuple[Block, ...]
    id: str = ""
    is_open: bool = False


class Beside(NamedTuple):
    """Columns of blocks, side by side if there is room."""

    columns: tuple[Shown, ...]


Block = Passage | Table | Note | Heading | Items | Difference | Folded | Beside


class Shown(NamedTuple):
    """A title with its blocks."""

    title: str
    blocks: tuple[Block, ...]


def cut(pieces: Sequence[Piece], longest: int) -> tuple[list[Piece], int]:
    """Return the pieces up to `longest` characters, and the number of characters left out."""
    kept: list[Piece] = []
    room = longest
    total = 0
    for piece in pieces:
        total += len(piece.text)
        if room > 0:
            kept.append(piece if len(piece.text) <= room else piece._replace(text=piece.text[:room]))
            room -= len(piece.text)
    return kept, max(0, total - longest)
