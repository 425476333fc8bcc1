from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.hostile import HOSTILE
from tests.support.open_app import MIDDLE, SIZES, TICKETS, Desk, at_the_desk
from tests.workbench.tui.test_hostile_screen import assert_harmless, session_of
from workbench.tui.actions.looking import HelpScreen
from workbench.tui.screens.pages import PAGES, PagesScreen
from workbench.tui.widgets.text.text_view import TextView


def shown(desk: Desk) -> str:
    return desk.app.screen.query_one(TextView).plain_text


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_every_page_of_every_column_opens_by_its_number(size: tuple[int, int]) -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f7")
        for _ in desk.document.session.columns:
            for number in range(1, len(PAGES) + 1):
                await desk.press(str(number))
                assert shown(desk)
                assert_harmless(desk)
            await desk.press("c")
        await desk.press("escape")
        assert desk.app.screen is desk.main

    at_the_desk(act, size=size)


@pytest.mark.slow
def test_f1_on_a_column_opens_its_card_and_f1_again_the_help() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f3", "f1")
        assert isinstance(desk.app.screen, PagesScreen)
        assert "ChatAdapter" in shown(desk)
        assert "F1 here lists the keys of its prompt and reply" in shown(desk)
        await desk.press("f1")
        assert isinstance(desk.app.screen, HelpScreen)
        listed = str(desk.app.screen.query_one(".dialog-text").render())
        assert "prompt.form" in listed and "pages.view" in listed
        about = desk.app.screen.query(".dialog-help").first()
        lines = [about.render_line(row) for row in range(about.size.height)]
        first, second = [one.text.strip() for one in lines if any(part.style and part.style.bold for part in one)][:2]
        assert (first, second) == ("Column", "Inspect"), "what was asked about first"

    at_the_desk(act)


@pytest.mark.slow
def test_a_case_that_is_called_one_is_not_called_so_twice() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f7")
        head = str(desk.app.screen.query_one("#pages-head").render())
        assert "· case 1 ·" in head and "case case" not in head
        await desk.press("escape", "ctrl+t", "d", "ctrl+z")
        assert "undone: copy case 1" in desk.main.status.render().plain

    at_the_desk(act, session=replace(TICKETS, cases=(replace(TICKETS.cases[0], name="case 1"),)), size=MIDDLE)


@pytest.mark.slow
def test_the_reply_below_the_matrix_is_the_one_that_the_cursor_is_on() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f5")
        await desk.sent()
        await desk.press("f4", "f4", "f7", "4")
        assert "The reply of json" in shown(desk)
        await desk.press("down")
        assert "The reply of xml" in shown(desk)
        await desk.press("up", "up")
        assert "The reply of chat" in shown(desk)
        await desk.press("enter")
        column = desk.main.columns.column("chat")
        assert column is not None and column.reply.has_focus

    at_the_desk(act)


def test_the_request_is_copied_as_text_json_and_curl() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f7", "2", "Y")
        assert '"messages"' in desk.app.clipboard
        await desk.press("u")
        assert any("curl" in one.message for one in desk.app._notifications)
        await desk.press("y")
        assert "Parameters beside the messages" in desk.app.clipboard

    at_the_desk(act)


def test_enter_on_a_lint_leads_to_the_demo_it_is_about() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f7", "6", "enter")
        assert desk.app.screen is desk.main
        assert desk.main.editors.demos.display

    at_the_desk(act)


def test_enter_in_the_matrix_leads_to_the_reply() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f5")
        await desk.sent()
        await desk.press("f7", "4", "down", "enter")
        column = desk.main.columns.column("json")
        assert column is not None and column.reply.has_focus

    at_the_desk(act)


def test_only_the_parser_of_its_own_column_offers_fixes_for_a_reply() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f5")
        await desk.sent()
        as_chat = desk.reply("chat")
        await desk.press("f7", "4")
        assert "✗ not parsed" in shown(desk) and "+ Use the adapter" not in shown(desk), "chat is used already"
        await desk.press("escape", "f4", "f4")
        await desk.paste_over(as_chat)
        await desk.press("f7", "4")
        assert shown(desk).count("+ Use the adapter `chat`") == 1

    at_the_desk(act)


@pytest.mark.slow
def test_a_page_follows_what_is_sent_while_it_is_open() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f7", "3")
        assert "Nothing was sent" in shown(desk)
        await desk.press("f8")
        await desk.until(lambda: "1  Chat" in shown(desk), "for the call on the page")

    at_the_desk(act)


@pytest.mark.slow
def test_hostile_texts_are_text_on_every_page() -> None:
    session = session_of({name: text for name, text in HOSTILE.items() if len(text) < 1_000})

    async def act(desk: Desk) -> None:
        for index in range(0, len(session.cases), 3):
            desk.main.show_case(index)
            await desk.settle()
            await desk.press("f7")
            for number in range(1, len(PAGES) + 1):
                await desk.press(str(number), "v")
                assert_harmless(desk)
            await desk.press("escape")

    at_the_desk(act, session=session)


@pytest.mark.slow
def test_the_last_line_offers_enter_only_where_a_line_leads_on() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f7", "4")
        hint = desk.app.screen.query_one("#pages-hint")
        assert "no replies yet" in shown(desk) and "enter" not in str(hint.render())
        await desk.press("escape", "f5")
        await desk.sent()
        await desk.press("f7", "4")
        hint = desk.app.screen.query_one("#pages-hint")
        assert "enter go to the reply" in str(hint.render())

    at_the_desk(act)


@pytest.mark.slow
def test_help_on_a_page_that_was_opened_from_an_editor_is_about_the_page() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f2", "f7", "f1")
        listed = str(desk.app.screen.query_one(".dialog-text").render())
        assert "pages.next" in listed and "→ l" in listed
        assert "signature_view" not in listed
        about = desk.app.screen.query(".dialog-help").first()
        assert "Inspect" in [about.render_line(row).text.strip() for row in range(about.size.height)]

    at_the_desk(act)
