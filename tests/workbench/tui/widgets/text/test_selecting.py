"""Text of prompts is selected by dragging and copied by ctrl+c, as the message has it and not as it is wrapped."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import pytest

from tests.support.open_app import MIDDLE, TICKETS, WIDE, Desk, at_the_desk
from workbench.tui.panes.status import StatusLine

LONG = "The export is empty, and " + "so is what was exported before it, " * 4 + "says the log: 結果 [/x] \x1b[2J."


async def place_of(desk: Desk, text: str) -> tuple[int, int]:
    """The cell of the first prompt at which the first row with `text` holds it, once it has come into sight."""
    prompt = desk.main.columns.all[0].prompt

    def rows() -> list[str]:
        return [prompt.render_line(y).text for y in range(prompt.size.height)]

    await desk.until(lambda: any(text in row for row in rows()), f"for {text!r} in sight")
    return next((row.index(text), y) for y, row in enumerate(rows()) if text in row)


async def drag(desk: Desk, start: tuple[int, int], end: tuple[int, int]) -> None:
    prompt = desk.main.columns.all[0].prompt
    await desk.pilot.mouse_down(prompt, offset=start)
    await desk.pilot.hover(prompt, offset=end)
    await desk.pilot.mouse_up(prompt, offset=end)
    await desk.settle()


@pytest.mark.slow
@pytest.mark.parametrize("size", [WIDE, MIDDLE])
def test_what_is_dragged_over_is_copied_as_the_message_says_it(size: tuple[int, int]) -> None:
    session = replace(TICKETS, demos=(), cases=(replace(TICKETS.cases[0], inputs={"ticket": LONG, "tags": []}),))

    async def act(desk: Desk) -> None:
        await desk.press("f3", "end")
        x, y = await place_of(desk, "The export")
        await drag(desk, (x, y), (x + 4, y + 2))
        copied: list[str] = []
        with patch.object(desk.app, "copy_to_clipboard", copied.append):
            await desk.press("ctrl+c")
        (text,) = copied
        assert text.startswith("The export is empty, and so is") and "\n" not in text
        assert text in LONG, "no break where the view is narrow"
        assert "shift+drag" in desk.app.screen.query_one(StatusLine).render().plain
        await desk.press("escape")
        assert not desk.main.selections

    at_the_desk(act, session=session, size=size)


@pytest.mark.slow
def test_a_selection_is_painted_and_a_click_takes_it_away_and_moves_the_cursor() -> None:
    async def act(desk: Desk) -> None:
        prompt = desk.main.columns.all[0].prompt
        x, y = await place_of(desk, "Your input fields")
        await drag(desk, (x, y), (x + 9, y))
        look = desk.main.get_component_rich_style("screen--selection")
        painted = [one.text for one in prompt.render_line(y) if one.style and one.style.bgcolor == look.bgcolor]
        assert "".join(painted) == "Your input"
        assert prompt.row(y, prompt.row_width).text == prompt.render_line(y).text, "the same cells"
        await desk.pilot.click(prompt, offset=(x + 3, y + 1))
        await desk.settle()
        assert not desk.main.selections and prompt.has_focus

    at_the_desk(act)


@pytest.mark.slow
def test_selected_text_can_be_read_in_every_theme() -> None:
    async def act(desk: Desk) -> None:
        prompt = desk.main.columns.all[0].prompt
        x, y = await place_of(desk, "Your input fields")
        await drag(desk, (x, y), (x + 9, y))
        for theme in ("workbench-dark", "workbench-light", "nord", "ansi-dark"):
            desk.app.theme = theme
            await desk.settle()
            look = desk.main.get_component_rich_style("screen--selection")
            painted = [one for one in prompt.render_line(y) if one.style and one.style.bgcolor == look.bgcolor]
            assert "".join(one.text for one in painted) == "Your input"
            assert all(one.style and one.style.color != one.style.bgcolor for one in painted), theme

    at_the_desk(act)


@pytest.mark.slow
def test_lines_and_messages_stay_apart_when_they_are_copied() -> None:
    async def act(desk: Desk) -> None:
        x, y = await place_of(desk, "Your input fields")
        await drag(desk, (x, y), (x + 11, y + 1))
        assert desk.main.get_selected_text() == "Your input fields are:\n1. `ticket` "

    at_the_desk(act)
