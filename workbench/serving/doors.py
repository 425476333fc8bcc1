"""Decide which requests and connections of a class are answered.

Requests are judged by path, seat and origin. aiohttp limits the size of a request, but neither its duration nor the
number of connections. Here a connection without a seat ends after `SECONDS`, and all such connections share a fixed
number: a new connection closes the oldest. A flood of half-open connections therefore closes itself, while a request
that arrives at once is always answered.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import re
import socket
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from html import escape
from pathlib import Path
from urllib.parse import parse_qs

import textual_serve
from aiohttp import hdrs, web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.typedefs import Handler

from adapters.late_dataclasses import dataclass
from workbench.serving.seats import JoinError, Seat, Seats, as_typed, new_secret

SECONDS = 30.0
"""The longest life of a connection that sends no request from a seat."""
MOST_STRANGERS = 256
MOST_OF_AN_ADDRESS = 64
"""The limit per address; all browsers of a school may share one, with up to six connections each, rarely at once."""
MOST_OF_A_SEAT = 32
RECEIVED = 16_384
"""The size of a connection's receive buffer in bytes: aiohttp keeps what it has read with each error for a while."""
DESCRIPTORS = 16_384
BETWEEN_REPORTS_S = 60.0
LOGGERS = ("aiohttp", "asyncio", "textual-serve")
NOT_STARTED = "Application failed to start"
"""textual-serve's message."""
UNSTARTED, FAILED = "apps that did not start", "failed requests or connections"
OF_REQUESTS = (HttpProcessingError, web.RequestPayloadError, OSError, asyncio.InvalidStateError)
"""Errors that a client can cause; all others are bugs.

asyncio raises the last when a connection ends whose client has read nothing of a file.
"""


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
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVED)
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
        self._counts: Counter[str] = Counter()
        self._last = ""
        self._said_at = -BETWEEN_REPORTS_S
        self._reported: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        self._counts[UNSTARTED if record.getMessage() == NOT_STARTED else FAILED] += 1
        self._last = record.getMessage() if error is None else f"{type(error).__name__}: {error}"
        kind = type(error).__name__
        if error is not None and not isinstance(error, OF_REQUESTS) and kind not in self._reported:
            self._reported.add(kind)
            self._say(f"internal error ({kind}); the class goes on. Please send us {self._report(error)}")

    def tell(self, now: float) -> None:
        """Report the number of new log records, at most once a minute."""
        if self._counts and now - self._said_at >= BETWEEN_REPORTS_S:
            last = " ".join(self._last.split())[:100]
            counts = ", ".join([f"{what}: {count:,}" for what, count in sorted(self._counts.items())])
            self._say(f"{counts} (the last: {last})")
            self._counts.clear()
            self._said_at = now

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


BROWSER = Path(__file__).parent / "browser"
TEXTUALS = Path(textual_serve.__file__).parent / "static"
PAGE_FILES = ("/static/", "/class/")
"""Paths of the pages' files, which need no seat."""
LONGEST_PATH = 200
"""The longest of these paths in bytes; a file system rejects longer names with an error."""
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "font-src 'self'; img-src 'self' data:; connect-src 'self' {websockets}; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
"""Headers of every response: pages load nothing from other hosts and do not reveal the address of the class."""
PARTICIPANT = "Your own seat and files, available until the class ends."
TEACHER = "The teacher's seat, which participants can follow. This address works once."
ENTER = "Type the code that the teacher shows, such as k7mq-x2pf-9wtd. Capitals, hyphens and spaces do not matter."
NOT_FOUND = "There is no such page in this class. Type the code that the teacher shows to join."
NO_SEAT = "You have no seat in this class, or the class has ended. Type the code that the teacher shows to join."
UNREADABLE = "The server could not read this request. Open the link of the class again."
NO_ROOM = "The server has no room for your files. Tell the teacher."
WRONG_PAGE = "This was requested by another page. Open the link of the class."
BOARD = "/board"
TEACHERS_ONLY = "Only the teacher can open this page."
JOIN = '<form method="post"><button type="submit">Join</button></form>'
JOIN_BY_NAME = (
    '<form method="post"><label for="name">Your name</label><input id="name" name="name" maxlength="40" required '
    'autofocus autocomplete="nickname" spellcheck="false"><button type="submit">Join</button></form>'
)
CODE = (
    '<form action="/join"><label for="code">Code</label><input id="code" name="code" maxlength="40" required autofocus '
    'autocomplete="off" autocapitalize="none" spellcheck="false"><button type="submit">Join</button></form>'
)


