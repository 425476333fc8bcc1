"""A class in the browser from its first address to its end: participants join, work, leave, and nothing is left."""

from __future__ import annotations

import asyncio
import ipaddress
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path
from typing import TextIO

from aiohttp import web

from workbench.output import crash_log
from workbench.serving import board, messages, seats, textual_server
from workbench.serving.connections import Connections, CountedLog, raise_descriptor_limit
from workbench.serving.doors import BOARD, BROWSER, Doors, fields_of, page
from workbench.serving.orders import DISK_MB, FILES, Orders
from workbench.serving.seats import DownloadError, Seat, Seats

LOOK_EVERY_S = 2.0
"""Seconds between two looks at who is still there."""
SECONDS_TO_CLOSE = 10.0
ANY = ("0.0.0.0", "::", "")
"""Hosts that stand for all addresses of this machine: browsers are given its name."""
FONT_SIZE, PROJECTED_FONT_SIZE = 16, 24
"""Pixels; a beamer of 1280 x 720 shows 88 columns of the second. Other sizes are the browser's zoom."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Setup:
    """The options of a class, as the command line gives them.

    `sessions` are copied for each participant; the first is opened. The folders of seats are in `top`, and are removed
    unless `keeps`. `most` participants can join, `per_address` from a network address; `idle_s` is in seconds.
    `public_url` is the server's address for browsers, if not its own. `is_projected`: the room looks at the teacher's
    page. The rest is as in `Orders`.
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
        """Only this machine can reach the server."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def url(self, port: int) -> str:
        """Return the address for browsers, without a slash at its end; `port` is the port that is listened on."""
        if self.public_url is not None:
            return self.public_url.rstrip("/")
        name = own_host() if self.host in ANY else self.host
        host = f"[{name}]" if ":" in name else name
        return f"http://{host}:{port}"

    def orders(self, folder: Path, leads: bool = False) -> Orders:
        """Return the orders for the program of the seat with this folder; the teacher's `leads`."""
        first = self.sessions[0].name if self.sessions else None
        is_projected = leads and self.is_projected
        return Orders(str(folder), first, self.lesson, self.models, self.disk_mb, leads, is_projected)


