"""A page that sends more than a hand can type holds up nobody else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any, cast

import pytest
from aiohttp import WSMsgType

from workbench.serving import textual_server
from workbench.serving.messages import Orders

COUNT = 200


class Flood:
    """A page whose messages have all arrived: reading them never waits."""

    read = 0
    closed = False

    def __init__(self, kind: WSMsgType = WSMsgType.TEXT) -> None:
        self.kind = kind

    async def __aiter__(self) -> AsyncIterator[Any]:
        for number in range(COUNT):
            said = f'["ping", "{number}"]' if number % 2 else '["focus"]'
            self.read += 1
            yield SimpleNamespace(type=self.kind, data=said)

    async def send_json(self, _: object) -> None:
        pass

    async def pong(self, _: bytes) -> None:
        pass


class Turns:
    """The turns that a task gets beside another."""

    taken = 0

    async def take(self) -> None:
        while True:
            self.taken += 1
            await asyncio.sleep(0)


def program_of_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(*_: object) -> None:
        pass

    for name in ("start", "send_meta", "follow", "stop"):
        monkeypatch.setattr(textual_server.SeatProgram, name, nothing)
    monkeypatch.setattr(textual_server.SeatProgram, "__init__", lambda *_: None)


def test_what_a_page_sent_before_it_was_closed_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    program_of_nothing(monkeypatch)
    page = cast(Any, Flood())

    def touch() -> None:
        pass

    async def run() -> None:
        page.closed = True
        lead = textual_server.Lead()
        await textual_server.converse(page, Orders("/nowhere"), (80, 24), touch, lead, lambda _: None)

    asyncio.run(run())
    assert page.read == 1


@pytest.mark.parametrize("kind", [WSMsgType.TEXT, WSMsgType.BINARY, WSMsgType.PING, WSMsgType.PONG])
def test_others_have_their_turn_between_two_messages_of_a_page(
    kind: WSMsgType, monkeypatch: pytest.MonkeyPatch
) -> None:
    program_of_nothing(monkeypatch)

    async def run() -> int:
        turns = Turns()
        others = asyncio.create_task(turns.take())
        page = cast(Any, Flood(kind))
        lead = textual_server.Lead()
        await textual_server.converse(page, Orders("/nowhere"), (80, 24), lambda: None, lead, lambda _: None)
        others.cancel()
        return turns.taken

    assert asyncio.run(run()) >= COUNT
