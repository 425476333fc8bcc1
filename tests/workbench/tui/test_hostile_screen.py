"""Text of other people on the screen: never markup, never a control sequence, never the end of the app."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from textual.fuzzy import Matcher

import workbench.tui
from tests.support.hostile_session import LONG, SHORT, session_of
from tests.support.open_app import SIZES, Desk, at_the_desk
from workbench.tui.palette import commands_of
from workbench.tui.panes.editors import EDITORS
from workbench.tui.screens.pages import PAGES
from workbench.tui.widgets.text.plain import palette_discovery, palette_hit, plain_notify

PLAIN = session_of({"plain": "plain"})


def assert_harmless(desk: Desk) -> None:
    """Nothing on the screen is a control character."""
    for strip in desk.app.screen._compositor.render_strips():
        bad = [one for one in strip.text if unicodedata.category(one) in ("Cc", "Cs") or one in "\u202e\u2028\u2066"]
        assert not bad, repr(strip.text)


async def look_at_every_pane(desk: Desk) -> None:
    for tab in EDITORS:
        desk.main.editors.open(tab)
        await desk.settle()
        assert_harmless(desk)
    await desk.press("f4", "f3", "right", "right", "f10")
    assert_harmless(desk)
    await desk.press("f10")


async def look_at_every_page(desk: Desk) -> None:
    desk.app.action_look()
    for page in PAGES:
        desk.app.action_look(page)
        await desk.settle()
        assert_harmless(desk)
    await desk.press("escape")


def test_hostile_texts_go_through_every_pane_and_dialog() -> None:
    session = session_of(SHORT)

    async def act(desk: Desk) -> None:
        for index in range(len(session.cases)):
            desk.main.show_case(index)
            await desk.settle()
            assert_harmless(desk)
        await look_at_every_pane(desk)
        for key in ("ctrl+t", "ctrl+l", "ctrl+g", "f12", "f1"):
            await desk.press(key)
            assert_harmless(desk)
            await desk.press("escape")
        await look_at_every_page(desk)
        await desk.press("ctrl+p")
        for letter in "case":
            await desk.pilot.press(letter)
        await desk.settle()
        assert_harmless(desk)
        await desk.press("escape")
        assert desk.document.session is session


def test_every_palette_entry_is_one_harmless_line_before_and_after_typing() -> None:
    async def act(desk: Desk) -> None:
        matcher = Matcher("o")
        commands = list(commands_of(desk.app, desk.app.screen))
        assert len(commands) > 60
        for command in commands:
            found = palette_discovery(command.name, command.run, command.about)
            hit = palette_hit(matcher, command.name, command.run, command.about)
            for entry in (found, hit):
                if entry is not None:
                    shown = f"{entry.prompt}{entry.text}{entry.help or ''}"
                    assert not [one for one in shown if unicodedata.category(one) in ("Cc", "Cs")], repr(shown)

    at_the_desk(act, session=session_of(SHORT))


@pytest.mark.slow
@pytest.mark.parametrize("text", LONG.values(), ids=LONG.keys())
def test_a_text_of_any_length_can_be_looked_at(text: str) -> None:
    session = session_of({"long": text})

    async def act(desk: Desk) -> None:
        await look_at_every_pane(desk)
        assert desk.document.session is session

    at_the_desk(act, session=session)


@pytest.mark.slow
def test_errors_and_toasts_that_say_hostile_things_are_shown_as_text() -> None:
    async def act(desk: Desk) -> None:
        for text in SHORT.values():
            desk.app.report_mistake(ValueError(text))
            plain_notify(desk.app, text, title=text)
            desk.app.mistakes.seen.clear()
            await desk.settle()
            assert_harmless(desk)
            desk.app.clear_notifications()

    at_the_desk(act, session=PLAIN)


def test_every_toast_is_made_by_the_gate_for_toasts() -> None:
    folder = Path(workbench.tui.__file__).parent
    calls = [one for one in folder.rglob("*.py") if ".notify(" in one.read_text(encoding="utf-8")]
    assert [one.name for one in calls] == ["plain.py"]


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_a_signature_of_hostile_text_is_an_error_in_place(size: tuple[int, int]) -> None:
    async def act(desk: Desk) -> None:
        for text in SHORT.values():
            await desk.go_to("signature")
            await desk.paste_over(text)
            assert_harmless(desk)

    at_the_desk(act, session=PLAIN, size=size)


def test_a_signature_that_names_a_system_call_runs_nothing() -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("signature")
        await desk.paste_over('x: __import__("os").system("touch pwned") -> y')
        error = desk.main.engine.signature.error
        assert error is not None and error.line == 1

    at_the_desk(act, session=PLAIN)
    assert not Path("pwned").exists()
