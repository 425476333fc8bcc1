"""A heat map makes what is in sight, however many cells there are."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from rich.segment import Segment
from textual import events
from textual.app import App, ComposeResult
from textual.geometry import Size
from textual.strip import Strip

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

    @property
    def painted(self) -> list[list[Segment]]:
        return [list(strip) for strip in self.screen._compositor.render_strips()]


def table_of(cell: HeatCell) -> HeatTable:
    heads = tuple([("", f"column {number}") for number in range(COLUMNS)])
    return HeatTable(tuple([f"case {number}" for number in range(ROWS)]), heads, ((cell,) * COLUMNS,) * ROWS)


def test_a_key_looks_at_no_cell_that_is_out_of_sight() -> None:
    table = table_of(HeatCell(LookedAt("✓ 2/2"), "good"))

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


def test_a_step_paints_the_rows_it_changes_and_looks_as_if_all_were_painted(monkeypatch: pytest.MonkeyPatch) -> None:
    table = table_of(HeatCell("✓ 2/2", "good", "5 ms"))
    painted: list[int] = []
    line = HeatMap.render_line

    def counted(grid: HeatMap, y: int) -> Strip:
        painted.append(y)
        return line(grid, y)

    monkeypatch.setattr(HeatMap, "render_line", counted)

    async def act() -> None:
        app = OneMap()
        async with app.run_test(size=(80, 24)) as pilot:
            grid = pilot.app.query_one(HeatMap)
            grid.show(table)
            grid.focus()
            await pilot.pause()
            for keys, most in ((["down"], 2), (["right"], 3), (["up"], 2), (["left"], 3), (["down"] * 30, None)):
                painted.clear()
                await pilot.press(*keys)
                await pilot.pause()
                assert most is None or 0 < len(set(painted)) <= most, keys
                shown = app.painted
                grid.notify_style_update()  # forgets what was painted
                grid.refresh()
                await pilot.pause()
                assert app.painted == shown, keys

    asyncio.run(act())


def test_a_row_scrolled_past_paints_no_other_row_and_another_theme_or_table_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = table_of(HeatCell("✓ 2/2", "good", "5 ms"))
    painted: list[int] = []
    paint = HeatMap._paint_row

    def counted(grid: HeatMap, index: int, current: int | None, left: int, size: Size) -> Strip:
        painted.append(index)
        return paint(grid, index, current, left, size)

    monkeypatch.setattr(HeatMap, "_paint_row", counted)

    async def act() -> None:
        app = OneMap()
        async with app.run_test(size=(80, 24)) as pilot:
            grid = pilot.app.query_one(HeatMap)
            grid.show(table)
            grid.focus()
            await pilot.press("end", "home", *["down"] * 40)
            painted.clear()
            await pilot.press("down")
            await pilot.pause()
            assert sorted(painted) == [40, 41]

            before = app.painted
            app.theme = "nord"
            await pilot.pause()
            after = app.painted
            grid._row_strip.cache_clear()
            grid.refresh()
            await pilot.pause()
            assert app.painted == after != before
            grid.show(replace(table, names=tuple([f"other {number}" for number in range(ROWS)])), 41)
            await pilot.pause()
            shown = [strip.text.split()[:1] for strip in pilot.app.screen._compositor.render_strips()]
            assert ["other"] in shown and ["case"] not in shown

    asyncio.run(act())


def test_the_wheel_moves_the_cursor_through_the_rows() -> None:
    async def act() -> None:
        async with OneMap().run_test(size=(80, 24)) as pilot:
            grid = pilot.app.query_one(HeatMap)
            grid.show(table_of(HeatCell("✓ 2/2", "good")))
            await pilot.pause()
            for turn, row in ((events.MouseScrollDown, 3), (events.MouseScrollDown, 6), (events.MouseScrollUp, 3)):
                await pilot._post_mouse_events([turn], grid, offset=(30, 10))
                assert grid.row == row

    asyncio.run(act())


def test_a_click_on_a_cell_goes_there_and_one_on_a_head_or_a_name_goes_nowhere() -> None:
    async def act() -> None:
        async with OneMap().run_test(size=(80, 24)) as pilot:
            grid = pilot.app.query_one(HeatMap)
            grid.show(table_of(HeatCell("✓ 2/2", "good")))
            await pilot.pause()
            found = []
            for place in ((30, 1), (2, 10), (30, 10)):
                await pilot.click(grid, offset=place)
                found.append((grid.row, grid.column))
            assert found == [(0, 0), (0, 0), (8, 2)]

    asyncio.run(act())
