"""How full the first screen is: `python benchmarks/cells.py` prints the cells of text, frame and blank at five sizes.

A cell of the screen as it is painted is

- *frame* when a line, corner, bar or block is drawn in it (U+2500 to U+259F);
- *text* when a character is in it, or one of at most two blanks between two words of a row;
- *blank* otherwise: margins, indents, the ragged end of a row, rows with nothing in them.

The bar holds for 120 columns and 35 rows: at least 50 % text and at most 30 % blank.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

sys.path[:0] = [str(Path(__file__).parents[1])]

from workbench.tui.app import WorkbenchApp  # noqa: E402
from workbench.tui.launch import opened  # noqa: E402

SIZES = ((80, 24), (100, 30), (120, 35), (160, 45), (200, 60))
FRAME = "\u2500-\u259f"


class Cells(NamedTuple):
    """Shares of the cells of a screen, together 1."""

    text: float
    frame: float
    blank: float


def count(rows: Sequence[str]) -> Cells:
    """What the cells of these rows of a screen are; a wide character counts once."""
    whole = sum(map(len, rows))
    frame = sum(len(re.findall(f"[{FRAME}]", row)) for row in rows)
    text = sum(len(re.findall(rf"[^\s{FRAME}]", row)) for row in rows)
    text += sum(len(gap) for row in rows for gap in re.findall(rf"(?<=[^\s{FRAME}]) {{1,2}}(?=[^\s{FRAME}])", row))
    return Cells(text / whole, frame / whole, (whole - text - frame) / whole)


async def _screens(size: tuple[int, int]) -> tuple[Cells, Cells]:
    """The first example as a first start shows it, and after it was sent."""
    app = WorkbenchApp(*opened(None))
    app.preferences.use_config()
    async with app.run_test(size=size) as pilot:
        while app.main.guide is None or not app.main.columns.is_attached:
            await pilot.pause(0.02)
        await pilot.pause(0.5)
        first = count(_rows(app))
        await pilot.press("f5")
        await pilot.pause(0.1)
        while app.main.runs.active:
            await pilot.pause(0.02)
        await pilot.pause(0.5)
        return first, count(_rows(app))


def _rows(app: WorkbenchApp) -> list[str]:
    return ["".join(segment.text for segment in strip) for strip in app.screen._compositor.render_strips()]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"XDG_STATE_HOME": folder, "XDG_CONFIG_HOME": folder}
        print("size      first screen: text frame blank   after F5: text frame blank")
        for width, height in SIZES:
            first, sent = asyncio.run(_screens((width, height)))
            told = ["  ".join(f"{share:4.0%}" for share in one) for one in (first, sent)]
            print(f"{width:>3}x{height:<5} {told[0]:>34} {told[1]:>28}")


if __name__ == "__main__":
    main()
