"""textual-serve with visitors in the place of everybody: all that leans on its private names.

Its server starts one process for a connection, with all of its own variables and through a shell, and waits for its end
for as long as that takes. Here each process gets what `Orders` say and is ended if it does not end; what a browser
sends is read before it is handed on (`packets`), and the pages are ours, which fetch nothing from elsewhere.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from aiohttp import WSCloseCode, WSMsgType, hdrs, web
from aiohttp.abc import AbstractStreamWriter
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager
from textual_serve.server import Server

from workbench.serving import downloads, packets, teachers_place
from workbench.serving.lead import Lead
from workbench.serving.orders import PROGRAM, Orders
from workbench.serving.packets import Focus, Keys, NoPacketError, Packet, Ping, Resize
from workbench.serving.teachers_place import NoPlaceError

BROWSER = Path(__file__).parent / "browser"
"""Our pages, and what they load."""
MOST_OF_A_MESSAGE = 1_000_000
"""Bytes of one message of a browser, of which a paste is one."""
HEARTBEAT_S = 15.0
"""A page that is silent for longer than this and a half is gone, as when a lid was closed."""
SECONDS_TO_END = 3.0
SECONDS_TO_CLOSE = 5.0
"""How long a page has to hear that it is closed; one that reads nothing any more is cut off."""
SECONDS_TO_TAKE = 20.0
"""How long one message may wait for a program that reads nothing, or its answer for a page that does not."""
CHUNK = 65_536
"""Bytes of a file that are handed out at a time."""
NO_PACKET, OPENED_ELSEWHERE, IDLE, CLASS_IS_OVER = 1008, 4001, 4002, 4003
"""Why a connection was closed."""

Heard = Callable[[], None]
Converse = Callable[[web.Request], Awaitable[web.WebSocketResponse]]
HandOut = Callable[[web.Request], Awaitable[web.StreamResponse]]
FontSize = Callable[[web.Request], int]
"""In pixels, of the page of whoever asks."""


class VisitorProgram(AppService):
    """The process of one visitor, and what goes to and from it."""

    def __init__(self, orders: Orders, websocket: web.WebSocketResponse, lead: Lead) -> None:
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
        """Hands on what the process paints, to its end, with which the page is closed too."""
        await super().run()
        await self.remote_close()

    async def _close(self) -> None:
        await self._websocket.close()

    async def stop(self) -> None:
        """Has the process end, which keeps a copy of unsaved work; one that does not is killed."""
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
        """What the app asks of the browser: to be left, to open a page of the web, or to fetch a file by its name.

        Where it is, is taken from the teacher's program alone.
        """
        said = json.loads(data)
        if said.get("type") == "exit":
            await self.remote_close()
        elif said.get("type") == "open_url" and str(said.get("url", "")).startswith(("http://", "https://")):
            await self.remote_write_str(json.dumps(["open_url", {"url": said["url"], "new_tab": True}]))
        elif said.get("type") == "deliver_file_start":
            name = downloads.address(Path(str(said.get("path", ""))).name)
            await self.remote_write_str(json.dumps(["deliver_file_start", name]))
        elif said.get("type") == teachers_place.KIND and self._orders.leads:
            with suppress(NoPlaceError):  # the followers stay where they are
                self._lead.tell(teachers_place.read(str(said.get("place"))))

    async def follow(self) -> None:
        """Tells the process where the teacher is, as long as this runs; its visitor chooses whether it goes along."""
        if self._orders.leads:
            return
        async for place in self._lead.places():
            told = place.as_text() if place is not None else None
            await self.send_meta({"type": teachers_place.KIND, "place": told})

    async def take(self, packet: Packet) -> None:
        """Hands on what the browser sent; a `Ping` is not for the process."""
        match packet:
            case Keys(data):
                await self.send_bytes(data)
            case Resize(width, height):
                await self.set_terminal_size(width, height)
            case Focus(is_there):
                await (self.focus() if is_there else self.blur())


async def end(process: Process) -> None:
    """Ends a visitor's process with all that it started, and returns when there is none of it any more."""
    assert process.stdout is not None
    with suppress(ProcessLookupError):
        process.terminate()
    reading = asyncio.create_task(_read_to_its_end(process.stdout))  # who writes to a full pipe does not end
    try:
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), SECONDS_TO_END)
    finally:
        with suppress(ProcessLookupError, PermissionError):  # nothing of it is left
            os.killpg(process.pid, signal.SIGKILL)
        reading.cancel()
    await process.wait()


async def _read_to_its_end(stream: asyncio.StreamReader) -> None:
    while await stream.read(65_536):
        pass


