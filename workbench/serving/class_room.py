"""A class in the browser from its first address to its end: visitors come, work, go, and leave nothing behind."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from aiohttp import web

from workbench.serving import downloads, packets, textual_server, visitor_folders
from workbench.serving.doors import Doors, page
from workbench.serving.lead import Lead
from workbench.serving.orders import FILES
from workbench.serving.places import Places, Visitor
from workbench.serving.setup import Setup

LOOKS_S = 2.0
"""Seconds between two looks at who is still there."""
SECONDS_TO_CLOSE = 10.0

Say = Callable[[str], None]


class ClassRoom:
    """`say` is called with a line about whatever happens. Made for one run of an event loop."""

    def __init__(self, setup: Setup, say: Say) -> None:
        self.setup = setup
        self._say = say
        make = partial(visitor_folders.make, setup.top, sessions=setup.sessions)
        self.places = Places(setup.most, setup.idle_s, make)
        self.lead = Lead()
        """Where the teacher is, for those who follow."""
        self.port = 0
        """The one that is listened on, once it is open."""
        self._doors = Doors(self.places, setup.public_url, self._welcome)
        self._open: dict[int, web.WebSocketResponse] = {}
        self._turns: dict[int, asyncio.Lock] = {}
        self._runner: web.AppRunner | None = None
        self._looking: asyncio.Task[None] | None = None
        self._is_over = False

    @property
    def address(self) -> str:
        """What the teacher shows."""
        return f"{self.setup.url(self.port)}/join/{self.places.token}"

    @property
    def teachers_address(self) -> str:
        """What the teacher opens, and shows nobody; empty while there is one."""
        token = self.places.teachers_token
        return f"{self.setup.url(self.port)}/join/{token}" if token else ""

    async def open(self) -> None:
        """Listens from now on. Raises OSError for an address that cannot be listened on."""
        application = await textual_server.PageServer(self._font_size, self._converse, self._hand_out).application()
        self._doors.put_into(application)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=SECONDS_TO_CLOSE)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self.setup.host, self.setup.port)
        await site.start()
        self.port = int(self._runner.addresses[0][1])
        self._looking = asyncio.create_task(self._look_after())

    async def close(self) -> None:
        """Ends every visitor's program, and what is not to be kept of their folders."""
        self._is_over = True
        if self._looking is not None:
            self._looking.cancel()
            with suppress(asyncio.CancelledError):
                await self._looking
        await asyncio.gather(*[_tell_the_end(one) for one in self._open.values()])
        for visitor in self.places.visitors:
            async with self.turn(visitor):
                pass  # his program is gone
        if self._runner is not None:
            await self._runner.cleanup()
        for visitor in self.places.visitors:
            self._clear(visitor)

    async def look_after(self) -> None:
        """One look: closes the pages that nobody touches, and gives back the places of those who are away."""
        for visitor in self.places.idle():
            self._say(f"{visitor.name} has done nothing for long: the page is closed, the place kept for as long again")
            self.places.heard_of(visitor)
            open_page = self._open.get(visitor.number)
            if open_page is not None:
                await open_page.close(code=textual_server.IDLE, message=b"nothing was done for long")
        for visitor in self.places.leave():
            self._turns.pop(visitor.number, None)
            self._clear(visitor)
            free = self.teachers_address if visitor.leads else self.address
            self._say(f"{visitor.name} is gone{self._count()}; for the place that is free: {free}")

    def turn(self, visitor: Visitor) -> asyncio.Lock:
        """Held while the visitor has a program."""
        return self._turns.setdefault(visitor.number, asyncio.Lock())

    async def _look_after(self) -> None:
        while True:
            await asyncio.sleep(LOOKS_S)
            try:
                await self.look_after()
            except Exception as error:  # a mistake of ours, that ends no class: it is told, and the next look comes
                self._say(f"looking after the places failed ({type(error).__name__}: {error})")

    def _welcome(self, visitor: Visitor) -> None:
        self._say(f"{visitor.name} came in{self._count()}")
        if self.places.is_full and not visitor.leads:
            self._say(f"the class is full, and its address is spent; for a place that comes free: {self.address}")

    def _count(self) -> str:
        return f" ({self.places.taken} of {self.places.most} places taken)"

    def _clear(self, visitor: Visitor) -> None:
        said = "" if self.setup.keeps else visitor_folders.remove(visitor.folder)
        if said:
            self._say(said)

    async def _hand_out(self, request: web.Request) -> web.StreamResponse:
        """A file of the visitor's own folder, for him to keep."""
        visitor = self._doors.holder(request)
        assert visitor is not None  # the door let nobody else through
        try:
            return await textual_server.hand_out(request, visitor.folder / FILES, request.match_info["key"])
        except downloads.NoDownloadError as error:
            return page("Not handed out", str(error), status=404)

    def _font_size(self, request: web.Request) -> int:
        visitor = self._doors.holder(request)
        return self.setup.font_size_of(visitor is not None and visitor.leads)

    async def _converse(self, request: web.Request) -> web.WebSocketResponse:
        """The connection of a visitor's page. A second one takes the place of the first: he has one program."""
        visitor = self._doors.holder(request)
        assert visitor is not None  # the door let nobody else through
        websocket = textual_server.Connection()
        self.places.heard_of(visitor)  # who comes back loses no place meanwhile
        await websocket.prepare(request)
        if self._is_over:
            await _tell_the_end(websocket)
            return websocket
        before, self._open[visitor.number] = self._open.get(visitor.number), websocket
        if before is not None:
            await before.close(code=textual_server.OPENED_ELSEWHERE, message=b"opened in another page")
        size = packets.size_asked(request.query.get("width", ""), request.query.get("height", ""))
        orders = self.setup.orders(visitor.folder, visitor.leads)
        async with self.turn(visitor):
            if self._open.get(visitor.number) is not websocket:
                return websocket  # a third one came meanwhile
            visitor.is_here = True
            self.places.heard_of(visitor)
            try:
                if not websocket.closed:
                    heard = partial(self.places.heard_of, visitor)
                    await textual_server.converse(websocket, orders, size, heard, self.lead)
            finally:
                visitor.is_here = False
                if visitor.leads:
                    self.lead.tell(None)
                self.places.heard_of(visitor)
                if self._open.get(visitor.number) is websocket:
                    del self._open[visitor.number]
        return websocket


async def _tell_the_end(page: web.WebSocketResponse) -> None:
    await page.close(code=textual_server.CLASS_IS_OVER, message=b"the class is over")


async def hold(setup: Setup, say: Say, opened: Callable[[ClassRoom], None]) -> None:
    """Holds a class until this process is told to end; `opened` is called once visitors can come.

    Raises OSError for an address that cannot be listened on.
    """
    room = ClassRoom(setup, say)
    over = asyncio.Event()
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(one, over.set)
    try:
        await room.open()
        opened(room)
        await over.wait()
    finally:
        await room.close()
