"""Keys that were typed before there is anything that they could mean are carried out once there is."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from textual import events
from textual.app import App

from sessions.model.session import Column
from tests.support.open_app import TICKETS, Desk, at_the_desk
from workbench.tui.panes.columns import ColumnsPane
from workbench.tui.screens.pages import PagesScreen
from workbench.tui.textual_internals import terminal
from workbench.tui.textual_internals.terminal import KeyOrder


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


def test_letters_do_not_wait_for_the_columns() -> None:
    taken: list[str] = []

    async def deliver(event: events.Event) -> None:
        assert isinstance(event, events.Key)
        taken.append(event.key)

    async def act() -> None:
        order = KeyOrder(App(), deliver, pytest.fail, asyncio.Event())
        await order.take(events.Key("a", "a"))

    asyncio.run(act())
    assert taken == ["a"]


def test_keys_are_carried_out_in_the_end_where_the_columns_never_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "LONGEST_START_S", 0.01)

    async def act(desk: Desk) -> None:
        desk.main.complete.clear()
        await desk.press("f7")
        assert isinstance(desk.app.screen, PagesScreen)
        assert desk.main.complete.is_set(), "the next key waits no more"

    at_the_desk(act)
