"""A list of rows paints what a key changes, and shows what it was told last."""

from __future__ import annotations

import asyncio

from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.content import Content

from workbench.tui.widgets.row_list import RowList


class OneList(App[None]):
    """A list of which a word may change."""

    CSS = "RowList { &:focus .row-list--current { background: red; } }"
    word = "row"

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[int] = []

    def compose(self) -> ComposeResult:
        yield RowList(self._line)

    def _line(self, index: int) -> Content:
        self.asked.append(index)
        return Content(f"{self.word} {index}")

    @property
    def painted(self) -> list[list[Segment]]:
        return [list(strip) for strip in self.screen._compositor.render_strips()]

    @property
    def shown(self) -> list[str]:
        return [strip.text.split()[0] for strip in self.screen._compositor.render_strips() if strip.text.strip()]


def test_a_row_scrolled_past_asks_for_no_other_row_and_showing_asks_for_all() -> None:
    async def act() -> None:
        app = OneList()
        async with app.run_test(size=(40, 10)) as pilot:
            rows = app.query_one(RowList)
            rows.show(10_000, 0)
            rows.focus()
            await pilot.press(*["down"] * 30)
            await pilot.pause()
            app.asked.clear()
            await pilot.press("down")
            await pilot.pause()
            assert sorted(app.asked) == [31, 33], "the row gone to, and the one that came into sight"
            before = app.painted
            app.set_focus(None)
            await pilot.pause()
            after = app.painted
            rows._row_strip.cache_clear()
            rows.refresh()
            await pilot.pause()
            assert app.painted == after != before, "the current row has another color without the focus"
            app.word = "other"
            rows.show(10_000, 31)
            await pilot.pause()
            assert set(app.shown) == {"other"} and len(app.shown) == 10

    asyncio.run(act())
