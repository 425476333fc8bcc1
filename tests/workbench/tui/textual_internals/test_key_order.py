"""Keys that were typed before there is anything that they could mean are carried out once there is."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from textual import events

from sessions.model.session import Column
from tests.support.open_app import TICKETS, Desk, at_the_desk
from workbench.tui.app import WorkbenchApp
from workbench.tui.panes.columns import ColumnsPane
from workbench.tui.screens.pages import PagesScreen
from workbench.tui.textual_internals import terminal


def test_a_key_while_the_columns_are_being_made_means_them_and_the_next_one_what_it_opened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frame = ColumnsPane.frame

    def framed(self: ColumnsPane, columns: Sequence[Column]) -> None:
        frame(self, columns)
        assert not self.rendered, "there is nothing in the columns yet"
        for key, character in (("f7", None), ("8", "8")):
            self.app.post_message(events.Key(key, character))

    monkeypatch.setattr(ColumnsPane, "frame", framed)

    async def act(desk: Desk) -> None:
        await desk.until(lambda: isinstance(desk.app.screen, PagesScreen), "for the closer look")
        assert isinstance(desk.app.screen, PagesScreen)
        assert desk.app.screen.wants_token_counts
        assert desk.document.session.signature.text == TICKETS.signature.text

    at_the_desk(act)


def test_letters_wait_for_a_focus_but_not_for_the_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    mount = WorkbenchApp.on_mount

    def mounted(self: WorkbenchApp) -> None:
        mount(self)
        assert self.focused is None, "nothing could take a letter"
        for letter in "ab":
            self.post_message(events.Key(letter, letter))

    monkeypatch.setattr(WorkbenchApp, "on_mount", mounted)

    async def act(desk: Desk) -> None:
        await desk.until(lambda: desk.document.session.signature.text == "ab" + TICKETS.signature.text, "for both")
        await desk.until(lambda: not desk.app.key_order.is_busy, "for an end of the waiting")
        desk.main.complete.clear()
        await desk.press("c")
        assert desk.document.session.signature.text.startswith("abc"), "the focus is there"
        assert not desk.main.complete.is_set()

    at_the_desk(act)


def test_keys_are_carried_out_in_the_end_where_the_columns_never_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "LONGEST_START_S", 0.01)

    async def act(desk: Desk) -> None:
        desk.main.complete.clear()
        await desk.press("f7")
        assert isinstance(desk.app.screen, PagesScreen)
        assert desk.main.complete.is_set(), "the next key waits no more"

    at_the_desk(act)
