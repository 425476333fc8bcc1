"""The source editor offers what can be written next, and never in the way of whoever goes on typing."""

from dataclasses import replace

import pytest

from sessions.model.session import SignatureText
from tests.support.open_app import TICKETS, Desk, at_the_desk
from workbench.tui.panes.source_editor import Offer, SourceEditor


def offered(desk: Desk) -> list[str]:
    editor = desk.editor
    assert isinstance(editor, SourceEditor)
    return [one.text for one in editor.offered.candidates]


@pytest.mark.slow
def test_tab_takes_what_is_offered_and_enter_does_not() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("ctrl+end")
        await desk.type("    more: li")
        assert offered(desk)[0] == "list[str]"
        assert desk.app.screen.query_one(Offer).display
        await desk.press("tab")
        assert desk.editor.raw.endswith("    more: list[str]")
        await desk.type(" = dspy.Ou")
        await desk.press("tab")
        await desk.type("de")
        assert offered(desk) == ['desc=""', "default="]
        await desk.press("down", "enter")
        assert desk.editor.raw.endswith("    more: list[str] = dspy.OutputField(default=)")
        await desk.press("end", "enter")
        await desk.type("other: in")
        await desk.press("enter")
        assert desk.editor.raw.endswith("other: in\n    ")
        assert offered(desk) == []

    at_the_desk(act)


@pytest.mark.slow
def test_escape_hides_the_offer_and_ctrl_space_asks_for_it() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("end")
        await desk.type(": st")
        assert offered(desk) == ["str"]
        await desk.press("escape")
        assert offered(desk) == []
        await desk.press("backspace", "backspace", "ctrl+@")
        assert len(offered(desk)) > 4
        await desk.press("f2")
        assert not desk.app.screen.query_one(Offer).display

    at_the_desk(act, replace(TICKETS, signature=SignatureText("question -> answer")))
