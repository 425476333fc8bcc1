"""Who gets past the door: what may be asked for at all, by whom, and from which page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Middleware

from workbench.serving.places import Places, RefusedError, Visitor

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

BROWSER = Path(__file__).parent / "browser"
OPEN = ("/static/css/", "/static/js/", "/static/fonts/", "/static/images/", "/class/")
"""Where the files of the pages are, which are no secret."""
DOWNLOADS = "/download/"
"""Where a visitor gets files of his own folder, by their names."""
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "font-src 'self'; img-src 'self' data:; connect-src 'self' {websockets}; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""Of every answer: nothing is fetched from elsewhere, and the address of the class is told to nobody."""
OF_VISITOR = "A place of your own, with its own files, which end with the class."
OF_TEACHER = "The place of the teacher, which the others may follow. This address is good for one."
NOT_IN = "You have no place in this class, or it has ended. Ask for the address of the class."


class Doors:
    """One for a class. `public_url` is what browsers call the server, when that is not the address they came to."""

    def __init__(self, places: Places, public_url: str | None, welcome: Callable[[Visitor], None]) -> None:
        self._places = places
        self._public = urlsplit(public_url).netloc if public_url is not None else ""
        self._is_secure = public_url is not None and public_url.startswith("https:")
        self._welcome = welcome

    def put_into(self, application: web.Application) -> None:
        """Lets nothing through to the application but what is allowed."""
        application.middlewares.append(self._door())
        application.on_response_prepare.append(self._with_headers)
        application.add_routes(
            [
                web.get("/join/{token}", self._show_join),
                web.post("/join/{token}", self._join),
                web.static("/class", BROWSER),
            ]
        )

    def holder(self, request: web.Request) -> Visitor | None:
        """The visitor whose browser asks."""
        return self._places.holder(request.cookies.get(self._cookie(request)))

    def _door(self) -> Middleware:
        @web.middleware
        async def door(request: web.Request, handler: Handler) -> web.StreamResponse:
            path = request.path
            if path.startswith("/join/"):
                return await handler(request)
            if path.startswith(OPEN) and not path.endswith("/") and request.method in ("GET", "HEAD"):
                return await handler(request)
            if path not in ("/", "/ws") and not path.startswith(DOWNLOADS):
                raise web.HTTPNotFound
            if self.holder(request) is None:
                return page("Not in this class", NOT_IN, status=403)
            if path == "/ws" and not self._is_from_here(request):
                return page("Another page", "This connection was asked for by another page than ours.", status=403)
            return await handler(request)

        return door

    def _is_from_here(self, request: web.Request) -> bool:
        """Whether the page that asks is one of ours: browsers tell whose it is, and no script can change that."""
        origin = request.headers.get("Origin", "").partition("://")[2]
        return bool(origin) and origin in (request.host, self._public)

    def _cookie(self, request: web.Request) -> str:
        """The name of the secret: browsers keep one jar for all the ports of a machine."""
        port = request.host.rpartition(":")[2]
        return f"workbench_{port if port.isascii() and port.isdecimal() else 'class'}"

    async def _show_join(self, request: web.Request) -> web.StreamResponse:
        """A page with one button: what looks ahead at links, as chats do, takes no place."""
        token = request.match_info["token"]
        if self._has_place(request, token):
            raise web.HTTPSeeOther("/")
        try:
            self._places.check(token)
        except RefusedError as error:
            return page("You cannot come in", str(error), status=403)
        return page("workbench", OF_TEACHER if self._places.is_teachers(token) else OF_VISITOR, button="Come in")

    def _has_place(self, request: web.Request, token: str) -> bool:
        """Whether this browser has nothing to come in for. A visitor's may still become the teacher's."""
        visitor = self.holder(request)
        return visitor is not None and (visitor.leads or not self._places.is_teachers(token))

    async def _join(self, request: web.Request) -> web.StreamResponse:
        """Exchanges the token for a secret of the visitor's own."""
        if self._has_place(request, request.match_info["token"]):
            raise web.HTTPSeeOther("/")
        if request.headers.get("Origin") not in (None, "null") and not self._is_from_here(request):
            return page("Another page", "This was asked for by another page than ours.", status=403)
        try:
            visitor = self._places.admit(request.match_info["token"])
        except RefusedError as error:
            return page("You cannot come in", str(error), status=403)
        except OSError:
            return page("You cannot come in", "There is no room for your files on this machine.", status=507)
        self._welcome(visitor)
        response = web.HTTPSeeOther("/")
        response.set_cookie(
            self._cookie(request), visitor.secret, httponly=True, samesite="Strict", secure=self._is_secure
        )
        raise response

    async def _with_headers(self, request: web.Request, response: web.StreamResponse) -> None:
        here = request.host if request.host.isascii() and not set(request.host) & set(" ;,'\"") else ""
        for name, value in HEADERS.items():
            response.headers[name] = value.format(websockets=f"ws://{here} wss://{here}" if here else "")


def page(title: str, said: str, *, button: str = "", status: int = 200) -> web.Response:
    """A page of words, with a button that asks for the same address again."""
    form = f'<form method="post"><button type="submit">{escape(button)}</button></form>' if button else ""
    text = (BROWSER / "words.html").read_text("utf-8")
    filled = text.replace("TITLE", escape(title)).replace("SAID", escape(said)).replace("FORM", form)
    return web.Response(text=filled, content_type="text/html", status=status)
