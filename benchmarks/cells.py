"""How full the screen is: `python benchmarks/cells.py` prints the cells of text, frame and blank at five sizes.

Four screens of the first example: as a first start shows it, after `F5`, on the refused reply, and what drifted (`F9`)
after everything was recorded and the instructions changed. A cell of the screen as it is painted is

- *frame* when a line, corner, bar or block is drawn in it (U+2500 to U+259F);
- *text* when a character is in it, or one of at most two blanks between two words of a row;
- *blank* otherwise: margins, indents, the ragged end of a row, rows with nothing in them.

Of the blank ones those are *free* that belong to no text: below the last row of a pane, or in no pane at all. *Cut* are
the rows of panes in sight that have no room in them. Text is ragged, so that a screen full of it is a third blank and
more; what a layout gives away is what is free while something is cut.

Bars: at 120 columns and 35 rows the first screen is at least 50 % text and at most 30 % blank; no screen with text cut
has more than a third free.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1])]

from tests.support.cells import Cells, Used, count, rows_of, used  # noqa: E402
from workbench.state.document import Place  # noqa: E402
from workbench.tui.app import WorkbenchApp  # noqa: E402
from workbench.tui.launch import opened  # noqa: E402

SIZES = ((80, 24), (100, 30), (120, 35), (160, 45), (200, 60))


async def _screens(size: tuple[int, int]) -> list[tuple[str, Cells, Used]]:
    """The first example as a first start shows it, sent, at its refused reply, and what drifted of it later."""
    app = WorkbenchApp(*opened(None))
    app.preferences.use_config()
    found: list[tuple[str, Cells, Used]] = []
    async with app.run_test(size=size) as pilot:

        async def press(*keys: str) -> None:
            await pilot.press(*keys)
            await pilot.pause(0.1)
            while app.main.runs.active:
                await pilot.pause(0.02)
            await pilot.pause(0.4)

        def look(name: str) -> None:
            found.append((name, count(rows_of(app.screen)), used(app.screen)))

        while app.main.guide is None or not app.main.columns.is_attached:
            await pilot.pause(0.02)
        await press()
        look("first")
        await press("f5")
        look("sent")
        await press("f4", "f4", "f4")
        look("refused")
        for _ in app.main.columns.all:
            await press("f3", "ctrl+r")
        app.main.editors.signature.go_to(Place("instructions"))
        await press("end", "space", *"Shortly")
        await press("f9")
        look("drift")
    return found


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"XDG_STATE_HOME": folder, "XDG_CONFIG_HOME": folder}
        print("size     screen    text frame blank   free  rows cut")
        for width, height in SIZES:
            for name, cells, room in asyncio.run(_screens((width, height))):
                shares = "  ".join(f"{share:4.0%}" for share in cells)
                print(f"{width:>3}x{height:<3}  {name:8}  {shares}   {room.free:4.0%}  {room.cut:>8}")


if __name__ == "__main__":
    main()
