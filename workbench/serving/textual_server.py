"""Serve each seat its own program through textual-serve; only this file uses textual-serve's private names.

textual-serve starts a process per connection through a shell, with all environment variables of the server, and waits
without limit for it to exit. Here each process gets the environment of its `Orders` and is killed if it does not exit;
messages from browsers are read strictly (`messages`), and the project's own pages load nothing from other hosts.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from aiohttp import WSCloseCode, WSMsgType, web
from aiohttp.abc import AbstractStreamWriter
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

from adapters.late_dataclasses import asdict, dataclass, field
from workbench.serving import messages, seats
from workbench.serving.messages import PROGRAM, MessageError, Orders, TeachersPlace

MOST_OF_A_MESSAGE = 1_000_000
"""The size limit of a browser's message, such as a paste, in bytes."""
HEARTBEAT_S = 15.0
"""Seconds between pings; a page silent for 1.5 times as long counts as closed, for example a closed laptop."""
SECONDS_TO_END = 3.0
SECONDS_TO_CLOSE = 5.0
"""Seconds for a page to confirm that it was closed, before the connection is aborted."""
SECONDS_TO_TAKE = 20.0
"""Seconds that a message may wait for a program or page that does not read."""
MOST_AT_ONCE = 65_536
"""The largest number of bytes read at once from a process that is to exit."""
NO_PACKET, OPENED_ELSEWHERE, IDLE, CLASS_IS_OVER, REMOVED = 1008, 4001, 4002, 4003, 4004
"""WebSocket close codes, for which `class.js` shows messages."""
BETWEEN_S = 0.1
"""The shortest time between two places sent to a participant, in seconds; only the latest is sent."""

Note = Callable[[messages.Controls], None]
T = TypeVar("T")


@dataclass(eq=False)
class Lead:
    """Broadcasts the teacher's latest place; slow listeners skip places and delay nobody."""

    place: TeachersPlace | None = None
    """The latest place; None without a teacher."""
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def tell(self, place: TeachersPlace | None) -> None:
        """Publish the teacher's new place, or None once the teacher has left."""
        if place != self.place:
            self.place = place
            news, self._news = self._news, asyncio.Event()
            news.set()

    async def places(self) -> AsyncIterator[TeachersPlace | None]:
        """Yield the teacher's place, if any, then each change, without end; slow readers get only the latest."""
        heard: TeachersPlace | None = None
        while True:
            news = self._news
            if self.place != heard:
                heard = self.place
                yield heard
                await asyncio.sleep(BETWEEN_S)
            else:
                await news.wait()


class SeatProgram(AppService):
    """The process of a seat and its connection to the page."""

    def __init__(self, orders: Orders, websocket: web.WebSocketResponse, lead: Lead, note: Note) -> None:
        super().__init__(
            PROGRAM,
            write_bytes=websocket.send_bytes,
            write_str=websocket.send_str,
            close=self._close,
            download_manager=DownloadManager(),
        )
        self._orders = orders
        self._websocket = websocket
        self._lead = lead
        self._note = note

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", PROGRAM, self._orders.as_text()),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=self._orders.environment((width, height), os.environ),
            cwd=self._orders.files,
            start_new_session=True,
        )
        self._process, self._stdin = process, process.stdin
        return process

    async def run(self) -> None:
        """Send the process's output to the page until it ends, then close the page."""
        await super().run()
        if self._task is not None:  # else `stop` has cancelled it, whose page closes without it
            await self.remote_close()

    async def _close(self) -> None:
        await self._websocket.close()

    async def stop(self) -> None:
        """End the process, which saves a copy of unsaved work; kill it if it does not exit."""
        task, self._task = self._task, None
        process, self._process = self._process, None
        try:
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
        finally:
            if process is not None:
                await end(process)

    async def on_meta(self, data: bytes) -> None:
        """Handle the app's requests to the browser: close, open a URL, download, show buttons.

        A place is accepted only from the teacher's program.
        """
        said = json.loads(data)
        if said.get("type") == "exit":
            await self.remote_close()
        elif said.get("type") == "open_url" and str(said.get("url", "")).startswith(("http://", "https://")):
            await self.remote_write_str(json.dumps(["open_url", {"url": said["url"], "new_tab": True}]))
        elif said.get("type") == "deliver_file_start":
            name = seats.download_path(Path(str(said.get("path", ""))).name)
            await self.remote_write_str(json.dumps(["deliver_file_start", name]))
        elif said.get("type") == messages.CONTROLS:
            with suppress(MessageError):  # an invalid message changes nothing
                shown = messages.read(messages.Controls, str(said.get("content")))
                self._note(shown)
                await self.remote_write_str(json.dumps([messages.CONTROLS, asdict(shown)]))
        elif said.get("type") == messages.PLACE and self._orders.leads:
            with suppress(MessageError):  # an invalid place moves nobody
                self._lead.tell(messages.read(TeachersPlace, str(said.get("content"))))

    async def follow(self) -> None:
        """Send the teacher's places to the process, whose participant chooses whether to follow."""
        if self._orders.leads:
            return
        async for place in self._lead.places():
            told = messages.as_text(place) if place is not None else None
            await self.send_meta({"type": messages.PLACE, "content": told})


