"""Who is let in, asked over HTTP: no process is started for anybody who may not have one."""

from __future__ import annotations

import asyncio
import gzip
import re
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.compression_utils import ZLibDecompressor
from aiohttp.test_utils import make_mocked_request
from class_browser import Browser, browser_at
from yarl import URL

from workbench.serving.class_room import ClassRoom, Setup
from workbench.serving.doors import Connections, Doors
from workbench.serving.messages import Controls
from workbench.serving.seats import Seats

Act = Callable[[Browser], Awaitable[None]]


@pytest.fixture
def in_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Act], None]:
    """Opens a class of two, at a port that is free, in which no program may be started."""

    async def no_process(*_: object, **__: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr("workbench.serving.textual_server.converse", no_process)

    def hold(act: Act) -> None:
        async def run() -> None:
            room = ClassRoom(Setup(top=tmp_path, port=0, most=2), said.append)
            await room.open()
            try:
                async with browser_at(room) as browser:
                    await act(browser)
            finally:
                await room.close()

        said: list[str] = []
        asyncio.run(asyncio.wait_for(run(), 60))

    return hold


def test_the_address_of_the_class_is_exchanged_for_a_secret_that_no_script_can_read(
    in_class: Callable[[Act], None],
) -> None:
    async def act(browser: Browser) -> None:
        assert (await browser.get("/"))[0] == 403
        status, page = await browser.get(f"/join/{browser.room.seats.code}")
        assert (status, "Join" in page) == (200, True)
        assert browser.room.seats.all == ()  # looking at it takes no place
        status, cookie = await browser.join()
        assert status == 303
        assert re.match(r"workbench_\d+=[\w-]{43};", cookie)
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert (await browser.get("/"))[0] == 200

    in_class(act)


def test_a_wrong_or_spent_token_is_refused(in_class: Callable[[Act], None]) -> None:
    async def act(browser: Browser) -> None:
        first = browser.room.seats.code
        assert (await browser.join("aaaa-bbbb-cccc"))[0] == 403
        for _ in range(2):
            browser.client.cookie_jar.clear()
            assert (await browser.join(first))[0] == 303
        browser.client.cookie_jar.clear()
        status, cookie = await browser.join(first)
        assert (status, cookie) == (403, "")
        status, page = await browser.get(f"/join/{first}")
        assert (status, "no longer valid" in page) == (403, True)
        assert len(browser.room.seats.all) == 2

    in_class(act)


def test_who_is_in_takes_no_second_place(in_class: Callable[[Act], None]) -> None:
    async def act(browser: Browser) -> None:
        assert (await browser.join())[0] == 303
        assert (await browser.join())[0] == 303
        assert len(browser.room.seats.all) == 1

    in_class(act)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", None])
def test_a_page_of_somebody_else_gets_no_connection(in_class: Callable[[Act], None], origin: str | None) -> None:
    async def act(browser: Browser) -> None:
        await browser.join()
        assert await browser.connect(origin) == 403

    in_class(act)


@pytest.mark.parametrize("host", ["class:99999", "[class:80", "class:٣", "[::1]"])
def test_a_host_that_is_none_is_a_stranger(in_class: Callable[[Act], None], host: str) -> None:
    async def act(browser: Browser) -> None:
        async with browser.client.get(browser.base, headers={"Host": host}) as answer:
            assert answer.status in (400, 403)

    in_class(act)


def test_an_origin_that_is_none_is_a_stranger(in_class: Callable[[Act], None]) -> None:
    async def act(browser: Browser) -> None:
        assert (await browser.join(origin="http://["))[0] == 403

    in_class(act)


@pytest.mark.parametrize("origin", ["http://evil.example", "null"])
def test_a_page_of_somebody_else_cannot_come_in(in_class: Callable[[Act], None], origin: str) -> None:
    async def act(browser: Browser) -> None:
        assert await browser.join(origin=origin) == (403, ""), "the cookie of the browser's own seat would be replaced"
        assert browser.room.seats.all == ()

    in_class(act)


def test_the_scheme_of_an_origin_counts(in_class: Callable[[Act], None]) -> None:
    async def act(browser: Browser) -> None:
        other = browser.base.replace("http:", "https:")
        assert (await browser.join(origin=other))[0] == 403
        await browser.join()
        assert await browser.connect(other) == 403

    in_class(act)


def test_without_a_place_there_is_no_connection(in_class: Callable[[Act], None]) -> None:
    async def act(browser: Browser) -> None:
        assert await browser.connect() == 403
        browser.client.cookie_jar.update_cookies({f"workbench_{browser.room.port}": "a" * 43}, URL(browser.base))
        assert await browser.connect() == 403

    in_class(act)


@pytest.mark.parametrize(
    "path",
    [
        "/static/../server.py",
        "/static/js/../../server.py",
        "/static/js/%2e%2e/%2e%2e/server.py",
        "/static/js/..%2f..%2fserver.py",
        "/static/js/%5c..%5c..%5cserver.py",
        "/class/../walls.py",
        "/class/%2e%2e/walls.py",
        "/class//etc/passwd",
        "/static//etc/passwd",
        "/static/js/",
        "/static/",
        "/class/",
        "/download/anything",
        "/download/%2e%2e%2f",
        "/etc/passwd",
        "/class/" + "a" * 300,
        "/class/" + "%C3%BC" * 150,
        "/static/js/" + "a" * 5_000,
    ],
)
def test_no_path_leads_to_a_file_that_is_none_of_the_pages(in_class: Callable[[Act], None], path: str) -> None:
    async def act(browser: Browser) -> None:
        await browser.join()
        status, text = await browser.get(path)
        assert status in (403, 404), text[:200]
        assert "import " not in text
        assert "root:" not in text

    in_class(act)


@pytest.mark.parametrize("path", ["/", "/join", "/join/", "/nowhere", "/join/aaaa-bbbb-cccc", "/board"])
def test_who_has_no_seat_is_asked_for_the_code(in_class: Callable[[Act], None], path: str) -> None:
    async def act(browser: Browser) -> None:
        status, page = await browser.get(path)
        assert 'action="/join"' in page
        assert ("no such page" in page) == (status == 404)
        assert "Your own seat" in (await browser.get(f"/join/{browser.room.seats.code}/"))[1]
        typed = browser.room.seats.code.upper().replace("-", "+")
        async with browser.client.get(f"{browser.base}/join?code={typed}") as answer:
            assert (answer.status, "Your own seat" in await answer.text()) == (200, True)
            assert answer.url.path == f"/join/{browser.room.seats.code}"
        for typed in ("", "%2e%2e%2f", "x" * 1000, "%F0%9F%98%80", "https://evil.example"):
            async with browser.client.get(f"{browser.base}/join?code={typed}") as answer:
                assert answer.url.host == "127.0.0.1"
                assert "Code" in await answer.text()

    in_class(act)


def test_the_pages_load_nothing_from_elsewhere(in_class: Callable[[Act], None]) -> None:
    async def act(browser: Browser) -> None:
        await browser.join()
        _, page = await browser.get("/")
        loaded = re.findall(r'(?:src|href)="([^"]+)"', page)
        assert len(loaded) >= 4
        for one in loaded:
            if one != "data:,":
                assert (await browser.get(one))[0] == 200, one
        async with browser.client.get(browser.base) as answer:
            assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
            assert answer.headers["Referrer-Policy"] == "same-origin"

    in_class(act)


def test_words_of_a_page_cannot_be_markup() -> None:
    from workbench.serving.doors import page

    text = page("<script>", "a & <b>").text
    assert text is not None
    assert "<script>" not in text
    assert "a &amp; &lt;b&gt;" in text


def test_the_address_of_the_teacher_is_good_for_one_browser_and_a_visitors_may_become_it(
    in_class: Callable[[Act], None],
) -> None:
    async def act(browser: Browser) -> None:
        room = browser.room
        own = room.seats.teachers_code
        assert room.teachers_address.endswith(f"/join/{own}")
        await browser.join()
        status, page = await browser.get(f"/join/{own}")
        assert (status, "The teacher&#x27;s seat" in page) == (200, True), "a participant may become the teacher"
        assert (await browser.join(own))[0] == 303
        assert [one.name for one in room.seats.all] == ["participant 1", "the teacher"]
        assert room.teachers_address == ""
        assert (await browser.get(f"/join/{own}"))[0] == 303, "who is in has nothing to come in for"
        async with browser_at(room) as other:
            assert (await other.get(f"/join/{own}"))[0] == 403
            assert (await other.join(own))[0] == 403
        assert room.seats.taken == 1

    in_class(act)


def test_the_teacher_sees_who_joined_and_how_to_join(in_class: Callable[[Act], None]) -> None:
    async def act(browser: Browser) -> None:
        room = browser.room
        await browser.join(room.seats.teachers_code)
        async with browser_at(room) as other:
            await other.join(name=" Ada <b>\x1b ")
        (seat,) = [one for one in room.seats.all if not one.leads]
        assert seat.name == "Ada <b>␛ (participant 1)"
        status, shown = await browser.get("/board")
        assert status == 200
        assert "<svg" in shown
        for one in (room.seats.code, room.setup.url(room.port), "Ada &lt;b&gt;", "away", "1 of 2 seats taken"):
            assert one in shown
        assert f'<strong class="code">{room.seats.code}</strong>' in shown, "which stays on one line"
        assert ".board .code {\n  white-space: nowrap;" in (await browser.get("/class/class.css"))[1]
        seat.is_here, seat.shown = True, Controls(("The structure", "Demos"), 1, "◉ following the teacher")
        _, shown = await browser.get("/board")
        assert "step 2 of 2: Demos" in shown
        assert "follows" in shown
        assert "step 2 of 2: Demos" in await room.order("who")

    in_class(act)


def test_the_teacher_removes_a_participant_renews_the_code_and_closes_the_class(
    in_class: Callable[[Act], None], tmp_path: Path
) -> None:
    async def act(browser: Browser) -> None:
        room = browser.room
        await browser.join(room.seats.teachers_code)
        async with browser_at(room) as other:
            await other.join(name="Ada")
            assert (await other.get("/"))[0] == 200
            assert await browser.order("kick 1") == 303
            assert (await other.get("/"))[0] == 403
            assert room.seats.taken == 0
            assert not (tmp_path / "seat-01").exists()
            before = room.seats.code
            assert await browser.order("code") == 303
            assert room.seats.code != before
            assert (await other.join(before))[0] == 403
            assert await browser.order("close") == 303
            status, shown = await other.get(f"/join/{room.seats.code}")
            assert (status, "closed to newcomers" in shown) == (403, True)
            assert (await other.join())[0] == 403
            assert "closed to newcomers" in (await browser.get("/board"))[1]
            assert await browser.order("open") == 303
            assert (await other.join())[0] == 303
        for line in ("kick 0", "kick 99", "kick x"):
            assert await browser.order(line) == 303
        assert len(room.seats.all) == 2, "the teacher cannot be removed"

    in_class(act)


def test_nobody_but_the_teachers_own_page_gives_orders(in_class: Callable[[Act], None]) -> None:
    async def act(browser: Browser) -> None:
        room = browser.room
        assert (await browser.get("/board"))[0] == 403
        assert await browser.order("kick 1") == 403
        await browser.join()
        assert (await browser.get("/board"))[0] == 403
        assert await browser.order("kick 1") == 403
        async with browser_at(room) as teacher:
            await teacher.join(room.seats.teachers_code)
            for origin in ("http://evil.example", "null"):
                assert await teacher.order("kick 1", origin) == 403
            async with teacher.client.get(f"{teacher.base}/board") as answer:
                assert answer.headers["Referrer-Policy"] == "same-origin", "else its buttons have no valid `Origin`"
        assert room.seats.taken == 1

    in_class(act)


@pytest.mark.parametrize("body", [b"\xff=\xff", b"name=%FF%00", b"x" * 10_000, b"name=" + b"n" * 5_000])
def test_a_form_of_nonsense_takes_a_seat_without_a_name(in_class: Callable[[Act], None], body: bytes) -> None:
    async def act(browser: Browser) -> None:
        address = f"{browser.base}/join/{browser.room.seats.code}"
        async with browser.client.post(address, data=body, allow_redirects=False) as answer:
            assert answer.status == 303
        assert len(browser.room.seats.all[0].name) < 80

    in_class(act)


def test_a_form_that_cannot_be_unpacked_is_answered_in_words(in_class: Callable[[Act], None]) -> None:
    async def act(browser: Browser) -> None:
        address = f"{browser.base}/join/{browser.room.seats.code}"
        headers = {"Content-Encoding": "gzip"}
        async with browser.client.post(address, data=b"\x1f\x8b\0\0", headers=headers) as answer:
            assert (answer.status, "Open the link" in await answer.text()) == (400, True)
        assert browser.room.seats.taken == 0

    in_class(act)


def test_nothing_is_unpacked(in_class: Callable[[Act], None], monkeypatch: pytest.MonkeyPatch) -> None:
    unpacked: list[object] = []

    def unpack(_: object, data: bytes, **__: object) -> bytes:
        unpacked.append(data)
        raise ValueError

    monkeypatch.setattr(ZLibDecompressor, "decompress_sync", unpack)

    async def act(browser: Browser) -> None:
        for path in (f"/join/{browser.room.seats.code}", "/join/x", "/nothing"):
            body = gzip.compress(b"name=" + b"a" * 50_000_000)
            async with browser.client.post(
                browser.base + path, data=body, headers={"Content-Encoding": "gzip"}
            ) as answer:
                assert answer.status in (400, 404)
        assert (browser.room.seats.taken, unpacked) == (0, [])

    in_class(act)


def test_only_the_cookie_of_the_class_is_read(in_class: Callable[[Act], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web.BaseRequest, "cookies", property(lambda _: pytest.fail("a thousand cookies were read")))

    async def act(browser: Browser) -> None:
        ours = (await browser.join())[1].partition(";")[0]
        others = "; ".join(f"a{number}=b" for number in range(500))
        for cookies, status in (
            (f"{others}; {ours}", 200),
            (f"{ours}; {others}", 200),
            (others, 403),
            (f"{ours}x", 403),
        ):
            browser.client.cookie_jar.clear()
            async with browser.client.get(browser.base, headers={"Cookie": cookies}) as answer:
                assert answer.status == status

    in_class(act)


def test_a_cookie_is_read_once(tmp_path: Path) -> None:
    found = Doors(Seats(1, 1.0, tmp_path), None, lambda _: None, Connections(is_behind_proxy=False))
    request = make_mocked_request("GET", "/", {"Host": "a:1", "Cookie": "workbench_" * 20_000})
    began = time.process_time()
    assert found.holder(request) is None
    assert time.process_time() - began < 1, "a stranger's request would hold up all others"


def test_a_key_of_a_connection_that_is_no_key_is_no_bug(in_class: Callable[[Act], None]) -> None:
    async def act(browser: Browser) -> None:
        _, cookie = await browser.join()
        headers = (
            f"Host: 127.0.0.1:{browser.room.port}\r\nOrigin: {browser.base}\r\nCookie: {cookie.partition(';')[0]}\r\n"
        )
        reader, writer = await asyncio.open_connection("127.0.0.1", browser.room.port)
        upgrade = (
            "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: \xff\r\n"
        )
        writer.write(f"GET /ws HTTP/1.1\r\n{headers}{upgrade}\r\n".encode("latin-1"))
        assert await reader.readline() == b"HTTP/1.1 400 Bad Request\r\n"
        writer.close()

    in_class(act)


def test_a_second_join_finds_the_seat_when_the_first_answer_is_lost(in_class: Callable[[Act], None]) -> None:
    async def act(browser: Browser) -> None:
        for code in (browser.room.seats.code, browser.room.seats.teachers_code):
            browser.client.cookie_jar.clear()
            await browser.get(f"/join/{code}")
            before = {one.key: one.value for one in browser.client.cookie_jar}
            assert (await browser.join(code))[0] == 303
            taken = browser.room.seats.all
            browser.client.cookie_jar.clear()
            browser.client.cookie_jar.update_cookies(before, URL(browser.base))
            assert (await browser.join(code))[0] == 303
            assert (await browser.get("/"))[0] == 200
            assert browser.room.seats.all == taken

    in_class(act)


def test_a_participant_is_asked_for_a_name_and_the_teacher_is_not(in_class: Callable[[Act], None]) -> None:
    async def act(browser: Browser) -> None:
        seats = browser.room.seats
        assert 'name="name"' in (await browser.get(f"/join/{seats.code}"))[1]
        assert 'name="name"' not in (await browser.get(f"/join/{seats.teachers_code}"))[1]

    in_class(act)
