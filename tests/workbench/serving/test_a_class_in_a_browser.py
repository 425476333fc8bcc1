"""A class in a real Chromium: what a visitor exports is a file on his own machine.

Needs `playwright` with a Chromium of the system; what is not there is skipped by name.
"""

from __future__ import annotations

import asyncio
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.workbench.serving.test_class_room import WELCOME, hold
from workbench.serving.class_room import ClassRoom
from workbench.serving.setup import Setup

CHROMIUM = next((one for one in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if one), None)
QUIET = [f"--{one}" for one in ("no-sandbox", "disable-gpu", "disable-background-networking", "disable-sync")]
PATIENCE_MS = 120_000


class Screen:
    """What the server painted on a page of Chromium since it was last forgotten."""

    def __init__(self, page: Any) -> None:
        self.painted = ""
        self._news = asyncio.Condition()
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        page.on("websocket", lambda one: one.on("framereceived", self._take))

    def _take(self, payload: str | bytes) -> None:
        if isinstance(payload, bytes):
            self.painted += re.sub(r"\x1b\[[0-9;?<>=]*[A-Za-z]", " ", payload.decode("utf-8", "replace"))
            task = asyncio.create_task(self._tell())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _tell(self) -> None:
        async with self._news:
            self._news.notify_all()

    async def shows(self, text: str) -> None:
        """Waits until a text is painted; fails by name when it is not."""
        try:
            async with asyncio.timeout(PATIENCE_MS / 1000), self._news:
                await self._news.wait_for(lambda: text in self.painted)
        except TimeoutError:
            raise AssertionError(f"waited in vain for {text!r}; {self.painted[-2000:]!r}") from None


@pytest.mark.slow
def test_an_export_and_a_saved_session_arrive_as_downloads(tmp_path: Path) -> None:
    playwright = pytest.importorskip("playwright.async_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")

    async def act(room: ClassRoom) -> None:
        async with playwright.async_playwright() as driver:
            browser = await driver.chromium.launch(executable_path=CHROMIUM, args=QUIET)
            context = await browser.new_context(viewport={"width": 1366, "height": 768})
            page = await context.new_page()
            page.set_default_timeout(PATIENCE_MS)
            errors: list[str] = []
            page.on("pageerror", lambda one: errors.append(str(one)))
            page.on("console", lambda one: errors.append(one.text) if one.type == "error" else None)
            screen = Screen(page)
            await page.goto(f"http://127.0.0.1:{room.port}/join/{room.places.token}")
            await page.get_by_role("button", name="Come in").click()
            await screen.shows(WELCOME)
            for command, said, key, name in (
                ("Export as svg", "Download it", "d", "prompt.svg"),
                ("Export as page", "Download it", "d", "lesson.html"),
                ("Download a file", "bytes", "Enter", "lesson.html"),
            ):
                screen.painted = ""
                await page.keyboard.press("Control+p")
                await screen.shows("Search")
                await page.keyboard.insert_text(command)
                await page.keyboard.press("Enter")
                await screen.shows(said)
                async with page.expect_download() as waiting:
                    await page.keyboard.press(key)
                download = await waiting.value
                assert download.suggested_filename == name
                kept = tmp_path / "kept"
                await download.save_as(kept)
                assert kept.read_bytes() == (room.places.visitors[0].folder / "files" / name).read_bytes()
            assert len(context.pages) == 1
            assert errors == []
            await browser.close()

    hold(Setup(top=tmp_path / "class", port=0), act)
