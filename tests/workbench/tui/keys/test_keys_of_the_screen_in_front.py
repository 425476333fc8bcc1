"""With a page, a dialog or the help in front of the panes a key means what that screen says, or nothing."""

from __future__ import annotations

import pytest

from tests.support.open_app import Desk, at_the_desk
from workbench.tui.dialogs.ask import AskScreen, ConfirmScreen, Dialog
from workbench.tui.keys import ACTIONS, ON_A_DIALOG, ON_A_LESSON, ON_A_PAGE
from workbench.tui.screens.pages import PagesScreen


def test_every_action_that_a_screen_lets_through_is_one_of_the_app() -> None:
    assert ON_A_DIALOG < ACTIONS and ON_A_PAGE < ACTIONS and ON_A_LESSON < ACTIONS


@pytest.mark.slow
@pytest.mark.parametrize(
    "opens", ["ctrl+t", "f6", *(pytest.param(key, marks=pytest.mark.slow) for key in ("f1", "ctrl+g"))]
)
def test_keys_of_the_panes_do_nothing_behind_another_screen(opens: str) -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("input", "ticket")
        await desk.type("x")
        before, focused = desk.document.state, desk.main.focused
        await desk.press(opens)
        in_front = desk.app.screen
        assert in_front is not desk.main
        await desk.press("ctrl+z", "f2", "f3", "f10", "f5", "ctrl+r", "ctrl+l")
        assert desk.app.screen is in_front
        assert desk.document.state is before and desk.main.focused is focused
        assert not desk.main.runs.active and not desk.main.is_alone

    at_the_desk(act)


def test_undo_in_the_field_of_a_dialog_leaves_the_session_alone() -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("input", "ticket")
        await desk.type("x")
        before = desk.document.state
        await desk.press("f12")
        assert isinstance(desk.app.screen, AskScreen)
        await desk.type("a")
        await desk.press("ctrl+z", "ctrl+y")
        assert desk.document.state is before

    at_the_desk(act)


@pytest.mark.slow
def test_f8_on_a_page_sends_the_column_of_the_page() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f7", "c", "f8")
        await desk.sent()
        assert isinstance(desk.app.screen, PagesScreen)
        assert set(desk.document.state.case.replies) == {"json"}

    at_the_desk(act)


@pytest.mark.parametrize("key", ["f7", "shift+f9"])
def test_leaving_from_a_screen_in_front_asks_about_unsaved_work(key: str) -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("input", "ticket")
        await desk.type("x")
        await desk.press(key)
        await desk.until(lambda: desk.app.screen is not desk.main, "for the screen in front")
        in_front = desk.app.screen
        await desk.press("ctrl+q")
        await desk.until(lambda: isinstance(desk.app.screen, ConfirmScreen), "for the question")
        await desk.press("escape")
        assert desk.app.screen is in_front

    at_the_desk(act)


@pytest.mark.parametrize("key", ["f1", "ctrl+t", "ctrl+l", "ctrl+f"])
def test_leaving_from_a_dialog_closes_it_and_asks_about_unsaved_work(key: str) -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("input", "ticket")
        await desk.type("x")
        await desk.press(key)
        assert isinstance(desk.app.screen, Dialog) and not isinstance(desk.app.screen, ConfirmScreen)
        await desk.press("ctrl+q")
        await desk.until(lambda: isinstance(desk.app.screen, ConfirmScreen), "for the question")
        await desk.press("escape")
        assert desk.app.screen is desk.main

    at_the_desk(act)


def test_the_palette_over_a_page_offers_what_concerns_the_page() -> None:
    async def act(desk: Desk) -> None:
        from workbench.tui.palette import commands_of

        await desk.press("f7")
        offered = [one.name for one in commands_of(desk.app, desk.app.screen)]
        assert any(one.startswith("Send") for one in offered)
        assert not any(one.startswith(("Maximise", "Case:", "Copy:")) for one in offered)

    at_the_desk(act)
