"""Limit connections without a seat, so that strangers cannot block a class.

aiohttp limits the size of a request, but neither its duration nor the number of connections. Here a connection without
a seat ends after `SECONDS`, and all such connections share a fixed number: a new connection closes the oldest. A flood
of half-open connections therefore closes itself, while a request that arrives at once is always answered.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

SECONDS = 30.0
"""The longest life of a connection that sends no request from a seat."""
MOST_STRANGERS = 256
MOST_OF_AN_ADDRESS = 64
"""The limit per address; all browsers of a school may share one, with up to six connections each, rarely at once."""
MOST_OF_A_SEAT = 32
DESCRIPTORS = 16_384
BETWEEN_REPORTS_S = 60.0
LOGGERS = ("aiohttp", "asyncio")
OF_REQUESTS = (HttpProcessingError, web.RequestPayloadError, OSError)
"""Errors that a client can cause; all others are bugs."""


class Connections:
    """The open connections.

    Behind a proxy all connections come from the proxy's address, so there is no limit per address.
    """

    def __init__(self, is_behind_proxy: bool) -> None:
        self._most_of_an_address = MOST_STRANGERS if is_behind_proxy else MOST_OF_AN_ADDRESS
        self._strangers: dict[asyncio.BaseTransport, str] = {}
        """The address of each connection without a seat, oldest first."""
        self._seats: dict[int, list[asyncio.BaseTransport]] = {}

    def begin(self, transport: asyncio.Transport) -> None:
        """Note a new connection; close the oldest if there are too many."""
        address = str((transport.get_extra_info("peername") or ("",))[0])
        self._strangers[transport] = address
        asyncio.get_running_loop().call_later(SECONDS, self._end, transport)
        same = [one for one, its in self._strangers.items() if its == address]
        for crowd, most in ((same, self._most_of_an_address), ([*self._strangers], MOST_STRANGERS)):
            if len(crowd) > most:
                self._end(crowd[0])

    def seat(self, transport: asyncio.BaseTransport | None, number: int) -> None:
        """Assign a connection to a seat, which removes its time limit.

        A seat with `MOST_OF_A_SEAT` connections gets no more: the new one is aborted.
        """
        if transport is None or self._strangers.pop(transport, None) is None:
            return
        held = [one for one in self._seats.get(number, []) if not one.is_closing()]
        self._seats[number] = [*held, transport]
        if len(held) >= MOST_OF_A_SEAT:
            _abort(transport)

    def leave(self, number: int) -> None:
        """Cut off all connections of a seat that is no more."""
        for transport in self._seats.pop(number, []):
            _abort(transport)

    def _end(self, transport: asyncio.BaseTransport) -> None:
        if self._strangers.pop(transport, None) is not None:
            _abort(transport)


def _abort(transport: asyncio.BaseTransport) -> None:
    assert isinstance(transport, asyncio.WriteTransport)
    transport.abort()


@dataclass
class NewConnection(asyncio.Protocol):
    """The protocol of a new connection, which `server` takes over."""

    server: web.Server
    connections: Connections

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.connections.begin(transport)
        handler = self.server()
        transport.set_protocol(handler)
        handler.connection_made(transport)


class CountedLog(logging.Handler):
    """Summarize logs of the server and event loop, in at most a line per minute.

    `report` is called with the first exception of each type that no client can cause, and returns the log's path.
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
        """Report the number of new log records, at most once a minute."""
        if self._count and now - self._said_at >= BETWEEN_REPORTS_S:
            last = " ".join(self._last.split())[:100]
            self._say(f"{self._count:,} requests or connections were malformed or cut off (the last: {last})")
            self._count, self._said_at = 0, now

    def put_up(self) -> None:
        """Replace the handlers of `LOGGERS`."""
        for name in LOGGERS:
            logging.getLogger(name).addHandler(self)
            logging.getLogger(name).propagate = False

    def take_down(self) -> None:
        for name in LOGGERS:
            logging.getLogger(name).removeHandler(self)
            logging.getLogger(name).propagate = True


def raise_descriptor_limit() -> None:
    """Raise the limit of open files to `DESCRIPTORS`, or to the system's maximum if that is lower."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