class Doors:
    """The access control of a class, and its pages for joining.

    `public_url` is the server's address for browsers, if it differs from the address of their requests. `welcome` is
    called with each new seat; `connections` are told which of them belong to seats.
    """

    def __init__(
        self,
        seats: Seats,
        public_url: str | None,
        welcome: Callable[[Seat], None],
        connections: Connections,
    ) -> None:
        self._seats = seats
        self._public = None if public_url is None else public_url.rstrip("/")
        self._welcome = welcome
        self._connections = connections

    def application(self, routes: Iterable[web.AbstractRouteDef]) -> web.Application:
        """Make the web application: `routes`, the pages for joining, and static files."""
        application = web.Application(middlewares=[self._door])
        application.on_response_prepare.append(self._add_headers)
        application.add_routes(
            [
                *routes,
                web.get("/join{slash:/?}", self._ask_for_code),
                web.get("/join/{code:[^/]+}{slash:/?}", self._join),
                web.post("/join/{code:[^/]+}{slash:/?}", self._join),
                web.static("/class", BROWSER),
                web.static("/static", TEXTUALS),
            ]
        )
        return application

    def holder(self, request: web.Request) -> Seat | None:
        """Return the seat of the browser that sent the request, or None."""
        return self._seats.holder(self._secret(request))

    def _secret(self, request: web.Request) -> str:
        """Return the secret in the browser's cookie, or ""."""
        # aiohttp takes 25 ms to read a thousand cookies
        ours = dict(re.findall(r"\b(workbench_\w+)=([\w-]+)", request.headers.get(hdrs.COOKIE, "")))
        return str(ours.get(self._cookie(request), ""))

    @web.middleware
    async def _door(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        path, seat = request.path, self.holder(request)
        if seat is not None:
            self._connections.seat(request.transport, seat.number)
        is_file = path.startswith(PAGE_FILES)
        is_found = request.match_info.http_exception is None
        if is_found and not is_file and path != "/join" and not path.startswith("/join/"):
            if seat is None:
                title, said = ("Join the class", ENTER) if path == "/" else ("No seat", NO_SEAT)
                return page(title, said, CODE, status=403)
            if path == BOARD and not seat.leads:
                return page("For the teacher", TEACHERS_ONLY, status=403)
            if (path == "/ws" or request.method == "POST") and not self._is_from_here(request):
                return page("Wrong page", WRONG_PAGE, status=403)
        try:
            if is_file and len(request.raw_path) > LONGEST_PATH:
                raise web.HTTPNotFound
            return await handler(request)
        except (web.HTTPNotFound, web.HTTPForbidden):
            return page("Page not found", NOT_FOUND, CODE, status=404)
        except web.RequestPayloadError:
            return page("Request not read", UNREADABLE, status=400)

    def _is_from_here(self, request: web.Request) -> bool:
        """Return whether a page of this class sent the request. Scripts cannot forge the `Origin` header."""
        return request.headers.get("Origin", "") in (f"{request.scheme}://{request.host}", self._public)

    def _cookie(self, request: web.Request) -> str:
        """Return the cookie name. It includes the port, because browsers share cookies between ports of a host."""
        port = request.host.rpartition(":")[2]
        return f"workbench_{port if port.isascii() and port.isdecimal() else 'class'}"

    async def _ask_for_code(self, request: web.Request) -> web.StreamResponse:
        code = as_typed(request.query.get("code", ""))
        if code.replace("-", "").isalnum() and code.isascii():
            raise web.HTTPSeeOther(f"/join/{code}")
        return page("Join the class", ENTER, CODE)

    async def _join(self, request: web.Request) -> web.StreamResponse:
        """Show a page with a Join button, so that link previews take no seat; the button exchanges the code for a seat.

        A browser with a seat keeps it, but a participant may still use the teacher's code. The page brings the cookie
        that will open the seat, so that a second Join finds it when the answer to the first was lost.
        """
        code, called = request.match_info["code"], (await fields_of(request)).get("name", "")
        # The address of the device: "" behind a proxy and for this machine.
        remote = "" if self._public is not None else request.remote or ""
        address = "" if not remote or ipaddress.ip_address(remote.partition("%")[0]).is_loopback else remote
        is_teachers, seat = self._seats.is_teachers(code), self.holder(request)
        if seat is not None and (seat.leads or not is_teachers):
            raise web.HTTPSeeOther("/")
        try:
            if request.method != hdrs.METH_POST:
                self._seats.check(code, address)
                asking = page("Join the class", *((TEACHER, JOIN) if is_teachers else (PARTICIPANT, JOIN_BY_NAME)))
                if seat is None:
                    self._give(request, asking, new_secret())
                return asking
            if hdrs.ORIGIN in request.headers and not self._is_from_here(request):
                return page("Wrong page", WRONG_PAGE, status=403)
            secret = self._secret(request) if seat is None else ""
            seat = self._seats.admit(code, called, address, secret)
        except JoinError as error:
            return page("You cannot join", str(error), CODE, status=403)
        except OSError:
            return page("You cannot join", NO_ROOM, status=507)
        self._welcome(seat)
        response = web.HTTPSeeOther("/")
        self._give(request, response, seat.secret)
        raise response

    def _give(self, request: web.Request, response: web.Response, secret: str) -> None:
        is_secure = self._public is not None and self._public.startswith("https:")
        response.set_cookie(self._cookie(request), secret, httponly=True, samesite="Strict", secure=is_secure)

    async def _add_headers(self, request: web.Request, response: web.StreamResponse) -> None:
        here = request.host if request.host.isascii() and not set(request.host) & set(" ;,'\"") else ""
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value.format(websockets=f"ws://{here} wss://{here}" if here else ""))


async def fields_of(request: web.Request) -> dict[str, str]:
    """Read the first value of each field of a form; a body that is not a form has no fields.

    Raises `RequestPayloadError` for a compressed body, which no browser sends.
    """
    if hdrs.CONTENT_ENCODING in request.headers:
        raise web.RequestPayloadError
    body = (await request.read())[:2_000].decode("utf-8", "replace")
    return {name: values[0] for name, values in parse_qs(body).items()}


def page(title: str, said: str, form: str = "", *, status: int = 200) -> web.Response:
    """Make a page with a title, a sentence and a form; `form` is trusted HTML, the others are escaped."""
    return filled("words.html", {"TITLE": escape(title), "SAID": escape(said), "FORM": form}, status)


def filled(file: str, values: Mapping[str, str], status: int = 200) -> web.Response:
    """Make a page from a file of `BROWSER` whose words in capitals stand for `values`, which are trusted HTML."""
    text = (BROWSER / file).read_text("utf-8")
    text = re.sub("|".join(values), lambda found: values[found[0]], text)
    return web.Response(text=text, content_type="text/html", status=status)
