"""A letter answers a question, wherever the highlight is."""

from __future__ import annotations

from tests.support.open_app import Desk, at_the_desk
from workbench.tui.dialogs.ask import Answer, ConfirmScreen


def test_a_letter_chooses_its_answer() -> None:
    async def act(desk: Desk) -> None:
        got: list[str | None] = []
        desk.app.push_screen(ConfirmScreen("Save", "", [Answer("a", "t", "A"), Answer("b", "w", "B")]), got.append)
        await desk.pilot.pause()
        await desk.press("w")
        assert got == ["b"]

    at_the_desk(act)
