"""Thirty scripted browsers at once: everybody is answered, and nothing is left of anybody."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import psutil
import pytest
from class_browser import Browser, browser_at

from tests.workbench.serving.test_class_room import WELCOME, hold, programs
from workbench.serving.class_room import ClassRoom, Setup

VISITORS = 30
ROUNDS = int(os.environ.get("CLASS_ROUNDS", "2"))
"""How often everybody sends and walks through the lesson; for minutes of it: CLASS_ROUNDS=60."""
PAUSE_S = float(os.environ.get("CLASS_PAUSE", "0"))
MOST_MB = 120
"""Of memory that a visitor's process has for itself, on average."""


async def work(browser: Browser, answered: list[int], everybody: asyncio.Barrier) -> None:
    """What one visitor does."""
    await browser.join()
    async with browser.page() as page:
        await page.shows(WELCOME)
        for number in range(ROUNDS):
            page.forget()
            await page.press("f5")
            await page.until(lambda: "✓" in page.painted, "a reply that was read")
            page.forget()
            await page.press("f6")
            await page.shows("The fields")
            page.forget()
            await page.press("right")
            await page.shows("2 of")
            page.forget()
            await page.press("escape")
            await page.shows("as dspy")
            page.forget()
            await page.websocket.send_json(["ping", str(number)])
            await page.until(lambda: page.told, "the answer to a ping")
            page.told.clear()
            answered.append(number)
            await asyncio.sleep(PAUSE_S)
        await everybody.wait()
        await everybody.wait()  # between the two everybody is there, and is counted


def own_megabytes(process: int) -> float:
    """The memory that a process shares with nobody."""
    return float(psutil.Process(process).memory_full_info().uss) / 1024 / 1024


@pytest.mark.slow
def test_thirty_visitors_are_all_answered_and_leave_nothing(tmp_path: Path) -> None:
    answered: list[int] = []

    async def act(room: ClassRoom) -> None:
        everybody = asyncio.Barrier(VISITORS + 1)

        async def visit() -> None:
            async with browser_at(room) as browser:
                await work(browser, answered, everybody)

        visits = asyncio.gather(*(visit() for _ in range(VISITORS)))
        counting = asyncio.ensure_future(everybody.wait())
        await asyncio.wait({visits, counting}, return_when=asyncio.FIRST_COMPLETED)
        if visits.done():
            await visits  # somebody failed, which says why
        running = programs(tmp_path)
        each = [own_megabytes(one) for one in running]
        print(f"{len(running)} processes, {sum(each) / len(each):.0f} MB each of its own, {max(each):.0f} at most")
        assert len(running) == VISITORS
        assert sum(each) / len(each) < MOST_MB
        await everybody.wait()
        await visits
        for visitor in room.seats.all:
            async with visitor.turn:
                pass
        assert programs(tmp_path) == []

    hold(Setup(top=tmp_path, port=0, most=VISITORS), act, patience=1100)
    assert len(answered) == VISITORS * ROUNDS
    assert list(tmp_path.iterdir()) == []