def own_host() -> str:
    """Return the address of this machine in its network, which phones find; its name where there is no network."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # sends nothing: it only asks which address would be used
        return str(probe.getsockname()[0])
    return socket.gethostname()


class ClassRoom:
    """`say` is called with a line about whatever happens. Made for a run of an event loop."""

    def __init__(self, setup: Setup, say: Say) -> None:
        self.setup = setup
        self._say = say
        self.seats = Seats(setup.most, setup.idle_s, setup.top, setup.sessions, setup.per_address)
        self.lead = textual_server.Lead()
        self.port = 0
        """The port that is listened on, once the class is open."""
        self._connections: Connections | None = None
        self._doors = Doors(self.seats, setup.public_url, self._welcome, self._seat)
        self._open: dict[int, web.WebSocketResponse] = {}
        self._turns: dict[int, asyncio.Lock] = {}
        self._runner: web.AppRunner | None = None
        self._listener: asyncio.Server | None = None
        self._log = CountedLog(say, crash_log.write)
        self._looking: asyncio.Task[None] | None = None
        self._is_over = False

    @property
    def address(self) -> str:
        """The address that the teacher shows to the class."""
        return f"{self.setup.url(self.port)}/join/{self.seats.code}"

    @property
    def teachers_address(self) -> str:
        """The address that the teacher opens and shows nobody; empty while there is a teacher."""
        code = self.seats.teachers_code
        return f"{self.setup.url(self.port)}/join/{code}" if code else ""

    async def open(self) -> None:
        """Listen from now on. Raises OSError for an address that cannot be listened on."""
        application = self._doors.application(
            [
                web.get("/", self._page),
                web.get("/ws", self._converse),
                web.get("/download/{name}", self._hand_out),
                web.get(BOARD, self._board),
                web.post(BOARD, self._obey),
            ]
        )
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=SECONDS_TO_CLOSE)
        await self._runner.setup()
        assert self._runner.server is not None
        self._connections = Connections(self._runner.server, self.setup.public_url is not None)
        self._log.put_up()
        setup, protocol = self.setup, self._connections.protocol
        self._listener = await asyncio.get_running_loop().create_server(protocol, setup.host, setup.port, backlog=512)
        self.port = int(self._listener.sockets[0].getsockname()[1])
        self._looking = asyncio.create_task(self._look_again_and_again())

    async def close(self) -> None:
        """End every program, and remove the folders that are not to be kept."""
        self._is_over = True
        if self._looking is not None:
            self._looking.cancel()
            with suppress(asyncio.CancelledError):
                await self._looking
        if self._listener is not None:
            self._listener.close()
        await asyncio.gather(*[_tell_the_end(one) for one in self._open.values()])
        for seat in self.seats.all:
            async with self.turn(seat):
                pass  # its program has ended
        if self._runner is not None:
            await self._runner.cleanup()
        self._log.take_down()
        self._log.tell(inf)
        for seat in self.seats.all:
            self._clear(seat)

    async def look_after(self) -> None:
        """Close the pages that nobody touches, and free the seats of those who are away."""
        for seat in self.seats.idle():
            self._say(f"{seat.name} is idle: page closed, seat kept for the same time again")
            self.seats.touch(seat)
            open_page = self._open.get(seat.number)
            if open_page is not None:
                await open_page.close(code=textual_server.IDLE, message=b"idle for too long")
        for seat in self.seats.release():
            self._turns.pop(seat.number, None)
            self._clear(seat)
            free = self.teachers_address if seat.leads else self.address
            self._say(f"{seat.name} has left{self._count()}; address for the free seat: {free}")

    async def order(self, line: str) -> str:
        """Do what the teacher types in the terminal, or chooses on the page of the class; return what to say."""
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
                return await self._remove(int(number))
        return board.ORDERS

    async def _remove(self, number: int) -> str:
        """Take a participant's seat away; what was saved is deleted with it, unless folders are kept."""
        seat = self.seats.remove(number)
        if seat is None:
            return f"there is no participant {number}; `who` lists them"
        if (open_page := self._open.get(number)) is not None:
            await open_page.close(code=textual_server.REMOVED, message=b"removed by the teacher")
        async with self.turn(seat):
            pass  # its program has ended
        self._turns.pop(number, None)
        self._clear(seat)
        return f"{seat.name} was removed{self._count()}; `code` makes a new code, `close` admits nobody"

    async def _board(self, request: web.Request) -> web.Response:
        return board.board(self.seats, self.setup.url(self.port), self.address)

    async def _obey(self, request: web.Request) -> web.Response:
        await self.order((await fields_of(request)).get("order", ""))
        raise web.HTTPSeeOther(BOARD)

    def turn(self, seat: Seat) -> asyncio.Lock:
        """Return the lock that is held while the seat has a program."""
        return self._turns.setdefault(seat.number, asyncio.Lock())

    async def _look_again_and_again(self) -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            self._log.tell(asyncio.get_running_loop().time())
            try:
                await self.look_after()
            except Exception as error:  # a bug, which must not end the class: it is told, and the next look comes
                self._say(f"looking after the seats failed ({type(error).__name__}: {error})")

    def _seat(self, request: web.Request, seat: Seat) -> None:
        if self._connections is not None:
            self._connections.seat(request.transport, seat.number)

    def _welcome(self, seat: Seat) -> None:
        self._say(f"{seat.name} joined{self._count()}")
        if self.seats.is_full and not seat.leads:
            self._say(f"the class is full, and its address no longer works; for a free seat: {self.address}")

    def _count(self) -> str:
        return f" ({self.seats.taken} of {self.seats.most} seats taken)"

    def _clear(self, seat: Seat) -> None:
        said = "" if self.setup.keeps else seats.remove_folder(seat.folder)
        if said:
            self._say(said)

    async def _hand_out(self, request: web.Request) -> web.StreamResponse:
        """Answer with a file of the seat's own folder."""
        seat = self._doors.holder(request)
        assert seat is not None  # the door let nobody else through
        try:
            return await textual_server.hand_out(request, seat.folder / FILES, request.match_info["name"])
        except DownloadError as error:
            return page("No download", str(error), status=404)

    async def _page(self, request: web.Request) -> web.Response:
        """Answer with the page of the app."""
        seat = self._doors.holder(request)
        leads = seat is not None and seat.leads
        size = PROJECTED_FONT_SIZE if leads and self.setup.is_projected else FONT_SIZE
        values = {"FONT_SIZE": str(size), "LEADS": "-leads" if leads else "", "BOARD_LINK": board.LINK if leads else ""}
        text = (BROWSER / "app.html").read_text("utf-8")
        for name, value in values.items():
            text = text.replace(name, value)
        return web.Response(text=text, content_type="text/html")

    async def _converse(self, request: web.Request) -> web.WebSocketResponse:
        """Serve the connection of a page. A second page of a seat replaces the first: a seat has one program."""
        seat = self._doors.holder(request)
        assert seat is not None  # the door let nobody else through
        websocket = textual_server.Connection()
        self.seats.touch(seat)  # a participant who returns keeps the seat meanwhile
        await websocket.prepare(request)
        if self._is_over:
            await _tell_the_end(websocket)
            return websocket
        before, self._open[seat.number] = self._open.get(seat.number), websocket
        if before is not None:
            await before.close(code=textual_server.OPENED_ELSEWHERE, message=b"opened in another tab")
        size = messages.size_asked(request.query.get("width", ""), request.query.get("height", ""))
        orders = self.setup.orders(seat.folder, seat.leads)
        async with self.turn(seat):
            if self._open.get(seat.number) is not websocket:
                return websocket  # a third page came meanwhile
            seat.is_here = True
            self.seats.touch(seat)
            try:
                if not websocket.closed:
                    touch = partial(self.seats.touch, seat)
                    await textual_server.converse(websocket, orders, size, touch, self.lead, partial(_note, seat))
            finally:
                seat.is_here = False
                if seat.leads:
                    self.lead.tell(None)
                self.seats.touch(seat)
                if self._open.get(seat.number) is websocket:
                    del self._open[seat.number]
        return websocket


def _note(seat: Seat, shown: messages.Controls) -> None:
    seat.shown = shown


async def _tell_the_end(page: web.WebSocketResponse) -> None:
    await page.close(code=textual_server.CLASS_IS_OVER, message=b"the class is over")


async def _listen(room: ClassRoom, say: Say, typed: TextIO) -> None:
    """Do what the teacher types, until the terminal ends."""
    loop, lines = asyncio.get_running_loop(), asyncio.Queue[str]()
    loop.add_reader(typed, lambda: lines.put_nowait(typed.readline()))
    try:
        while line := await lines.get():
            if said := await room.order(line):
                say(said)
    finally:
        loop.remove_reader(typed)


async def hold(setup: Setup, say: Say, opened: Callable[[ClassRoom], None], typed: TextIO | None = None) -> None:
    """Hold a class until this process is told to end; `opened` is called once participants can join.

    The teacher types orders into the terminal `typed`. Raises OSError for an address that cannot be listened on.
    """
    raise_descriptor_limit()
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
