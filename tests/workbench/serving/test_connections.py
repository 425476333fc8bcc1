"""Nobody without a seat can stop a class: floods, slow requests, and requests that are none."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from pathlib import Path

import pytest
from aiohttp import WSMsgType, web
from class_browser import browser_at

from tests.workbench.serving.test_class_room import hold
from tests.workbench.serving.test_pages_that_flood import Turns, program_of_nothing
from workbench.serving import doors
from workbench.serving.class_room import ClassRoom, Setup
from workbench.serving.doors import CountedLog

HALF = b"GET /join HTTP/1.1\r\nHost: a\r\nX: "


async def knock(room: ClassRoom, said: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", room.port)
    writer.write(said)
    await writer.drain()
    return reader, writer


def test_a_class_answers_while_a_thousand_half_open_connections_hang(tmp_path: Path) -> None:
    doors.raise_descriptor_limit()

    async def act(room: ClassRoom) -> None:
        held = [await knock(room, HALF) for _ in range(1_100)]
        async with browser_at(room) as browser:
            assert (await browser.get(f"/join/{room.seats.code}"))[0] == 200
            assert (await browser.join())[0] == 303
            assert (await browser.get("/"))[0] == 200
        still_open = 0
        for reader, writer in held:
            with suppress(ConnectionError):
                try:
                    async with asyncio.timeout(0.01):
                        await reader.read(1)
                except TimeoutError:
                    still_open += 1
            writer.close()
        assert 0 < still_open <= doors.MOST_OF_AN_ADDRESS

    hold(Setup(top=tmp_path, port=0), act, patience=120)


def test_a_stranger_is_read_in_small_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts: list[int] = []
    plain = web.RequestHandler.data_received

    def counted(handler: web.RequestHandler, data: bytes) -> None:
        parts.append(len(data))
        plain(handler, data)

    async def act(room: ClassRoom) -> None:
        headers = b"".join(b"X%d: v\r\n" % number for number in range(100_000))
        reader, writer = await knock(room, b"GET / HTTP/1.1\r\nHost: a\r\n" + headers)
        assert b" 400 " in await reader.readline()
        writer.close()

    monkeypatch.setattr(web.RequestHandler, "data_received", counted)
    hold(Setup(top=tmp_path, port=0), act, patience=120)
    assert max(parts) <= 64 * 1024


def test_a_request_that_does_not_come_to_its_end_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doors, "SECONDS", 0.1)

    async def act(room: ClassRoom) -> None:
        whole = b"POST /join/x HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nslow"
        for said in (b"", HALF, whole):
            reader, writer = await knock(room, said)
            with suppress(ConnectionError):
                while await asyncio.wait_for(reader.read(1000), 30):
                    pass
            writer.close()

    hold(Setup(top=tmp_path, port=0), act, patience=120)


def test_who_has_a_seat_keeps_the_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doors, "SECONDS", 1.0)

    async def act(room: ClassRoom) -> None:
        async with browser_at(room) as browser:
            _, cookie = await browser.join()
            request = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{room.port}\r\nCookie: {cookie.partition(';')[0]}\r\n\r\n"
            reader, writer = await knock(room, request.encode())
            assert await reader.readline() == b"HTTP/1.1 200 OK\r\n"
            stranger, other = await knock(room, HALF)
            with suppress(ConnectionError):
                assert await stranger.read(1) == b""  # its time is over, and so would be that of the seat
            other.close()
            writer.write(request.encode())
            async with asyncio.timeout(30):
                while b"HTTP/1.1 200" not in await reader.readline():
                    pass
            writer.close()

    hold(Setup(top=tmp_path, port=0), act, patience=120)


def test_a_seat_that_is_no_more_keeps_no_connection(tmp_path: Path) -> None:
    async def act(room: ClassRoom) -> None:
        async with browser_at(room) as browser:
            _, cookie = await browser.join()
            request = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{room.port}\r\nCookie: {cookie.partition(';')[0]}\r\n\r\n"
            held = [await knock(room, request.encode() + HALF) for _ in range(3)]
            for reader, _ in held:
                assert await reader.readline() == b"HTTP/1.1 200 OK\r\n"
            await room.order(f"kick {room.seats.all[0].number}")
            for reader, writer in held:
                with suppress(ConnectionError):
                    while await asyncio.wait_for(reader.read(100_000), doors.SECONDS / 3):
                        pass
                writer.close()

    hold(Setup(top=tmp_path, port=0), act, patience=120)


@pytest.mark.parametrize(("opcode", "answers"), [(9, 1_000), (10, 0)])
def test_others_have_their_turn_between_two_pings_of_a_page(
    opcode: int, answers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program_of_nothing(monkeypatch)

    async def act(room: ClassRoom) -> None:
        turns = Turns()
        async with browser_at(room) as browser:
            await browser.join()
            async with browser.client.ws_connect(
                f"{browser.base}/ws", headers={"Origin": browser.base}, autoping=False
            ) as page:
                others = asyncio.create_task(turns.take())
                for _ in range(1_000):
                    await page._writer.send_frame(b"", opcode)
                await page.send_json(["ping", "last"])
                for _ in range(answers):
                    assert (await page.receive()).type is WSMsgType.PONG
                assert await page.receive_json() == ["pong", "last"]
                others.cancel()
        assert turns.taken > 1_000

    hold(Setup(top=tmp_path, port=0), act, patience=120)


def test_requests_that_are_none_are_one_counted_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    async def act(room: ClassRoom) -> None:
        for number in range(40):
            reader, writer = await knock(
                room, b"GET /\x00 HTTP/9.9\r\n: :\r\n\r\n" if number % 2 else b"\x16\x03\x01\x02"
            )
            writer.write_eof()
            await reader.read(100)
            writer.close()

    said = hold(Setup(top=tmp_path, port=0), act, patience=120)
    assert said[0].startswith("failed requests or connections: "), said
    assert len(said) == 1, said
    assert capfd.readouterr().err == ""


def test_a_file_that_nobody_reads_is_no_bug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doors, "SECONDS", 1.0)

    async def act(room: ClassRoom) -> None:
        _, writer = await knock(room, b"GET /static/js/textual.js HTTP/1.1\r\nHost: a\r\n\r\n" * 200)
        assert isinstance(writer.transport, asyncio.Transport)
        writer.transport.pause_reading()
        async with asyncio.timeout(30):
            while room._connections._strangers:
                await asyncio.sleep(0.1)
        writer.close()

    said = hold(Setup(top=tmp_path, port=0), act, patience=120)
    assert [one for one in said if one.startswith("internal error")] == []


def test_a_bug_is_reported_once_with_its_traceback_and_others_are_counted() -> None:
    said: list[str] = []
    log = CountedLog(said.append, lambda error: f"{error}.log")
    log.put_up()
    try:
        for _ in range(3):
            try:
                raise KeyError("bug")
            except KeyError:
                logging.getLogger("aiohttp.server").exception("Error handling request")
        logging.getLogger("asyncio").error("socket.accept() out of system resource")
        log.tell(0.0)
        log.tell(1.0)
        logging.getLogger("textual-serve").error("Application failed to start")
        logging.getLogger("asyncio").error("socket.accept() out of system resource")
        log.tell(2.0)
        assert said == [
            "internal error (KeyError); the class goes on. Please send us 'bug'.log",
            "failed requests or connections: 4 (the last: socket.accept() out of system resource)",
        ]
        log.tell(61.0)
        counts = "apps that did not start: 1, failed requests or connections: 1"
        assert said[2:] == [f"{counts} (the last: socket.accept() out of system resource)"]
    finally:
        log.take_down()
