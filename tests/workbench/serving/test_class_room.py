"""A class with real visitors: each has a program and a folder, which end with him."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import aiohttp
import psutil
import pytest
from class_browser import browser_at
from scripted_lm import Clock

from sessions.file import store
from sessions.model.session import Case, Column, Session, SignatureText
from workbench.serving import class_room, textual_server
from workbench.serving.class_room import ClassRoom, Setup

Act = Callable[[ClassRoom], Awaitable[None]]
WELCOME = "Welcome"


def hold(setup: Setup, act: Act, patience: float = 280) -> list[str]:
    """Opens a class, lets `act` happen, and ends it; what was said of it. It fails after `patience` seconds."""
    said: list[str] = []

    async def run() -> None:
        room = ClassRoom(setup, said.append)
        await room.open()
        try:
            await act(room)
        finally:
            await room.close()

    asyncio.run(asyncio.wait_for(run(), patience))
    return said


def programs(folder: Path) -> list[int]:
    """The processes that were started for visitors whose folders are in `folder`."""
    found: list[int] = []
    for one in psutil.process_iter():
        with suppress(psutil.Error):  # it has ended meanwhile, or is another user's
            words = " ".join(one.cmdline())
            if str(folder) in words and "launch_visitor" in words:
                found.append(one.pid)
    return found


@pytest.mark.slow
def test_a_visitor_works_and_leaves_no_process_and_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-teacher")

    async def act(room: ClassRoom) -> None:
        async with browser_at(room) as browser:
            await browser.join()
            async with browser.page() as page:
                await page.shows(WELCOME)
                (process,) = programs(tmp_path)
                running = psutil.Process(process)
                assert "sk-teacher" not in str(running.environ())
                assert Path(running.cwd()).resolve() == (tmp_path / "seat-01" / "files").resolve()
                page.forget()
                await page.press("f5")
                await page.shows("✓")  # the reply of the offline model, read
                await page.websocket.send_json(["ping", "17"])
                await page.until(lambda: page.told, "the answer to a ping")
                assert page.told == ['["pong", "17"]']
                await page.websocket.send_str("[" * 100_000)
                assert await page.closed() == textual_server.NO_PACKET
            visitor = room.seats.all[0]
            async with visitor.turn:  # its program has ended
                assert programs(tmp_path) == []
            assert visitor.folder.exists()

    said = hold(Setup(top=tmp_path, port=0, most=1), act)
    assert list(tmp_path.iterdir()) == []
    assert said[0] == "participant 1 joined (1 of 1 seats taken)"
    assert "its address no longer works" in said[1]


@pytest.mark.slow
def test_a_message_that_is_too_large_ends_the_page_alone(tmp_path: Path) -> None:
    async def act(room: ClassRoom) -> None:
        async with browser_at(room) as browser:
            await browser.join()
            async with browser.page() as page:
                await page.shows(WELCOME)
                await page.websocket.send_str("x" * (textual_server.MOST_OF_A_MESSAGE + 1))
                assert await page.closed() == aiohttp.WSCloseCode.MESSAGE_TOO_BIG
            async with browser.page() as page:
                await page.shows(WELCOME)

    hold(Setup(top=tmp_path, port=0), act)
    assert programs(tmp_path) == []


@pytest.mark.slow
def test_a_second_page_takes_the_place_of_the_first(tmp_path: Path) -> None:
    async def act(room: ClassRoom) -> None:
        async with browser_at(room) as browser:
            await browser.join()
            async with browser.page() as first:
                await first.shows(WELCOME)
                async with browser.page() as second:
                    assert await first.closed() == textual_server.OPENED_ELSEWHERE
                    await second.shows(WELCOME)
                    assert len(programs(tmp_path)) == 1

    hold(Setup(top=tmp_path, port=0), act)
    assert programs(tmp_path) == []


@pytest.mark.slow
def test_work_that_was_not_saved_is_there_when_the_page_is_opened_again(tmp_path: Path) -> None:
    async def act(room: ClassRoom) -> None:
        async with browser_at(room) as browser:
            await browser.join()
            async with browser.page() as page:
                await page.shows(WELCOME)
                await page.press("x")
                await page.shows("xnote")
            async with browser.page() as page:
                await page.shows("xnote")
                assert "Recover" not in page.painted

    hold(Setup(top=tmp_path, port=0), act)


@pytest.mark.slow
def test_a_folder_that_is_full_is_said_in_a_line_and_the_app_goes_on(tmp_path: Path) -> None:
    session = tmp_path / "rain.session.json"
    store.save(Session(SignatureText("question -> answer"), columns=(Column("chat", "chat"),)), session)

    async def act(room: ClassRoom) -> None:
        async with browser_at(room) as browser:
            await browser.join()
            async with browser.page((160, 45)) as page:
                await page.shows("question")
                files = room.seats.all[0].folder / "files"
                (files / "large").write_bytes(b"x" * 1_100_000)
                await page.press("x")
                await page.shows("xquestion")
                await page.press("\x13")
                await page.shows("megabytes")
                page.forget()
                (files / "large").unlink()
                await page.press("\x13")
                await page.shows("saved in your folder")
                assert store.load(files / session.name).signature.text == "xquestion -> answer"

    hold(Setup((session,), tmp_path / "class", port=0, disk_mb=1), act)


@pytest.mark.slow
def test_an_app_that_cannot_write_its_log_starts_all_the_same(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async def act(room: ClassRoom) -> None:
        async with browser_at(room) as browser:
            await browser.join()
            (tmp_path / "seat-01" / "home" / "stderr.log").mkdir()
            async with browser.page() as page:
                await page.shows(WELCOME)

    assert hold(Setup(top=tmp_path, port=0), act) == ["participant 1 joined (1 of 30 seats taken)"]
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_everybody_starts_with_the_session_and_the_step_that_the_teacher_chose(tmp_path: Path) -> None:
    session = tmp_path / "rain.session.json"
    cases = (Case("one", {"question": "Why?"}),)
    made = Session(SignatureText("question -> answer"), columns=(Column("chat", "chat"),), cases=cases)
    store.save(made, session)

    async def act(room: ClassRoom) -> None:
        async with browser_at(room) as browser:
            await browser.join()
            async with browser.page() as page:
                await page.shows("The structure")
                await page.shows("2 of 5")

    hold(Setup((session,), tmp_path / "class", port=0, lesson=2), act)


@pytest.mark.slow
def test_who_leaves_by_the_key_has_his_page_closed(tmp_path: Path) -> None:
    async def act(room: ClassRoom) -> None:
        async with browser_at(room) as browser:
            await browser.join()
            async with browser.page() as page:
                await page.shows(WELCOME)
                await page.press("ctrl+q")
                assert await page.closed() == aiohttp.WSCloseCode.OK

    hold(Setup(top=tmp_path, port=0), act)


@pytest.mark.slow
def test_a_program_that_dies_closes_the_page(tmp_path: Path) -> None:
    async def act(room: ClassRoom) -> None:
        async with browser_at(room) as browser:
            await browser.join()
            async with browser.page() as page:
                await page.shows(WELCOME)
                (process,) = programs(tmp_path)
                os.kill(process, signal.SIGKILL)
                assert await page.closed() == aiohttp.WSCloseCode.OK

    hold(Setup(top=tmp_path, port=0), act)


@pytest.mark.slow
def test_who_does_nothing_for_long_loses_his_page_and_then_his_place(tmp_path: Path) -> None:
    clock = Clock()

    async def act(room: ClassRoom) -> None:
        room.seats.now = clock
        async with browser_at(room) as browser:
            await browser.join()
            async with browser.page() as page:
                await page.shows(WELCOME)
                clock.now += 3601
                await room.look_after()
                assert await page.closed() == textual_server.IDLE
            async with room.seats.all[0].turn:
                assert programs(tmp_path) == []
            clock.now += 3601
            await room.look_after()
            assert room.seats.all == ()
            assert list(tmp_path.iterdir()) == []
            assert await browser.connect() == 403

    hold(Setup(top=tmp_path, port=0), act)


def test_a_look_at_the_places_that_fails_is_told_and_the_next_one_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[ClassRoom] = []

    async def look_after(room: ClassRoom) -> None:
        looks.append(room)
        raise OSError("no such disk")

    async def act(room: ClassRoom) -> None:
        while len(looks) < 2:
            await asyncio.sleep(0.01)

    monkeypatch.setattr(class_room, "LOOK_EVERY_S", 0.01)
    monkeypatch.setattr(ClassRoom, "look_after", look_after)
    said = hold(Setup(top=tmp_path, port=0), act, patience=60)
    assert "looking after the seats failed (OSError: no such disk)" in said


@pytest.mark.slow
def test_folders_that_are_to_be_kept_are(tmp_path: Path) -> None:
    async def act(room: ClassRoom) -> None:
        async with browser_at(room) as browser:
            await browser.join()

    hold(Setup(top=tmp_path, keeps=True, port=0), act)
    assert [one.name for one in tmp_path.iterdir()] == ["seat-01"]


@pytest.mark.slow
def test_a_program_that_does_not_end_is_killed(tmp_path: Path) -> None:
    async def act(room: ClassRoom) -> None:
        async with browser_at(room) as browser:
            await browser.join()
            async with browser.page() as page:
                await page.shows(WELCOME)
                (process,) = programs(tmp_path)
                os.kill(process, signal.SIGSTOP)  # stopped: it hears nothing any more

    hold(Setup(top=tmp_path, port=0), act)
    assert programs(tmp_path) == []
