"""Show a heading in large letters: a title, its outcome at the right, a line below.

The letters are drawn in `letters.txt`: Textual's `Digits` has none, and pyfiglet brings 8 MB of fonts without the signs
needed here. A terminal has a single font size, and half a cell is a square. Lower-case letters are drawn as capitals.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from workbench.output.display import cell_width, one_line
from workbench.tui.widgets.text.plain import content, lines

FILE = Path(__file__).with_name("letters.txt")
ROWS = 5
"""Squares from the top to the bottom of a letter; each is half a cell high, or a whole cell with `scale` 2."""
GAP, BLANK = 1, 2
"""Squares between two letters, and for a blank."""

HALVES = {(False, False): " ", (True, False): "▀", (False, True): "▄", (True, True): "█"}


@lru_cache(maxsize=1)
def letters() -> Mapping[str, tuple[str, ...]]:
    """Read the drawings of `letters.txt`: below each sign its rows, where `#` is a filled square."""
    drawings = FILE.read_text(encoding="utf-8").split("\n\n")
    return {sign: tuple(rows) for sign, *rows in map(str.split, drawings)}


def drawn(text: str, width: int, *, scale: int = 1) -> tuple[str, ...]:
    """Draw `text` within `width` cells; return () if it does not fit or a character has no drawing.

    `scale` 1 gives 3 rows of letters about 5 cells wide; 2 gives 5 rows of letters twice as wide. Accents are dropped,
    as in `É`.
    """
    if len(text) > width:  # each letter takes at least a cell
        return ()
    squares: list[list[bool]] = [[] for _ in range(ROWS)]
    plain = "".join(one for one in unicodedata.normalize("NFKD", text) if not unicodedata.combining(one))
    for sign in " ".join(plain.split()).upper():
        letter = letters().get(sign)
        if letter is None and sign != " ":
            return ()
        parts = letter or ("." * BLANK,) * ROWS
        for row, part in zip(squares, parts, strict=True):
            row += [False] * (GAP if row else 0)
            row += [one == "#" for one in part]
    if not squares[0] or len(squares[0]) * scale > width:
        return ()
    if scale == 2:
        return tuple(["".join("██" if one else "  " for one in row) for row in squares])
    squares.append([False] * len(squares[0]))
    pairs = zip(squares[0::2], squares[1::2], strict=True)
    return tuple(["".join(HALVES[pair] for pair in zip(*rows, strict=True)) for rows in pairs])


APART = 4
"""Cells between title and mark."""
LONGEST = 200
LONGEST_DRAWN = len("4/4 repaired")
"""Length of a mark's words above which only its sign is drawn and the words appear below."""
ROOMY = 32
"""Rows of the screen from which letters of double size leave room for the content."""


class Mark(NamedTuple):
    """An outcome: its sign and a few words (`✓`, `4/4`); `tone` is that of a `Verdict`."""

    sign: str
    words: str
    tone: str


class Heading(Widget):
    """A heading as high as its drawing; style sheets show it only in projector mode."""

    DEFAULT_CSS = """
    Heading {
        display: none;
        width: 100%;
        height: auto;
        padding: 0 2;
        background: $background;
    }
    """

    _title = ""
    _mark: Mark | None = None
    _below = Content("")

    def show(self, title: str, mark: Mark | None, below: Content) -> None:
        """Show a title and a mark, with `below` on a line under them, cut to the width."""
        title = one_line(title, LONGEST)
        mark = mark._replace(words=one_line(mark.words, LONGEST)) if mark is not None else None
        if (title, mark) != (self._title, self._mark) or not below.is_same(self._below):
            self._title, self._mark, self._below = title, mark, below
            self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._rows(width, viewport.height))

    def render(self) -> Content:
        return Content("\n").join(self._rows(self.size.width, self.app.size.height))

    def _rows(self, width: int, screen_rows: int) -> list[Content]:
        """Draw in the largest letters that fit, with the mark's words if possible, and the line below."""
        mark = self._mark or Mark("", "", "")
        said = f"{mark.sign} {mark.words}".strip()
        tone = f"$text-{mark.tone} bold" if mark.tone else "$foreground 70%"
        # the texts that may be drawn at the right, longest first
        texts = [mark.sign] if self._mark is None or len(mark.words) > LONGEST_DRAWN else [said, mark.sign]
        below = self._below
        for scale, text in product((2, 1) if screen_rows >= ROOMY else (1,), texts):
            drawn_mark = drawn(text, width, scale=scale)
            room = width - (len(drawn_mark[0]) + APART if drawn_mark else 0)
            title = drawn(self._title, room, scale=scale)
            if title and (drawn_mark or not text):
                drawn_mark = drawn_mark or ("",) * len(title)
                gap = " " * (width - len(title[0]) - len(drawn_mark[0]))
                both = zip(title, drawn_mark, strict=True)
                rows = [lines((left, "$text-accent bold"), gap, (right, tone)) for left, right in both]
                rows += [Content("")] * (scale - 1)
                if text and mark.words not in text:
                    below = Content.assemble(content(mark.words, tone), content("   "), below)
                break
        else:
            shown = one_line(said, width // 2)
            small = one_line(self._title, max(1, width - cell_width(shown) - APART))
            gap = " " * max(0, width - cell_width(small) - cell_width(shown))
            rows = [lines((small, "$text-accent bold"), gap, (shown, tone))]
        return [*rows, below.truncate(max(1, width), ellipsis=True)]