async def end(process: Process) -> None:
    """End a process and its children, and return once they have exited."""
    with suppress(ProcessLookupError):
        process.terminate()
    # a process blocked on a full pipe does not exit
    reading = [asyncio.create_task(_drop(pipe)) for pipe in (process.stdout, process.stderr) if pipe is not None]
    try:
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), SECONDS_TO_END)
    finally:
        with suppress(ProcessLookupError, PermissionError):  # its process group has exited
            os.killpg(process.pid, signal.SIGKILL)
        for one in reading:
            one.cancel()
    await process.wait()


async def _drop(pipe: asyncio.StreamReader) -> None:
    """Read what a process writes, and keep none of it."""
    while await pipe.read(MOST_AT_ONCE):
        pass


async def finish(work: Coroutine[Any, Any, T]) -> T:
    """Await `work` to its end, although this task is cancelled meanwhile."""
    task = asyncio.create_task(work)
    while not task.done():
        with suppress(asyncio.CancelledError):
            await asyncio.shield(task)
    return task.result()


class Connection(web.WebSocketResponse):
    """The server's end of a page's WebSocket; aiohttp's own waits without limit for a page that does not read."""

    def __init__(self) -> None:
        # not compressed: a kilobyte could become a megabyte, which takes a millisecond of everybody's time; with
        # `autoping` aiohttp would read all pings that have arrived without a pause
        super().__init__(heartbeat=HEARTBEAT_S, max_msg_size=MOST_OF_A_MESSAGE, compress=False, autoping=False)
        self._transport: asyncio.Transport | None = None

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter:
        self._transport = request.transport
        try:
            return await super().prepare(request)
        except ValueError:  # aiohttp decodes the key unchecked
            raise web.HTTPBadRequest from None

    async def close(self, *, code: int = WSCloseCode.OK, message: bytes = b"", drain: bool = True) -> bool:
        """Close the connection within `SECONDS_TO_CLOSE`, else abort it."""
        is_told = False
        try:
            async with asyncio.timeout(SECONDS_TO_CLOSE):
                is_closed = await super().close(code=code, message=message, drain=drain)
            is_told = True
        except TimeoutError:
            is_closed = True
        finally:
            if not is_told and self._transport is not None:
                self._transport.abort()  # else it waits for a reader
        return is_closed


async def converse(
    websocket: web.WebSocketResponse,
    orders: Orders,
    size: tuple[int, int],
    touch: Callable[[], None],
    lead: Lead,
    note: Note,
) -> None:
    """Run a seat's program while its page is open; the program has exited when this returns.

    `touch` is called for every key and button press, `note` with the buttons that the page shows. The teacher's program
    publishes its place in `lead`; all others receive it.
    """
    program = SeatProgram(orders, websocket, lead, note)
    following: asyncio.Task[None] | None = None
    try:
        await program.start(*size)
        following = asyncio.create_task(program.follow())
        async for message in websocket:
            await asyncio.sleep(0)  # messages that are here already are read without a pause: let others go first
            if websocket.closed:
                break  # what it sent before would hold up its end
            if message.type is WSMsgType.PING:
                async with asyncio.timeout(SECONDS_TO_TAKE):
                    await websocket.pong(message.data)
            if message.type is not WSMsgType.TEXT:
                continue
            try:
                packet = messages.read_packet(message.data)
            except MessageError as error:
                await websocket.close(code=NO_PACKET, message=str(error).encode())
                break
            async with asyncio.timeout(SECONDS_TO_TAKE):
                match packet:
                    case bytes():
                        touch()
                        await program.send_bytes(packet)
                    case str():
                        await websocket.send_json(["pong", packet])
                    case _:
                        if packet["type"] == messages.PRESS:
                            touch()
                        await program.send_meta(packet)
    except (ConnectionError, TimeoutError):
        pass  # the page was closed during a send, or page or program no longer reads
    finally:
        if following is not None:
            following.cancel()
        await finish(program.stop())