class PageServer(Server):
    """Textual's server with our pages. `converse` is what becomes of the connection of a visitor, `hand_out` answers
    who asks for a file.
    """

    def __init__(self, font_size: FontSize, converse: Converse, hand_out: HandOut) -> None:
        super().__init__(PROGRAM, title="workbench", templates_path=BROWSER)
        self._font_size = font_size
        self._converse = converse
        self._hand_out = hand_out

    async def application(self) -> web.Application:
        """aiohttp's application, to which the caller adds what keeps people out."""
        return await self._make_app()

    async def on_startup(self, app: web.Application) -> None:
        """Says nothing: who serves does."""

    async def handle_index(self, request: web.Request) -> web.Response:
        page = (BROWSER / "app.html").read_text("utf-8").replace("FONT_SIZE", str(self._font_size(request)))
        return web.Response(text=page, content_type="text/html")

    async def handle_download(self, request: web.Request) -> web.StreamResponse:
        return await self._hand_out(request)

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        return await self._converse(request)


async def hand_out(request: web.Request, folder: Path, name: str) -> web.StreamResponse:
    """Answers with the file of this name in `folder`, which a browser keeps and never shows.

    Raises `NoDownloadError`. A browser that reads nothing is cut off, and so is one that was promised more than comes.
    """
    with downloads.open_file(folder, name) as opened:
        size = os.fstat(opened.fileno()).st_size
        response = web.StreamResponse()
        response.content_type = "application/octet-stream"  # whatever is in it, it is no page of ours
        response.content_length = size
        response.headers["Content-Disposition"] = f"attachment; filename*=UTF-8''{downloads.address(name)}"
        left = 0 if request.method == hdrs.METH_HEAD else size  # what follows a HEAD is taken for the next answer
        is_whole = False
        try:
            async with asyncio.timeout(SECONDS_TO_TAKE):
                await response.prepare(request)
            while left and (chunk := await asyncio.to_thread(opened.read, min(CHUNK, left))):
                left -= len(chunk)
                async with asyncio.timeout(SECONDS_TO_TAKE):
                    await response.write(chunk)
            if not left:
                async with asyncio.timeout(SECONDS_TO_TAKE):
                    await response.write_eof()
                is_whole = True
        except (ConnectionError, TimeoutError):
            pass
        finally:
            if not is_whole and request.transport is not None:
                request.transport.abort()  # or it waits, with what it holds, for a reader; or the reader for the rest
    return response


class Connection(web.WebSocketResponse):
    """The server's end of a connection with a page. aiohttp's own waits for as long as a page reads nothing."""

    def __init__(self) -> None:
        super().__init__(heartbeat=HEARTBEAT_S, max_msg_size=MOST_OF_A_MESSAGE)
        self._transport: asyncio.Transport | None = None

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter:
        self._transport = request.transport
        return await super().prepare(request)

    async def close(self, *, code: int = WSCloseCode.OK, message: bytes = b"", drain: bool = True) -> bool:
        """Closes it, and returns in time."""
        is_told = False
        try:
            async with asyncio.timeout(SECONDS_TO_CLOSE):
                is_closed = await super().close(code=code, message=message, drain=drain)
            is_told = True
        except TimeoutError:
            is_closed = True
        finally:
            if not is_told and self._transport is not None:
                self._transport.abort()  # or it waits, with what it holds, for a reader
        return is_closed


async def converse(
    websocket: web.WebSocketResponse, orders: Orders, size: tuple[int, int], heard: Heard, lead: Lead
) -> None:
    """Runs a visitor's program for as long as his page is open; it is gone when this returns.

    `heard` is called with all that he does himself. The teacher's program tells `lead` where it is, all others hear it.
    """
    program = VisitorProgram(orders, websocket, lead)
    following: asyncio.Task[None] | None = None
    try:
        await program.start(*size)
        following = asyncio.create_task(program.follow())
        async for message in websocket:
            if message.type is not WSMsgType.TEXT:
                continue
            try:
                packet = packets.read(message.data)
            except NoPacketError as error:
                await websocket.close(code=NO_PACKET, message=str(error).encode())
                break
            if isinstance(packet, Keys):
                heard()
            async with asyncio.timeout(SECONDS_TO_TAKE):
                if isinstance(packet, Ping):
                    await websocket.send_json(["pong", packet.said])
                else:
                    await program.take(packet)
    except (ConnectionError, TimeoutError):
        pass  # the page was closed while something was sent to it, or one of the two reads nothing any more
    finally:
        if following is not None:
            following.cancel()
        await asyncio.shield(program.stop())
