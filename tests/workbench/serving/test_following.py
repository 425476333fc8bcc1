"""Visitors follow the teacher if they want to; nobody but his program says where he is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast

import pytest
from aiohttp import web
from class_browser import Page, browser_at

from tests.workbench.serving.test_class_room import hold
from workbench.serving.class_room import ClassRoom, Setup
from workbench.serving.messages import CONTROLS, PLACE, Controls, Orders, TeachersPlace, as_text
from workbench.serving.textual_server import NO_PACKET, Lead, SeatProgram
from workbench.tui.teacher import Teacher

THERE = TeachersPlace(case="second", column="json")
FOLLOW = "\x10", "follow the teacher"


def told_by_a_program(leads: bool, *said: dict[str, Any]) -> TeachersPlace | None:
    """Where the class takes the teacher to be, after a program with these orders has told all this."""
    lead = Lead()
    websocket = cast(web.WebSocketResponse, web.WebSocketResponse())
    program = SeatProgram(Orders("/nowhere", leads=leads), websocket, lead, lambda _: None)

    async def run() -> None:
        for one in said:
            await program.on_meta(json.dumps(one).encode())

    asyncio.run(run())
    return lead.place


def test_only_the_teachers_program_says_where_he_is() -> None:
    told = {"type": PLACE, "content": as_text(THERE)}
    assert told_by_a_program(True, told) == THERE
    assert told_by_a_program(False, told) is None


@pytest.mark.parametrize(
    "place",
    [None, 7, "", "{}", {"case": "second"}, "x" * (16_000 + 1), '{"session": "../up"}', ["teacher"]],
)
def test_what_is_no_place_leaves_everybody_where_they_are(place: Any) -> None:
    told = {"type": PLACE, "content": as_text(THERE)}
    assert told_by_a_program(True, told, {"type": PLACE, "content": place}, {"type": PLACE}) == THERE


def test_the_class_knows_who_follows_and_at_which_step() -> None:
    noted: list[Controls] = []
    sent: list[str] = []

    async def write(text: str) -> None:
        sent.append(text)

    program = SeatProgram(Orders("/nowhere"), web.WebSocketResponse(), Lead(), noted.append)
    program.remote_write_str = write  # type: ignore[method-assign, assignment]
    teacher = Teacher(cast(Any, None), cast(Any, None), lambda: None, is_followed=True)
    teacher.place = THERE
    shown = Controls(("The structure", "Demos"), 1, teacher.sign)
    for content in (as_text(shown), {"steps": 7}, None):
        asyncio.run(program.on_meta(json.dumps({"type": CONTROLS, "content": content}).encode()))
    assert (noted, len(sent), shown.follows) == ([shown], 1, True)
    teacher.is_followed = False
    assert not Controls(teacher=teacher.sign).follows


def test_the_teachers_page_has_the_letters_of_a_projector() -> None:
    setup = Setup(is_projected=True)
    folder = Path("/nowhere")
    assert (setup.orders(folder, leads=True).is_projected, setup.orders(folder).is_projected) == (True, False)
    orders = setup.orders(folder, leads=True)
    assert Orders.read(orders.as_text()) == orders


def test_the_letters_of_the_teachers_page_alone_are_larger_for_a_projector(tmp_path: Path) -> None:
    async def act(room: ClassRoom) -> None:
        async with browser_at(room) as teacher, browser_at(room) as other:
            await teacher.join(room.seats.teachers_code)
            await other.join()
            assert 'data-font-size="24"' in (await teacher.get("/"))[1]
            assert 'data-font-size="16"' in (await other.get("/"))[1]

    hold(Setup(top=tmp_path, port=0, is_projected=True), act)


def in_class(act: Callable[[ClassRoom], Awaitable[None]], folder: Path) -> list[str]:
    """A class of two and the teacher; what was said of it."""
    said: list[str] = []

    async def run() -> None:
        room = ClassRoom(Setup(top=folder, port=0, most=2), said.append)
        await room.open()
        try:
            await act(room)
        finally:
            await room.close()

    asyncio.run(asyncio.wait_for(run(), 200))
    return said


async def follow(page: Page) -> None:
    """Has a visitor follow by the palette."""
    await page.shows("○ follow the teacher")
    await page.press(*FOLLOW)
    await page.shows("or stop following")
    await page.press("enter")
    await page.shows("◉ following")


@pytest.mark.slow
def test_who_follows_sees_the_teachers_step_and_page_and_who_does_not_stays(tmp_path: Path) -> None:
    async def act(room: ClassRoom) -> None:
        async with browser_at(room) as teacher, browser_at(room) as first, browser_at(room) as second:
            await teacher.join(room.seats.teachers_code)
            await first.join()
            await second.join()
            async with first.page() as follower, second.page() as other:
                await follower.shows("Extracted values")
                await other.shows("Extracted values")
                async with teacher.page() as lead:
                    await lead.shows("Extracted values")
                    await follow(follower)
                    await lead.press("f6")
                    await lead.shows("The fields")
                    await follower.shows("The fields")
                    await lead.press("right")
                    await follower.shows("The structure")
                    await lead.press("escape", "\x1b[18~")  # F7
                    await follower.shows("Reply × parser")
                    await lead.press("5")
                    await follower.shows("compare with another")
                    assert "The structure" not in other.painted
                    assert "Reply × parser" not in other.painted
                    follower.forget()
                await follower.shows("The teacher has")
                follower.forget()
                await other.press("f6")
                await other.shows("The fields")
                async with teacher.page() as lead:
                    await lead.shows("Extracted values")
                    await follower.shows("◉ following the teacher")
                    await follower.press("mine")
                    await follower.shows("Not follow")
        assert room.seats.taken == 2

    assert "the teacher joined (0 of 2 seats taken)" in in_class(act, tmp_path)


@pytest.mark.slow
def test_who_joins_a_lesson_late_or_loads_the_page_again_is_at_the_teachers_step(tmp_path: Path) -> None:
    async def act(room: ClassRoom) -> None:
        async with browser_at(room) as teacher, browser_at(room) as late:
            await teacher.join(room.seats.teachers_code)
            await late.join()
            async with teacher.page() as lead:
                await lead.shows("The fields")
                await lead.press("right", "right")
                await lead.shows("The objective")
                for _ in range(2):
                    async with late.page() as page:
                        await page.shows("word for word")

    hold(Setup(top=tmp_path, port=0, lesson=1), act)


@pytest.mark.slow
def test_a_visitor_cannot_say_where_the_teacher_is(tmp_path: Path) -> None:
    forged = [
        [PLACE, {"content": as_text(THERE)}],
        {"type": PLACE, "content": as_text(THERE)},
        ["stdin", {"type": PLACE, "content": as_text(THERE)}],
        ["meta", {"type": PLACE, "content": as_text(THERE)}],
    ]

    async def act(room: ClassRoom) -> None:
        async with browser_at(room) as visitor:
            await visitor.join()
            for one in forged:
                async with visitor.page() as page:
                    await page.shows("Extracted values")
                    await page.websocket.send_json(one)
                    assert await page.closed() == NO_PACKET
            async with visitor.page() as page:
                await page.shows("Extracted values")
                packet = json.dumps({"type": PLACE, "content": as_text(THERE)}).encode()
                await page.press("M" + len(packet).to_bytes(4, "big").decode("latin-1") + packet.decode())
                await page.press("f6")
                await page.shows("The fields")
                assert "follow the teacher" not in page.painted, "what is typed is text, whatever it looks like"
            assert room.lead.place is None

    in_class(act, tmp_path)
