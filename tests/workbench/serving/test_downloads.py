"""A visitor takes his own files along, and gets nothing else: not by a link, a path, or another visitor's name."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import aiohttp
import pytest
from class_browser import PATIENCE, Browser, browser_at
from yarl import URL

from tests.workbench.serving.test_class_room import WELCOME, hold
from workbench.serving import seats
from workbench.serving.class_room import ClassRoom, Setup
from workbench.serving.seats import DownloadError, open_download

HOSTILE_NAME = "<b>a\u202e \"'; filename=x.exe.html"


def test_a_file_is_found_by_its_name_alone(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    (tmp_path / "secret").write_text("of the teacher")
    (folder / "own.json").write_text("{}")
    (folder / "link").symlink_to(tmp_path / "secret")
    (folder / "sub").mkdir()
    os.mkfifo(folder / "pipe")
    with open_download(folder, "own.json") as opened:
        assert opened.read() == b"{}"
    refused = ["link", "sub", "pipe", "none", "", ".", "..", "../secret", "sub/../own.json", str(tmp_path / "secret")]
    for name in [*refused, "own.json\0", "own.json/", "\udcff", "x" * 5000]:
        with pytest.raises(DownloadError, match=r"your (own )?folder"):
            open_download(folder, name)


def test_a_file_that_is_too_large_is_refused_with_its_size(tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as made:
        made.truncate(seats.MOST_BYTES + 1)
    with pytest.raises(DownloadError, match="it has 20,000,001 bytes, and a download at most 20,000,000"):
        open_download(tmp_path, "large")


def test_it_is_handed_to_its_visitor_to_keep_and_to_nobody_else(tmp_path: Path) -> None:
    content = os.urandom(300_000)

    async def fetch(browser: Browser, name: str) -> tuple[int, bytes, dict[str, str]]:
        url = URL(f"{browser.base}/download/{name}", encoded=True)
        async with browser.client.get(url) as answer:
            return answer.status, await answer.read(), dict(answer.headers)

    async def act(room: ClassRoom) -> None:
        async with browser_at(room) as owner, browser_at(room) as other, browser_at(room) as stranger:
            await owner.join()
            await other.join()
            files = room.seats.all[0].folder / "files"
            (files / HOSTILE_NAME).write_bytes(content)
            (room.seats.all[1].folder / "files" / "theirs").write_bytes(b"secret")
            name = seats.download_path(HOSTILE_NAME)
            status, got, headers = await fetch(owner, name)
            assert (status, got == content) == (200, True)
            assert headers["Content-Disposition"] == f"attachment; filename*=UTF-8''{name}"
            assert headers["Content-Type"] == "application/octet-stream"
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert (await fetch(other, name))[0] == 404
            assert (await fetch(stranger, name))[0] == 403
            for one in ("theirs", "..%2f..%2fseat-02%2ffiles%2ftheirs", "%2fetc%2fpasswd", "..", "%00", ""):
                status, got, _ = await fetch(owner, one)
                assert status == 404
                assert b"secret" not in got

    hold(Setup(top=tmp_path, port=0), act)


def test_who_asks_about_a_file_gets_none_of_it_in_the_place_of_the_next_answer(tmp_path: Path) -> None:
    async def act(room: ClassRoom) -> None:
        async with browser_at(room) as browser:
            cookie = (await browser.join())[1].split(";")[0]
            (room.seats.all[0].folder / "files" / "forged").write_bytes(b"HTTP/1.1 200 OK\r\n\r\nforged")
            reader, writer = await asyncio.open_connection("127.0.0.1", room.port)
            head = f"Host: 127.0.0.1:{room.port}\r\nCookie: {cookie}\r\n"
            writer.write(f"HEAD /download/forged HTTP/1.1\r\n{head}\r\n".encode())
            writer.write(f"GET /nothing HTTP/1.1\r\n{head}Connection: close\r\n\r\n".encode())
            first, _, second = (await asyncio.wait_for(reader.read(), PATIENCE)).partition(b"\r\n\r\n")
            writer.close()
            assert first.startswith(b"HTTP/1.1 200 OK")
            assert b"Content-Length: 25" in first
            assert second.startswith(b"HTTP/1.1 404 Not Found")

    hold(Setup(top=tmp_path, port=0), act)


def test_a_file_that_becomes_shorter_on_its_way_is_broken_off_and_not_waited_for(tmp_path: Path) -> None:
    async def act(room: ClassRoom) -> None:
        async with browser_at(room) as browser:
            await browser.join()
            path = room.seats.all[0].folder / "files" / "large"
            path.write_bytes(bytes(seats.MOST_BYTES))
            async with browser.client.get(f"{browser.base}/download/large") as answer:
                os.truncate(path, 0)
                with pytest.raises(aiohttp.ClientError):
                    await asyncio.wait_for(answer.read(), PATIENCE)

    hold(Setup(top=tmp_path, port=0), act)


@pytest.mark.slow
def test_what_a_visitor_exports_is_a_download_of_his_browser(tmp_path: Path) -> None:
    async def act(room: ClassRoom) -> None:
        async with browser_at(room) as browser:
            await browser.join()
            async with browser.page() as page:
                await page.shows(WELCOME)
                for name in ("lesson.html", "lesson-2.html"):
                    page.forget()
                    await page.press("\x10")
                    await page.shows("Search")
                    await page.press("Export as page")
                    await page.press("enter")
                    await page.shows("save it on your machine")
                    await page.press("d")
                    await page.until(lambda: page.told, "the offer of a file")
                    assert json.loads(page.told.pop()) == ["deliver_file_start", name]
                    status, text = await browser.get(f"/download/{name}")
                    assert status == 200
                    assert text == (room.seats.all[0].folder / "files" / name).read_text("utf-8")
                    assert text.startswith("<!doctype html>")

    hold(Setup(top=tmp_path, port=0), act)
