"""What a layout of the screen leads to: no further layout, and no painting of what is as it was."""

from __future__ import annotations

from typing import Any

import pytest
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.pilot import Pilot
from textual.screen import Screen
from textual.scrollbar import ScrollBar
from textual.strip import Strip

from tests.support.screen import Stage, on_stage
from workbench.tui.textual_internals.access import set_virtual_size
from workbench.tui.widgets.text.line_view import LineView
from workbench.tui.widgets.text.plain import PlainStatic


class Rows(LineView):
    def row(self, y: int, width: int) -> Strip:
        return Strip.blank(width)


class Room(Vertical):
    DEFAULT_CSS = "Room { #below { height: 6; } }"

    def compose(self) -> ComposeResult:
        yield PlainStatic("one row", id="above")
        yield Rows(id="below")


def test_what_grows_is_laid_out_once_and_no_scrollbar_is_painted_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    layouts: list[Screen[Any]] = []
    scrollbars: list[ScrollBar] = []
    refresh_layout, refresh = Screen._refresh_layout, ScrollBar.refresh

    def laid_out(screen: Screen[Any], *given: Any, **named: Any) -> None:
        layouts.append(screen)
        refresh_layout(screen, *given, **named)

    def painted(scrollbar: ScrollBar, *given: Any, **named: Any) -> ScrollBar:
        scrollbars.append(scrollbar)
        return refresh(scrollbar, *given, **named)

    async def act(stage: Stage[Room], pilot: Pilot[None]) -> None:
        view = stage.widget.query_one(Rows)
        set_virtual_size(view, view.size.with_height(50))
        await pilot.pause()
        monkeypatch.setattr(Screen, "_refresh_layout", laid_out)
        monkeypatch.setattr(ScrollBar, "refresh", painted)
        stage.widget.query_one("#above", PlainStatic).show("one row\nand another")
        for _ in range(4):
            await pilot.pause()
        assert view.region.y == 2
        assert len(layouts) == 1
        assert not scrollbars

        set_virtual_size(view, view.size.with_height(60))
        await pilot.pause()
        assert set(scrollbars) == {view.vertical_scrollbar}
        scrollbars.clear()
        view.styles.height = 5
        await pilot.pause()
        assert set(scrollbars) == {view.vertical_scrollbar}
        assert view.vertical_scrollbar.window_size == view.size.height == 5

    on_stage(Room(), act)


def test_what_never_scrolls_is_as_high_as_its_text_like_any_static() -> None:
    room = Room()

    async def act(stage: Stage[Room], pilot: Pilot[None]) -> None:
        assert room.query_one(PlainStatic).region.height == 1

    on_stage(room, act)
