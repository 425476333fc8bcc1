"""A line of input with control characters: every one is seen, and the cursor stands where the text goes in."""

from __future__ import annotations

import pytest
from rich.cells import cell_len
from textual.widgets import Input

from tests.support.open_app import SMALL, Desk, at_the_desk
from workbench.output.display import safe
from workbench.tui.dialogs.ask import AskScreen

TEXTS = ["plain", "a\x1b\x1bb日\x07c\rd", "\x07\x0b\x0cabc", "x" * 30 + "\x1b" * 60 + "END", "日本語" * 20 + "\x1b日"]


@pytest.mark.parametrize("text", TEXTS)
def test_the_cursor_stands_at_its_character_and_is_in_sight(text: str) -> None:
    async def act(desk: Desk) -> None:
        desk.app.push_screen(AskScreen("A line", "", lambda said: ""))
        await desk.settle()
        line = desk.app.screen.query_one(Input)
        line.value = text
        for position in range(len(text), -1, -1):
            line.cursor_position = position
            await desk.pilot.pause()
            cell = desk.app.cursor_position.x - line.content_region.x - (position == len(text))
            assert cell + line.scroll_offset.x == cell_len(safe(text)[:position])
            shown = line.render_line(0).crop(cell, line.content_size.width)
            assert shown.text.startswith(safe(text)[position : position + 1]), position
        assert line.value == text

    at_the_desk(act, size=SMALL)
