"""A letter answers a question, wherever the highlight is."""

from __future__ import annotations

from tests.support.open_app import Desk, at_the_desk
from workbench.tui.dialogs.ask import Answer, AskScreen, ConfirmScreen


def test_a_letter_chooses_its_answer() -> None:
    async def act(desk: Desk) -> None:
        got: list[str | None] = []
        desk.app.push_screen(ConfirmScreen("Save", "", [Answer("a", "t", "A"), Answer("b", "w", "B")]), got.append)
        await desk.pilot.pause()
        await desk.press("w")
        assert got == ["b"]

    at_the_desk(act)


def test_an_ending_that_is_typed_before_the_one_left_there_is_not_doubled() -> None:
    async def act(desk: Desk) -> None:
        got: list[str | None] = []
        for typed in ("lease", "lease.session.json", "lease.v2"):
            desk.app.push_screen(AskScreen("Save as", "/a/new.session.json", lambda _: "", is_path=True), got.append)
            await desk.pilot.pause()
            await desk.type(typed)
            await desk.press("enter")
        assert got == ["/a/lease.session.json", "/a/lease.session.json", "/a/lease.v2.session.json"]

    at_the_desk(act)
