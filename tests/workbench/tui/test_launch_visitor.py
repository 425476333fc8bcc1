"""A visitor's app hears where the teacher is, goes along if asked to, and stops the moment its visitor writes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.support.open_app import Desk
from workbench.serving import seats
from workbench.serving.messages import CONTROLS, Controls, Orders, Press, TeachersPlace, as_text, read
from workbench.tui.launch_visitor import VisitorApp, _limit, visitor_app
from workbench.tui.panes.status import StatusLine
from workbench.tui.screens.lesson import LessonScreen
from workbench.tui.textual_internals import visitor_driver
from workbench.tui.textual_internals.visitor_driver import ButtonPressed, TeacherMoved

EXAMPLE = "example:receipt"
LESSON = TeachersPlace(EXAMPLE, screen="lesson", column="json", step=1)


def in_class(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    act: Callable[[VisitorApp, Desk], Awaitable[None]],
    leads: bool = False,
    lesson: int | None = None,
) -> None:
    """Opens the app of one visitor, or of the teacher, whose page is projected."""
    made = seats.make_folder(folder, 1, [])
    monkeypatch.setenv("XDG_STATE_HOME", str(made / "home"))

    async def run() -> None:
        app = visitor_app(Orders(str(made), lesson=lesson, leads=leads, is_projected=leads))
        async with app.run_test(size=(120, 35), notifications=True) as pilot:
            desk = Desk(app, pilot)
            await desk.until(lambda: app.main.complete.is_set() and app.main.columns.rendered, "for the first picture")
            await act(app, desk)
        assert not app.mistakes.seen

    asyncio.run(asyncio.wait_for(run(), 250))


@pytest.mark.slow
def test_a_visitor_goes_along_until_he_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def act(app: VisitorApp, desk: Desk) -> None:
        def last_line() -> str:
            return app.main.query_one(StatusLine).render().plain

        def told(place: str | None) -> None:
            app.post_message(TeacherMoved(place))

        assert app.teacher is not None
        for junk in ("", "{}", "null", "x" * (16_001), as_text(LESSON).replace("lesson", "shell")):
            told(junk)
        await desk.settle()
        assert app.teacher.place is None
        assert "teacher" not in last_line()
        told(as_text(TeachersPlace(EXAMPLE)))
        await desk.until(lambda: "○ follow the teacher" in last_line(), "for the sign")
        await app.run_action("follow_teacher")
        await desk.until(lambda: "◉ following the teacher" in last_line(), "for the sign")
        told(as_text(LESSON))
        await desk.until(lambda: isinstance(app.screen, LessonScreen), "for the lesson")
        lesson = app.screen
        assert isinstance(lesson, LessonScreen)
        await desk.until(lambda: (lesson.rendered.column.id, lesson.at) == ("json", 1), "for its step")
        hint = lesson.query_one("#lesson-hint")
        await desk.until(lambda: "◉ following the teacher" in str(hint.render()), "for the sign in front")
        told(None)
        await desk.until(lambda: "◌ the teacher has left" in str(hint.render()), "for the sign in front")
        assert app.screen is lesson, "he stays where he is"
        told(as_text(TeachersPlace(EXAMPLE)))
        await desk.until(lambda: app.screen is app.main, "to be back with the teacher")
        await desk.press("f2")
        await desk.type("x")
        assert not app.teacher.is_followed
        assert app.document.dirty, "what was typed stands"
        told(as_text(LESSON))
        await desk.settle()
        assert app.screen is app.main

    in_class(tmp_path, monkeypatch, act)


def test_the_buttons_of_a_page_lead_through_the_lesson_and_follow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[Controls] = []

    def tell(kind: str, content: object) -> None:
        assert kind == CONTROLS
        shown.append(read(Controls, str(content)))

    monkeypatch.setattr(visitor_driver, "tell", tell)

    async def act(app: VisitorApp, desk: Desk) -> None:
        def press(button: str, step: int = 0) -> None:
            app.post_message(ButtonPressed(Press(button, step)))

        await desk.until(lambda: isinstance(app.screen, LessonScreen), "for the lesson")
        lesson = app.screen
        assert isinstance(lesson, LessonScreen)
        await desk.until(lambda: bool(shown) and shown[-1].step == 1, "for the buttons")
        assert shown[-1].steps == tuple(step.title for step in lesson.steps)
        for button, step, at in (("next", 0, 2), ("back", 0, 1), ("step", 3, 3), ("next", 0, 4)):
            press(button, step)
            await desk.until(lambda at=at: lesson.at == shown[-1].step == at, "for the step")  # type: ignore[misc]
        app.post_message(TeacherMoved(as_text(TeachersPlace(EXAMPLE, screen="lesson", step=2))))
        await desk.until(lambda: "following" in shown[-1].teacher and lesson.at == 2, "to be with the teacher")
        for own in (partial(press, "next"), partial(desk.pilot.press, "right")):
            if (pressed := own()) is not None:
                await pressed
            await desk.until(lambda: shown[-1].teacher == "○ follow the teacher" and lesson.at == 3, "for an own step")
            press("follow")
            await desk.until(lambda: "◉ following" in shown[-1].teacher and lesson.at == 2, "to be back")
        press("follow")
        await desk.until(lambda: shown[-1].teacher == "○ follow the teacher", "for the sign")
        press("lesson")
        await desk.until(lambda: app.screen is app.main and not shown[-1].steps, "for the panes")
        press("next")
        press("lesson")
        await desk.until(lambda: isinstance(app.screen, LessonScreen), "for the lesson")
        press("follow")
        await desk.until(lambda: "◉ following" in shown[-1].teacher, "to follow again")
        press("lesson")
        await desk.until(lambda: app.screen is app.main, "for the panes")
        await desk.settle()
        assert app.screen is app.main, "who closes the lesson is not thrown back"
        press("lesson")
        await desk.until(lambda: bool(shown[-1].steps) and shown[-1].step == 2, "to be with the teacher")

    in_class(tmp_path, monkeypatch, act, lesson=2)


def test_the_teachers_app_starts_for_the_room_and_follows_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def act(app: VisitorApp, desk: Desk) -> None:
        await desk.until(lambda: isinstance(app.screen, LessonScreen), "for the lesson")
        assert app.has_class("-projected")
        app.post_message(TeacherMoved(as_text(TeachersPlace("example:triage"))))
        await app.run_action("follow_teacher")
        await desk.settle()
        assert isinstance(app.screen, LessonScreen)
        assert app.teacher is None

    in_class(tmp_path, monkeypatch, act, leads=True, lesson=2)


def test_a_program_asks_for_no_more_than_the_system_allows_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = {"data": -1, "size": 5_000_000, "core": -1}
    asked: dict[str, tuple[int, int]] = {}
    system = SimpleNamespace(
        RLIMIT_DATA="data",
        RLIMIT_FSIZE="size",
        RLIMIT_CORE="core",
        RLIM_INFINITY=-1,
        getrlimit=lambda what: (allowed[what], allowed[what]),
        setrlimit=asked.__setitem__,
    )
    monkeypatch.setitem(sys.modules, "resource", system)
    _limit(memory_mb=300, disk_mb=100)
    memory = 300 * 1024 * 1024
    assert asked == {"data": (memory, memory), "size": (5_000_000, 5_000_000), "core": (0, 0)}
