"""A page that is open and reads nothing, as of a lid that was closed or of whoever means harm, holds up nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import aiohttp
import pytest
from aiohttp import web

from workbench.serving import textual_server


def talk(serve: Callable[[textual_server.Connection], Awaitable[None]], patience: float = 60) -> None:
    """Has a page connect that reads nothing, and the server do its part; it fails after `patience` seconds."""

    async def run() -> None:
        done = asyncio.get_running_loop().create_future()

        async def handle(request: web.Request) -> web.StreamResponse:
            connection = textual_server.Connection()
            await connection.prepare(request)
            try:
                await serve(connection)
            except BaseException as error:
                done.set_exception(error)
                raise
            done.set_result(None)
            return connection

        application = web.Application()
        application.add_routes([web.get("/ws", handle)])
        runner = web.AppRunner(application, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        client = aiohttp.ClientSession()
        try:
            page = await client.ws_connect(f"http://127.0.0.1:{runner.addresses[0][1]}/ws")
            await asyncio.wait_for(done, patience)
            assert not page.closed  # it was open all the while
        finally:
            await client.close()
            await runner.cleanup()

    asyncio.run(run())


async def paint(connection: textual_server.Connection) -> None:
    """Paints until the end of the connection, as a program does."""
    while True:
        await connection.send_bytes(b"x" * 60_000)


async def all_is_full(connection: textual_server.Connection) -> None:
    """Waits until nothing of what is painted gets any further."""
    transport = connection._transport
    assert transport is not None
    held = [0]
    while len(held) < 50 or len({*held[-50:]}) > 1 or not held[-1]:
        await asyncio.sleep(0.01)
        held.append(transport.get_write_buffer_size())


def test_closing_it_ends_and_so_does_what_was_being_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(textual_server, "SECONDS_TO_CLOSE", 0.2)

    async def serve(connection: textual_server.Connection) -> None:
        painting = asyncio.create_task(paint(connection))
        await all_is_full(connection)
        await connection.close(code=textual_server.IDLE)
        with pytest.raises((ConnectionError, asyncio.CancelledError)):
            await painting

    talk(serve)
