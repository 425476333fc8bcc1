"""Words drawn large out of blocks, for a room: a terminal has one size of letters, and half a cell is a square.

Own letters, because Textual's `Digits` has none, and pyfiglet brings 8 MB of fonts of which no one has our signs.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

ROWS = 5
"""Squares of a letter from top to bottom; each is half a cell high, or with `scale` 2 a whole one."""
GAP, BLANK = 1, 2
"""Squares between two letters, and of a blank."""

LETTERS: Mapping[str, str] = {
    "A": ".##. #..# #### #..# #..#",
    "B": "###. #..# ###. #..# ###.",
    "C": ".### #... #... #... .###",
    "D": "###. #..# #..# #..# ###.",
    "E": "#### #... ###. #... ####",
    "F": "#### #... ###. #... #...",
    "G": ".### #... #.## #..# .###",
    "H": "#..# #..# #### #..# #..#",
    "I": "# # # # #",
    "J": "..# ..# ..# #.# .#.",
    "K": "#..# #.#. ##.. #.#. #..#",
    "L": "#.. #.. #.. #.. ###",
    "M": "#...# ##.## #.#.# #...# #...#",
    "N": "#..# ##.# #.## #..# #..#",
    "O": ".##. #..# #..# #..# .##.",
    "P": "###. #..# ###. #... #...",
    "Q": ".##. #..# #..# #.## .###",
    "R": "###. #..# ###. #.#. #..#",
    "S": ".### #... .##. ...# ###.",
    "T": "### .#. .#. .#. .#.",
    "U": "#..# #..# #..# #..# .##.",
    "V": "#.# #.# #.# #.# .#.",
    "W": "#...# #...# #.#.# #.#.# .#.#.",
    "X": "#.# #.# .#. #.# #.#",
    "Y": "#.# #.# .#. .#. .#.",
    "Z": "#### ...# .##. #... ####",
    "0": ".##. #..# #..# #..# .##.",
    "1": ".# ## .# .# .#",
    "2": "###. ...# .##. #... ####",
    "3": "###. ...# .##. ...# ###.",
    "4": "#..# #..# #### ...# ...#",
    "5": "#### #... ###. ...# ###.",
    "6": ".##. #... ###. #..# .##.",
    "7": "#### ...# ..#. .#.. .#..",
    "8": ".##. #..# .##. #..# .##.",
    "9": ".##. #..# .### ...# .##.",
    "/": "..# ..# .#. #.. #..",
    "-": "... ... ### ... ...",
    "_": "... ... ... ... ###",
    "+": "... .#. ### .#. ...",
    ".": ". . . . #",
    ",": ".. .. .. .# #.",
    ":": ". # . # .",
    "!": "# # # . #",
    "?": "##. ..# .#. ... .#.",
    "'": "# # . . .",
    "%": "#..# ...# .##. #... #..#",
    "&": ".#.. #.#. .#.. #.## .##.",
    "@": ".##. #.## #.## #... .##.",
    "(": ".# #. #. #. .#",
    ")": "#. .# .# .# #.",
    "=": "... ### ... ### ...",
    "×": "... #.# .#. #.# ...",
    "·": ". . # . .",
    "✓": ".....# ....## #..##. ####.. .##...",
    "✗": "#...# ##.## .###. ##.## #...#",
    "◌": ".#.# #... ...# #... .#.#",
    "≡": "#### .... #### .... ####",
    "≠": "...# #### .##. #### #...",
}
"""Each as its rows of squares, `#` for one that is drawn. Small letters are drawn as capitals."""
HALVES = {(False, False): " ", (True, False): "▀", (False, True): "▄", (True, True): "█"}


def drawn(text: str, width: int, *, scale: int = 1) -> tuple[str, ...]:
    """The rows of `text` drawn large within `width` cells; none where it does not fit or has a sign without a drawing.

    `scale` 1 gives 3 rows, of letters about 5 cells wide; 2 gives 5 rows, of letters twice as wide. Accents are left
    away, as in `É`.
    """
    if len(text) > width:  # each letter takes a cell at least
        return ()
    squares = _squares(text)
    if not squares or len(squares[0]) * scale > width:
        return ()
    if scale == 2:
        return tuple(["".join("██" if one else "  " for one in row) for row in squares])
    squares.append([False] * len(squares[0]))
    pairs = zip(squares[0::2], squares[1::2], strict=True)
    return tuple(["".join(HALVES[pair] for pair in zip(*rows, strict=True)) for rows in pairs])


def _squares(text: str) -> list[list[bool]]:
    """The five rows of squares of a text; none where a sign has no drawing."""
    rows: list[list[bool]] = [[] for _ in range(ROWS)]
    plain = "".join(one for one in unicodedata.normalize("NFKD", text) if not unicodedata.combining(one))
    for sign in " ".join(plain.split()).upper():
        letter = LETTERS.get(sign)
        if letter is None and sign != " ":
            return []
        parts = letter.split() if letter is not None else ["." * BLANK] * ROWS
        for row, part in zip(rows, parts, strict=True):
            row += [False] * (GAP if row else 0)
            row += [one == "#" for one in part]
    return rows if rows[0] else []
