"""A browser at a class, scripted: it comes in, keeps its cookie, opens its page, types, and reads what is painted."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import aiohttp
from yarl import URL

from workbench.serving.class_room import ClassRoom

PATIENCE = 120.0
"""Seconds after which what is waited for will not come any more, on a machine that is busy with other things."""
KEYS = {"f5": "\x1b[15~", "f6": "\x1b[17~", "escape": "\x1b", "enter": "\r", "right": "\x1b[C", "ctrl+q": "\x11"}


class Page:
    """An open page of the class: the text of all that was painted so far, without colours and moves."""

    def __init__(self, websocket: aiohttp.ClientWebSocketResponse) -> None:
        self.websocket = websocket
        self.painted = ""
        self.bytes = 0
        self.told: list[str] = []
        """What was sent beside pictures."""
        self.code: int | None = None
        """Why it was closed, once it is."""
        self._news = asyncio.Condition()

    async def read(self) -> None:
        """Reads to the end of the page."""
        async for message in self.websocket:
            async with self._news:
                if message.type is aiohttp.WSMsgType.BINARY:
                    self.bytes += len(message.data)
                    text = message.data.decode("utf-8", "replace")
                    self.painted += re.sub(r"\x1b\[[0-9;?<>=]*[A-Za-z]", " ", text)
                elif message.type is aiohttp.WSMsgType.TEXT:
                    self.told.append(message.data)
                self._news.notify_all()
        async with self._news:
            self.code = self.websocket.close_code
            self._news.notify_all()

    async def until(self, condition: Callable[[], object], what: str) -> None:
        """Waits for something that arrives; fails by name when it does not."""
        try:
            async with asyncio.timeout(PATIENCE):
                async with self._news:
                    await self._news.wait_for(condition)
        except TimeoutError:
            raise AssertionError(f"waited in vain for {what}; {self.painted[-2000:]!r}") from None

    async def shows(self, text: str) -> None:
        """Waits until a text was painted after what is forgotten (`forget`)."""
        await self.until(lambda: text in self.painted, f"{text!r} on the page")

    def forget(self) -> None:
        """Only what is painted from now on counts."""
        self.painted = ""

    async def closed(self) -> int | None:
        """Waits until the server has closed the page, and tells with which number."""
        await self.until(lambda: self.code is not None, "the end of the page")
        return self.code

    async def press(self, *keys: str) -> None:
        """Sends keys by name, or texts as they are."""
        for key in keys:
            await self.websocket.send_json(["stdin", KEYS.get(key, key)])


class Browser:
    """Asks a class as a browser does: it keeps cookies, and says whose page asks."""

    def __init__(self, room: ClassRoom, client: aiohttp.ClientSession) -> None:
        self.room = room
        self.client = client
        self.base = f"http://127.0.0.1:{room.port}"

    async def get(self, path: str) -> tuple[int, str]:
        """The status and text of a path, which is sent as it is written."""
        url = URL(self.base + path, encoded=True)
        async with self.client.get(url, allow_redirects=False) as answer:
            return answer.status, await answer.text(errors="replace")

    async def join(self, token: str = "", origin: str = "", name: str = "") -> tuple[int, str]:
        """Comes in with a token, by default today's; the status, and the cookie that was given."""
        path = f"/join/{token or self.room.seats.code}"
        headers = {"Origin": origin or self.base}
        data = {"name": name} if name else None
        async with self.client.post(self.base + path, data=data, headers=headers, allow_redirects=False) as answer:
            return answer.status, answer.headers.get("Set-Cookie", "")

    async def order(self, line: str, origin: str = "") -> int:
        """Press a button of the page of the class."""
        headers = {"Origin": origin or self.base}
        address = f"{self.base}/board"
        async with self.client.post(address, data={"order": line}, headers=headers, allow_redirects=False) as answer:
            return answer.status

    async def connect(self, origin: str | None = "") -> int:
        """The status that a connection gets; 101 when it is one, which is closed at once."""
        headers = {} if origin is None else {"Origin": origin or self.base}
        try:
            async with self.client.ws_connect(f"{self.base}/ws", headers=headers):
                return 101
        except aiohttp.WSServerHandshakeError as error:
            return error.status

    @asynccontextmanager
    async def page(self, size: tuple[int, int] = (120, 35)) -> AsyncIterator[Page]:
        """The page of whoever came in, open as long as the block lasts."""
        address = f"{self.base}/ws?width={size[0]}&height={size[1]}"
        async with self.client.ws_connect(address, headers={"Origin": self.base}, max_msg_size=0) as websocket:
            page = Page(websocket)
            reading = asyncio.create_task(page.read())
            await websocket.send_json(["focus"])  # as the page does, which puts the cursor into the terminal
            try:
                yield page
            finally:
                await websocket.close()
                await reading


@asynccontextmanager
async def browser_at(room: ClassRoom) -> AsyncIterator[Browser]:
    """A browser with an empty jar of cookies."""
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as client:
        yield Browser(room, client)
