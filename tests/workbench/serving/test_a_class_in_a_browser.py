"""A class in a real Chromium: exports arrive as downloads, the page fits at every size, and touch is enough.

Needs `playwright` with a Chromium of the system; what is not there is skipped by name.
"""

from __future__ import annotations

import asyncio
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from class_browser import browser_at

from tests.workbench.serving.test_class_room import WELCOME, hold
from workbench.serving.class_room import ClassRoom, Setup

CHROMIUM = next((one for one in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if one), None)
QUIET = [f"--{one}" for one in ("no-sandbox", "disable-gpu", "disable-background-networking", "disable-sync")]
PATIENCE_MS = 120_000


@pytest.fixture
def playwright() -> Any:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    return pytest.importorskip("playwright.async_api", reason="playwright is not installed")


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
def test_an_export_and_a_saved_session_arrive_as_downloads(tmp_path: Path, playwright: Any) -> None:
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
            await page.goto(f"http://127.0.0.1:{room.port}/join/{room.seats.code}")
            await page.get_by_label("Your name").fill("Ada")
            await page.get_by_role("button", name="Join").click()
            await screen.shows(WELCOME)
            for command, said, key, name in (
                ("Export as markdown", "save it on your machine", "d", "lesson.md"),
                ("Export as page", "save it on your machine", "d", "lesson.html"),
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
                assert kept.read_bytes() == (room.seats.all[0].folder / "files" / name).read_bytes()
            assert len(context.pages) == 1
            assert errors == []
            await browser.close()

    hold(Setup(top=tmp_path / "class", port=0), act)


LAST_ROWS = """() => ["#terminal", ".xterm-screen"].map(
    (one) => document.querySelector(one).getBoundingClientRect().bottom)"""


@pytest.mark.slow
def test_the_last_rows_stay_in_view_at_every_size_and_zoom(tmp_path: Path, playwright: Any) -> None:
    async def act(room: ClassRoom) -> None:
        async with playwright.async_playwright() as driver:
            browser = await driver.chromium.launch(executable_path=CHROMIUM, args=QUIET)
            context = await browser.new_context(viewport={"width": 1366, "height": 768})
            page = await context.new_page()
            page.set_default_timeout(PATIENCE_MS)
            screen = Screen(page)
            await page.goto(f"http://127.0.0.1:{room.port}/join/{room.seats.code}")
            await page.get_by_label("Your name").fill("Ada")
            await page.get_by_role("button", name="Join").click()
            await screen.shows(WELCOME)
            window = await context.new_cdp_session(page)
            for width, height, zoom in (
                *((1366, 768, 1), (1000, 600, 1), (844, 390, 1), (390, 844, 1), (1920, 1080, 1)),
                *((1366, 768, 1.25), (1366, 768, 1.5), (1366, 768, 0.8), (1366, 768, 2)),
            ):
                shown = {"width": int(width / zoom), "height": int(height / zoom), "deviceScaleFactor": zoom}
                await window.send("Emulation.setDeviceMetricsOverride", {**shown, "mobile": False})
                fits = f"() => {{ const [room, rows] = ({LAST_ROWS})(); return rows <= room && room - rows < 40 }}"
                await page.wait_for_function(fits)
                assert (await page.evaluate(LAST_ROWS))[0] <= shown["height"]
            await browser.close()

    hold(Setup(top=tmp_path, port=0), act)


@pytest.mark.slow
def test_on_a_phone_touch_alone_leads_through_the_lesson(tmp_path: Path, playwright: Any) -> None:
    async def act(room: ClassRoom) -> None:
        async with playwright.async_playwright() as driver, browser_at(room) as teacher:
            browser = await driver.chromium.launch(executable_path=CHROMIUM, args=QUIET)
            context = await browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
            page = await context.new_page()
            page.set_default_timeout(PATIENCE_MS)
            await page.goto(f"http://127.0.0.1:{room.port}/join/{room.seats.code}")
            await page.get_by_label("Your name").fill("Ada")
            await page.get_by_role("button", name="Join").tap()
            step = page.locator("#steps [aria-current]")
            await playwright.expect(step).to_have_text("1", timeout=PATIENCE_MS)
            await page.get_by_role("button", name="Next").tap()
            await playwright.expect(step).to_have_text("2", timeout=PATIENCE_MS)
            finger = await context.new_cdp_session(page)
            for kind, x in (("touchStart", 300), ("touchMove", 200), ("touchMove", 100), ("touchEnd", None)):
                points = [] if x is None else [{"x": x, "y": 300}]
                await finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
            await playwright.expect(step).to_have_text("3", timeout=PATIENCE_MS)
            await page.locator("#steps button").nth(3).tap()
            await playwright.expect(step).to_have_text("4", timeout=PATIENCE_MS)
            await teacher.join(room.seats.teachers_code)
            async with teacher.page() as leading:
                await leading.shows("1 of 5")
                await playwright.expect(step).to_have_text("1", timeout=PATIENCE_MS)  # followed from the start
                follow = page.locator("#follow")
                await playwright.expect(follow).to_have_text("◉ following the teacher", timeout=PATIENCE_MS)
                await follow.tap()
                await playwright.expect(follow).to_have_text("○ follow the teacher", timeout=PATIENCE_MS)
            await page.get_by_role("button", name="Close").tap()
            await page.get_by_role("button", name="Lesson").tap()
            await playwright.expect(step).to_have_text("1", timeout=PATIENCE_MS)
            await browser.close()

    hold(Setup(top=tmp_path, port=0, lesson=1), act)


@pytest.mark.slow
def test_keys_still_reach_the_app_after_the_teacher_has_opened_the_page_of_the_class(
    tmp_path: Path, playwright: Any
) -> None:
    async def act(room: ClassRoom) -> None:
        async with playwright.async_playwright() as driver:
            browser = await driver.chromium.launch(executable_path=CHROMIUM, args=QUIET)
            page = await browser.new_page(viewport={"width": 1366, "height": 768})
            page.set_default_timeout(PATIENCE_MS)
            await page.goto(f"http://127.0.0.1:{room.port}/join/{room.seats.teachers_code}")
            await page.get_by_role("button", name="Join").click()
            step = page.locator("#steps [aria-current]")
            await playwright.expect(step).to_have_text("1", timeout=PATIENCE_MS)
            async with page.expect_popup() as opened:
                await page.get_by_role("link", name="Class: code, participants").click()
            await playwright.expect((await opened.value).locator("h1")).to_have_text("Join the class")
            await page.bring_to_front()
            await page.keyboard.press("ArrowRight")
            await playwright.expect(step).to_have_text("2", timeout=PATIENCE_MS)
            await browser.close()

    hold(Setup(top=tmp_path, port=0, lesson=1), act)
