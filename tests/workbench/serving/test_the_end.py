"""A class ends although a program does not read what its page sends, or a page not what is told to it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import aiohttp
import pytest
from class_browser import browser_at

from tests.workbench.serving.test_class_room import hold
from workbench.serving import class_room, seats, textual_server
from workbench.serving.class_room import ClassRoom, Setup

DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('__GANGLION__', flush=True)\n"
FOREVER = 10_000.0


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Process]]:
    """The processes of the seats: they read nothing, do not exit, and a message to them may wait forever."""
    made: list[Process] = []

    async def start(self: textual_server.SeatProgram, width: int = 80, height: int = 24) -> Process:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", f"{DEAF}time.sleep({FOREVER})"),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            start_new_session=True,
        )
        self._process, self._stdin = process, process.stdin
        made.append(process)
        return process

    monkeypatch.setattr(textual_server.SeatProgram, "_open_app_process", start)
    monkeypatch.setattr(textual_server, "SECONDS_TO_TAKE", FOREVER)
    monkeypatch.setattr(textual_server, "SECONDS_TO_CLOSE", 0.2)
    monkeypatch.setattr(textual_server, "SECONDS_TO_END", 0.2)
    yield made
    for process in made:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)


async def fill(page: aiohttp.ClientWebSocketResponse, processes: list[Process]) -> None:
    """Sends keys until the program's pipe takes no more, and a message waits for it."""
    while True:
        await page.send_json(["stdin", "a" * 100_000])
        await asyncio.sleep(0.01)
        if processes and (pipe := processes[-1].stdin) is not None and pipe.transport.get_write_buffer_size() > 65_536:
            return


@pytest.mark.parametrize("how", ["the end of the class", "kick", "another page"])
def test_a_program_ends_with_its_page_although_a_message_waits_for_it(
    tmp_path: Path, processes: list[Process], how: str
) -> None:
    async def act(room: ClassRoom) -> None:
        async with browser_at(room) as browser:
            await browser.join()
            address = f"{browser.base}/ws"
            page = await browser.client.ws_connect(address, headers={"Origin": browser.base}, compress=15)
            await fill(page, processes)
            if how == "kick":
                assert "was removed" in await room.order("kick 1")
            elif how == "another page":
                other = await browser.client.ws_connect(address, headers={"Origin": browser.base})
                while len(processes) < 2:
                    await asyncio.sleep(0.01)
                await other.close()
            else:
                await room.close()
            assert processes[0].returncode is not None

    hold(Setup(top=tmp_path, port=0), act, patience=60)
    assert all(one.returncode is not None for one in processes)
    assert list(tmp_path.iterdir()) == []


def test_a_download_that_nobody_reads_holds_up_no_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_room, "SECONDS_TO_CLOSE", FOREVER)

    async def act(room: ClassRoom) -> None:
        async with browser_at(room) as browser:
            _, cookie = await browser.join()
            (room.seats.all[0].folder / "files" / "large").write_bytes(bytes(seats.MOST_BYTES))
            _, writer = await asyncio.open_connection("127.0.0.1", room.port, limit=1_000)
            cookies = f"Cookie: {cookie.partition(';')[0]}"
            writer.write(f"GET /download/large HTTP/1.1\r\nHost: 127.0.0.1:{room.port}\r\n{cookies}\r\n\r\n".encode())
            await writer.drain()
            await asyncio.sleep(0.1)
            await room.close()
            writer.transport.abort()

    hold(Setup(top=tmp_path, port=0), act, patience=60)


def test_a_small_message_cannot_become_a_large_one(tmp_path: Path, processes: list[Process]) -> None:
    async def act(room: ClassRoom) -> None:
        async with browser_at(room) as browser:
            await browser.join()
            headers = {"Origin": browser.base}
            async with browser.client.ws_connect(f"{browser.base}/ws", headers=headers, compress=15) as page:
                assert page.compress == 0

    hold(Setup(top=tmp_path, port=0), act, patience=60)


CHATTY = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
stop = []
print("ready", flush=True)
piece, until = b"x" * 100_000, time.monotonic() + 20
while time.monotonic() < until and (not stop or len(stop) < 200):
    os.write(int(sys.argv[1]), piece)
    stop += stop[:1]
"""


@pytest.mark.parametrize("pipe", [1, 2])
def test_the_output_of_a_program_that_ends_is_read_and_not_kept(pipe: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It writes 20 MB before it exits by itself, which it could not while a pipe is full."""
    sizes: list[int] = []
    read = asyncio.StreamReader.read

    async def measured(self: asyncio.StreamReader, most: int = -1) -> bytes:
        data = await read(self, most)
        sizes.append(len(data))
        return data

    async def act() -> int | None:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", CHATTY, str(pipe)), stdin=PIPE, stdout=PIPE, stderr=PIPE, start_new_session=True
        )
        assert process.stdout is not None
        await process.stdout.readline()
        monkeypatch.setattr(asyncio.StreamReader, "read", measured)
        await textual_server.end(process)
        return process.returncode

    monkeypatch.setattr(textual_server, "SECONDS_TO_END", 60.0)
    assert asyncio.run(act()) == 0, "it was not killed"
    assert sum(sizes) > 10_000_000 and max(sizes) <= textual_server.MOST_AT_ONCE
