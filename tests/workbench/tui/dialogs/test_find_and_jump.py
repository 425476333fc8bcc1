"""Whoever knows a part of it finds it; whoever sees it is there with one letter."""

from dataclasses import replace

import pytest
from textual.widget import Widget

from sessions import examples
from sessions.model.session import Demo
from tests.support.open_app import SIZES, SMALL, TICKETS, Desk, at_the_desk
from tests.support.painted import Terminal
from tests.support.screen import seen
from workbench.tui.actions.finding import FindScreen
from workbench.tui.actions.looking import JumpScreen
from workbench.tui.widgets.prompt.prompt_view import PromptView
from workbench.tui.widgets.text.editor import Editor
from workbench.tui.widgets.text.plain import PlainStatic


def words(desk: Desk) -> str:
    return desk.app.screen.query_one("#find-where", PlainStatic).render().plain  # type: ignore[union-attr]


def letter_of(desk: Desk, kind: type[Widget]) -> str:
    screen = desk.app.screen
    assert isinstance(screen, JumpScreen)
    return next(letter for letter, (widget, _) in screen._targets.items() if isinstance(widget, kind))


@pytest.mark.slow
def test_what_is_typed_is_gone_to_at_once_and_escape_goes_back() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("ctrl+f")
        await desk.fill_in("urgency")
        assert words(desk).startswith("1 of ") and "↓↑  enter stay" in words(desk)
        assert "signature" in words(desk)
        assert desk.main.editors.signature._editor.selected_text == "urgency"
        await desk.press("down")
        assert "chat · system" in words(desk)
        assert isinstance(desk.main.focused, PromptView)
        await desk.press("up", "up")
        assert "demo 1" not in words(desk)
        await desk.press("escape")
        assert desk.editor is desk.main.editors.signature._editor

    at_the_desk(act)


@pytest.mark.slow
def test_enter_stays_in_a_demo_and_nothing_is_said_to_be_nothing() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("ctrl+f")
        await desk.fill_in("[/x]")
        assert "no match" in words(desk)
        await desk.fill_in("Dark mode")
        await desk.press("up")
        assert "demo 2 ticket" in words(desk)
        await desk.press("enter")
        assert not isinstance(desk.app.screen, FindScreen)
        assert desk.main.editors.tab == "demos"
        assert desk.editor.selected_text == "Dark mode"

    at_the_desk(act, size=SMALL)


def test_what_is_folded_away_is_unfolded() -> None:
    long = "word " * 600 + "needle here"

    async def act(desk: Desk) -> None:
        await desk.press("ctrl+f")
        await desk.fill_in("needle")
        await desk.press("enter")
        prompt = desk.app.focused
        assert isinstance(prompt, PromptView)
        shown = [
            prompt.row(y, prompt.row_width).text for y in range(round(prompt.scroll_y), round(prompt.scroll_y) + 40)
        ]
        assert any("needle" in row for row in shown)

    session = replace(TICKETS, demos=(Demo({**TICKETS.demos[0].values, "ticket": long}),))
    at_the_desk(act, session)


@pytest.mark.slow
def test_a_letter_goes_where_it_stands() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f2", "alt+j")
        await desk.press(letter_of(desk, PromptView))
        assert isinstance(desk.app.focused, PromptView)
        await desk.press("ctrl+right_square_bracket", "~")
        assert isinstance(desk.app.focused, PromptView)
        await desk.press("alt+j")
        await desk.press(letter_of(desk, Editor))
        assert isinstance(desk.app.focused, Editor)

    at_the_desk(act)


@pytest.mark.parametrize("size", SIZES)
def test_the_keys_of_the_line_are_whole(size: tuple[int, int]) -> None:
    async def act(desk: Desk) -> None:
        await desk.press("ctrl+f")
        where = desk.app.screen.query_one("#find-where", PlainStatic)
        assert "…" not in seen(where)[0] and "esc go back" in seen(where)[0]

    at_the_desk(act, size=size)


def test_the_count_that_stands_on_the_terminal_is_that_of_what_is_typed() -> None:
    terminal = Terminal()

    async def act(desk: Desk) -> None:
        with terminal.of(desk.app):
            await desk.press("ctrl+f")
            for key in "que":
                await desk.press(key)
                held = [strip.text for strip in desk.app.screen._compositor.render_strips()]
                assert words(desk).split("  ")[0] in " ".join(held)
                assert [row for row in terminal.rows if "│ find " in row] == [row for row in held if "│ find " in row]

    at_the_desk(act, examples.load("triage"), size=(150, 40))
