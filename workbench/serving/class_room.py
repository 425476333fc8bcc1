"""Run a class in the browser: web server, seats and cleanup."""

from __future__ import annotations

import asyncio
import ipaddress
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from math import inf
from pathlib import Path
from typing import TextIO

from aiohttp import hdrs, web

from adapters.late_dataclasses import dataclass
from workbench.output import crash_log
from workbench.serving import board, doors, messages, seats, textual_server
from workbench.serving.messages import DISK_MB, FILES, Orders
from workbench.serving.seats import DownloadError, Seat, Seats, download_path, open_download

LOOK_EVERY_S = 2.0
"""Seconds between checks for idle and abandoned seats."""
SECONDS_TO_CLOSE = 1.0
"""Seconds for the last requests at the end, when no page is open any more."""
ANY = ("0.0.0.0", "::", "")
"""Hosts that mean all addresses of this machine; browsers get the result of `own_host` instead."""
FONT_SIZE, PROJECTED_FONT_SIZE = 16, 24
"""Font sizes in pixels. A projector of 1280 x 720 shows 88 columns in the second; browser zoom gives other sizes."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Setup:
    """The options of a class, as the command line gives them.

    `sessions` are copied for each participant; the first is opened. `top` contains the folders of the seats, which are
    removed at the end unless `keeps`. At most `most` participants can join, `per_address` of them from one network
    address. A seat is idle after `idle_s` seconds. `public_url` is the server's address for browsers, if not its own.
    With `is_projected` the teacher's page uses the large font and projector mode. The other options are as in `Orders`.
    """

    sessions: tuple[Path, ...] = ()
    top: Path = Path()
    keeps: bool = False
    host: str = "127.0.0.1"
    port: int = 8000
    public_url: str | None = None
    most: int = 30
    idle_s: float = 3600.0
    lesson: int | None = None
    models: tuple[str, ...] = ()
    disk_mb: int = DISK_MB
    is_projected: bool = False
    per_address: int = 1

    @property
    def is_loopback(self) -> bool:
        """Tell whether only this machine can reach the server."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def url(self, port: int) -> str:
        """Return the address for browsers, without a trailing slash; `port` is the listening port."""
        if self.public_url is not None:
            return self.public_url.rstrip("/")
        name = own_host() if self.host in ANY else self.host
        host = f"[{name}]" if ":" in name else name
        return f"http://{host}:{port}"

    def orders(self, folder: Path, leads: bool = False) -> Orders:
        """Return the orders for the program of a seat; `leads` is true for the teacher's."""
        first = self.sessions[0].name if self.sessions else None
        is_projected = leads and self.is_projected
        return Orders(str(folder), first, self.lesson, self.models, self.disk_mb, leads, is_projected)


