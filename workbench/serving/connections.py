"""Limit the connections of those without a seat, so that nobody outside of a class can stop it.

aiohttp bounds the size of a request, but neither the time it takes nor the number of connections. Here whoever has no
seat has `SECONDS` for a connection and shares a fixed number of them: a new one ends the oldest. A flood of half-open
connections thus ends itself, while a request that arrives at once is always answered.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

SECONDS = 30.0
"""From the beginning of a connection to its end, or to a request from a seat."""
MOST_STRANGERS = 256
MOST_OF_AN_ADDRESS = 64
"""A school may have one address for everybody, whose browsers open six connections each, but not all at once."""
MOST_OF_A_SEAT = 32
DESCRIPTORS = 16_384
BETWEEN_REPORTS_S = 60.0
LOGGERS = ("aiohttp", "asyncio")
OF_REQUESTS = (HttpProcessingError, web.RequestPayloadError, OSError)
"""Errors that whoever asks can cause; all others are bugs."""


class Connections:
    """`server` answers the requests. Behind a proxy every connection has its address, so addresses are not counted."""

    def __init__(self, server: web.Server, is_behind_proxy: bool) -> None:
        self._server = server
        self._most_of_an_address = MOST_STRANGERS if is_behind_proxy else MOST_OF_AN_ADDRESS
        self._strangers: dict[asyncio.BaseTransport, str] = {}
        """The address of each connection without a seat, the oldest first."""
        self._seats: dict[int, list[asyncio.BaseTransport]] = {}

    def protocol(self) -> asyncio.Protocol:
        """Make what the event loop calls for a new connection."""
        return _NewConnection(self)

    def begin(self, transport: asyncio.Transport) -> None:
        """Hand a connection to the server; the oldest is closed if there are too many."""
        address = str((transport.get_extra_info("peername") or ("",))[0])
        self._strangers[transport] = address
        asyncio.get_running_loop().call_later(SECONDS, self._end, transport)
        same = [one for one, its in self._strangers.items() if its == address]
        for crowd, most in ((same, self._most_of_an_address), ([*self._strangers], MOST_STRANGERS)):
            if len(crowd) > most:
                self._end(crowd[0])
        handler = self._server()
        transport.set_protocol(handler)
        handler.connection_made(transport)

    def seat(self, transport: asyncio.BaseTransport | None, number: int) -> None:
        """Take a connection for that of a seat, which may have it for as long as it wants."""
        if transport is None or self._strangers.pop(transport, None) is None:
            return
        held = [one for one in self._seats.get(number, []) if not one.is_closing()]
        self._seats[number] = [*held, transport]
        if len(held) >= MOST_OF_A_SEAT:
            _abort(transport)

    def _end(self, transport: asyncio.BaseTransport) -> None:
        if self._strangers.pop(transport, None) is not None:
            _abort(transport)


def _abort(transport: asyncio.BaseTransport) -> None:
    assert isinstance(transport, asyncio.WriteTransport)
    transport.abort()


class _NewConnection(asyncio.Protocol):
    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._connections.begin(transport)


class CountedLog(logging.Handler):
    """Replace the log lines and tracebacks of the server and the event loop by one counted line a minute.

    `report` is called with each exception that is not a fault of the request, and returns where it was written.
    """

    def __init__(self, say: Callable[[str], None], report: Callable[[BaseException], object]) -> None:
        super().__init__(logging.WARNING)
        self._say = say
        self._report = report
        self._count = 0
        self._last = ""
        self._said_at = -BETWEEN_REPORTS_S
        self._reported: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        self._count += 1
        self._last = record.getMessage() if error is None else f"{type(error).__name__}: {error}"
        kind = type(error).__name__
        if error is not None and not isinstance(error, OF_REQUESTS) and kind not in self._reported:
            self._reported.add(kind)
            self._say(f"internal error ({kind}); the class goes on. Please send us {self._report(error)}")

    def tell(self, now: float) -> None:
        """Say how many there were since the last time, at most once a minute."""
        if self._count and now - self._said_at >= BETWEEN_REPORTS_S:
            last = " ".join(self._last.split())[:100]
            self._say(f"{self._count:,} requests or connections were malformed or cut off (the last: {last})")
            self._count, self._said_at = 0, now

    def put_up(self) -> None:
        """Take the place of the handlers of `LOGGERS`."""
        for name in LOGGERS:
            logging.getLogger(name).addHandler(self)
            logging.getLogger(name).propagate = False

    def take_down(self) -> None:
        for name in LOGGERS:
            logging.getLogger(name).removeHandler(self)
            logging.getLogger(name).propagate = True


def raise_descriptor_limit() -> None:
    """Allow this process as many open files as the system lets it have, up to `DESCRIPTORS`."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
