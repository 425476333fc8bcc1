"""A heat map makes what is in sight, however many cells there are."""

from __future__ import annotations

import asyncio

from textual.app import App, ComposeResult

from workbench.tui.widgets.heat_map import HeatCell, HeatMap, HeatTable

ROWS, COLUMNS = 500, 10


class LookedAt(str):
    """A text that counts how often somebody asks how long any such text is."""

    count = 0

    def __len__(self) -> int:
        LookedAt.count += 1
        return super().__len__()


class OneMap(App[None]):
    def compose(self) -> ComposeResult:
        yield HeatMap()


def test_a_key_looks_at_no_cell_that_is_out_of_sight() -> None:
    cells = tuple([tuple([HeatCell(LookedAt("✓ 2/2"), "good")] * COLUMNS)] * ROWS)
    heads = tuple([("", f"column {number}") for number in range(COLUMNS)])
    table = HeatTable(tuple([f"case {number}" for number in range(ROWS)]), heads, cells)

    async def act() -> None:
        async with OneMap().run_test(size=(120, 35)) as pilot:
            grid = pilot.app.query_one(HeatMap)
            grid.show(table)
            grid.focus()
            await pilot.pause()
            assert LookedAt.count >= ROWS * COLUMNS, "the widest decides how wide they all are"
            LookedAt.count = 0
            await pilot.press("down")
            await pilot.pause()
            assert grid.row == 1
            assert LookedAt.count < ROWS * COLUMNS

    asyncio.run(act())