def own_host() -> str:
    """Return this machine's IP address in its network, which phones can reach; its host name without a network."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # sends nothing: it only selects the local address
        return str(probe.getsockname()[0])
    return socket.gethostname()


class ClassRoom:
    """A running class; `say` is called with a line about each event. Make it inside the event loop that runs it."""

    def __init__(self, setup: Setup, say: Say) -> None:
        self.setup = setup
        self._say = say
        self.seats = Seats(setup.most, setup.idle_s, setup.top, setup.sessions, setup.per_address)
        self.lead = textual_server.Lead()
        self.port = 0
        """The listening port; 0 before `open`."""
        self._connections = doors.Connections(is_behind_proxy=setup.public_url is not None)
        self._doors = doors.Doors(self.seats, setup.public_url, self._welcome, self._connections)
        self._runner: web.AppRunner | None = None
        self._listener: asyncio.Server | None = None
        self._log = doors.CountedLog(say, crash_log.write)
        self._looking: asyncio.Task[None] | None = None
        self._is_over = False

    @property
    def address(self) -> str:
        """The join address for participants, with the code."""
        return f"{self.setup.url(self.port)}/join/{self.seats.code}"

    @property
    def teachers_address(self) -> str:
        """The secret join address for the teacher; "" while the teacher's seat is taken."""
        code = self.seats.teachers_code
        return f"{self.setup.url(self.port)}/join/{code}" if code else ""

    async def open(self) -> None:
        """Start the server. Raises OSError if it cannot listen on the address."""
        application = self._doors.application(
            [
                web.get("/", self._page),
                web.get("/ws", self._converse),
                web.get("/download/{name}", self._hand_out),
                web.get(doors.BOARD, self._board),
                web.post(doors.BOARD, self._obey),
            ]
        )
        # with `handler_cancellation` a lost connection ends its handler, and a seat's program with its page; nothing is
        # decompressed, because a kilobyte could become a megabyte, which takes everybody's time
        self._runner = web.AppRunner(
            application,
            access_log=None,
            shutdown_timeout=SECONDS_TO_CLOSE,
            handler_cancellation=True,
            auto_decompress=False,
        )
        await self._runner.setup()
        assert self._runner.server is not None
        self._log.put_up()
        begin = partial(doors.NewConnection, self._runner.server, self._connections)
        host, port = self.setup.host, self.setup.port
        self._listener = await asyncio.get_running_loop().create_server(begin, host, port, backlog=512)
        self.port = int(self._listener.sockets[0].getsockname()[1])
        self._looking = asyncio.create_task(self._look_again_and_again())

    async def close(self) -> None:
        """End all programs and the server; remove the seats' folders unless they are kept."""
        self._is_over = True
        if self._looking is not None:
            self._looking.cancel()
            with suppress(asyncio.CancelledError):
                await self._looking
        if self._listener is not None:
            self._listener.close()
        await asyncio.gather(*[seat.end(textual_server.CLASS_IS_OVER) for seat in self.seats.all])
        for seat in self.seats.all:
            self._connections.leave(seat.number)
        if self._runner is not None:
            await self._runner.cleanup()
        self._log.take_down()
        self._log.tell(inf)
        for seat in self.seats.all:
            self._end(seat)

    async def look_after(self) -> None:
        """Close idle pages, and free the seats of absent participants."""
        for seat in self.seats.idle():
            self._say(f"{seat.name} is idle: page closed, seat kept for the same time again")
            self.seats.touch(seat)
            if seat.page is not None:
                await seat.page.close(code=textual_server.IDLE)
        for seat in self.seats.release():
            self._end(seat)
            free = self.teachers_address if seat.leads else self.address
            self._say(f"{seat.name} has left{self._count()}; address for the free seat: {free}")

    async def order(self, line: str) -> str:
        """Execute an order from the teacher's terminal or class page; return the answer."""
        match line.split():
            case []:
                return ""
            case ["who"]:
                return board.listed(self.seats)
            case ["code"]:
                self.seats.renew()
                return f"the new address is {self.address}"
            case ["close"]:
                self.seats.is_closed = True
                return "the class is closed to newcomers; `open` admits them again"
            case ["open"]:
                self.seats.is_closed = False
                return f"the class is open: {self.address}"
            case ["kick", number] if number.isascii() and number.isdecimal() and len(number) < 6:
                seat = self.seats.remove(int(number))
                if seat is None:
                    return f"there is no participant {int(number)}; `who` lists them"
                await seat.end(textual_server.REMOVED)
                self._end(seat)
                return f"{seat.name} was removed{self._count()}; `code` makes a new code, `close` admits nobody"
        return board.ORDERS

    async def _board(self, request: web.Request) -> web.Response:
        return board.board(self.seats, self.setup.url(self.port), self.address)

    async def _obey(self, request: web.Request) -> web.Response:
        await textual_server.finish(self.order((await doors.fields_of(request)).get("order", "")))
        raise web.HTTPSeeOther(doors.BOARD)

    async def _look_again_and_again(self) -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            self._log.tell(asyncio.get_running_loop().time())
            try:
                await self.look_after()
            except Exception as error:  # a bug must not end the class: report it, and try again next time
                self._say(f"looking after the seats failed ({type(error).__name__}: {error})")

    def _welcome(self, seat: Seat) -> None:
        self._say(f"{seat.name} joined{self._count()}")
        if self.seats.is_full and not seat.leads:
            self._say(f"the class is full, and its address no longer works; for a free seat: {self.address}")

    def _count(self) -> str:
        return f" ({self.seats.taken} of {self.seats.most} seats taken)"

    def _end(self, seat: Seat) -> None:
        """Clean up after a seat that is no more: its connections, which have no time limit, and its folder."""
        self._connections.leave(seat.number)
        said = "" if self.setup.keeps else seats.remove_folder(seat.folder)
        if said:
            self._say(said)

    async def _hand_out(self, request: web.Request) -> web.StreamResponse:
        """Respond with a file from the seat's folder as an attachment, which browsers do not show."""
        seat = self._doors.holder(request)
        assert seat is not None  # `Doors` lets only seats through
        name = request.match_info["name"]
        try:
            opened = open_download(seat.folder / FILES, name)
        except DownloadError as error:
            return doors.page("No download", str(error), status=404)
        attached = {"Content-Disposition": f"attachment; filename*=UTF-8''{download_path(name)}"}
        response = web.Response(body=opened, content_type="application/octet-stream", headers=attached)
        if request.method == hdrs.METH_GET:
            response.force_close()  # else the browser waits for the rest of a file that became shorter
        return response

    async def _page(self, request: web.Request) -> web.Response:
        """Respond with the app's page."""
        seat = self._doors.holder(request)
        leads = seat is not None and seat.leads
        size = PROJECTED_FONT_SIZE if leads and self.setup.is_projected else FONT_SIZE
        values = {"FONT_SIZE": str(size), "LEADS": "-leads" if leads else "", "BOARD_LINK": board.LINK if leads else ""}
        return doors.filled("app.html", values)

    async def _converse(self, request: web.Request) -> web.WebSocketResponse:
        """Serve the WebSocket of a page; a seat's second page replaces its first, since a seat has one program."""
        seat = self._doors.holder(request)
        assert seat is not None  # `Doors` lets only seats through
        websocket = textual_server.Connection()
        self.seats.touch(seat)  # so that the seat is not released before its program starts
        await websocket.prepare(request)
        if self._is_over:
            await websocket.close(code=textual_server.CLASS_IS_OVER)
            return websocket
        before, seat.page = seat.page, websocket
        if before is not None:
            await before.close(code=textual_server.OPENED_ELSEWHERE)
        size = messages.size_asked(request.query.get("width", ""), request.query.get("height", ""))
        orders = self.setup.orders(seat.folder, seat.leads)
        async with seat.turn:
            if seat.page is not websocket:
                return websocket  # a third page has replaced this one
            seat.is_here = True
            self.seats.touch(seat)
            try:
                if not websocket.closed:
                    touch, note = partial(self.seats.touch, seat), partial(setattr, seat, "shown")
                    await textual_server.converse(websocket, orders, size, touch, self.lead, note)
            finally:
                seat.is_here = False
                if seat.leads:
                    self.lead.tell(None)
                self.seats.touch(seat)
                if seat.page is websocket:
                    seat.page = None
        return websocket


async def _listen(room: ClassRoom, say: Say, typed: TextIO) -> None:
    """Execute the teacher's orders until the terminal is closed."""
    loop, lines = asyncio.get_running_loop(), asyncio.Queue[str]()
    loop.add_reader(typed, lambda: lines.put_nowait(typed.readline()))
    try:
        while line := await lines.get():
            if said := await room.order(line):
                say(said)
    finally:
        loop.remove_reader(typed)


async def hold(setup: Setup, say: Say, opened: Callable[[ClassRoom], None], typed: TextIO | None = None) -> None:
    """Run a class until this process is interrupted; `opened` is called once participants can join.

    The teacher's orders are read from the terminal `typed`. Raises OSError if the server cannot listen on its address.
    """
    doors.raise_descriptor_limit()
    room = ClassRoom(setup, say)
    over, listening = asyncio.Event(), None
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(one, over.set)
    try:
        await room.open()
        opened(room)
        if typed is not None:
            listening = asyncio.create_task(_listen(room, say, typed))
        await over.wait()
    finally:
        if listening is not None:
            listening.cancel()
        await room.close()
