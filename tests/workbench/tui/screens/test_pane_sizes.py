"""Who has how much room."""

from __future__ import annotations

from tests.support.open_app import Desk, at_the_desk
from workbench.tui.screens.pane_sizes import SMALLEST_LEFT


def test_the_line_between_editors_and_columns_is_moved_without_a_mouse() -> None:
    async def act(desk: Desk) -> None:
        left = desk.main.query_one("#left")
        before = left.size.width
        desk.main.widen_editors(8)
        await desk.settle()
        assert left.size.width == before + 8
        desk.main.widen_editors(-1_000)
        await desk.settle()
        assert left.outer_size.width == SMALLEST_LEFT

    at_the_desk(act)
