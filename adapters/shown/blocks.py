"""What is shown of an object, described once: `as_html` and `as_text` write it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Tone = Literal["good", "bad", "warning", "dim"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a text, the kind that colours it (`colours.LOOKS`), and what is said of it."""

    text: str
    kind: str
    says: str = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """A text in pieces that joined are all of it: a message, a reply."""

    title: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under a head."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
        """Without the columns in which no row says anything."""
        kept = [place for place in range(len(head)) if place == 0 or any(row[place] for row in rows)]
        return cls(tuple([head[one] for one in kept]), tuple([tuple([row[one] for one in kept]) for row in rows]))


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence."""

    text: str
    tone: Tone = "dim"


@dataclass(frozen=True, slots=True)
class Beside:
    """Several side by side, where there is room."""

    columns: tuple[Shown, ...]


Block = Passage | Table | Note | Beside


@dataclass(frozen=True, slots=True)
class Shown:
    """A title and what stands under it."""

    title: str
    blocks: tuple[Block, ...]


class Pretty(Protocol):
    """The printer of IPython, as far as it is needed."""

    def text(self, text: str) -> None: ...


class ShowsItself:
    """An object that Jupyter, marimo and IPython show: in colour where there is HTML, as plain text elsewhere."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._repr_pretty_ = ShowsItself._repr_pretty_  # type: ignore[method-assign]  # IPython prefers a class's own repr

    def shown(self) -> Shown:
        """What is shown of it."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        from adapters.shown import as_html

        return as_html.cell(self.shown())

    def _repr_pretty_(self, printer: Pretty, cycle: bool) -> None:
        from adapters.shown import as_text

        printer.text("…" if cycle else "\n".join(as_text.lines(self.shown())))


def cut(pieces: Sequence[Piece], longest: int) -> tuple[list[Piece], int]:
    """The pieces up to `longest` characters, and how many characters are left out."""
    kept: list[Piece] = []
    room = longest
    total = 0
    for piece in pieces:
        total += len(piece.text)
        if room > 0:
            kept.append(piece if len(piece.text) <= room else Piece(piece.text[:room], piece.kind, piece.says))
            room -= len(piece.text)
    return kept, max(0, total - longest)
