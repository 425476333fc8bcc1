"""A follower comes to the same session, case, column, step and page, and nothing of his own is changed or lost."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.errors import RunError
from adapters.running.events import Listener
from adapters.running.runs import Run
from sessions import examples
from sessions.file import store
from sessions.model.session import Column
from tests.support.open_app import MIDDLE, TICKETS, Desk, at_the_desk
from tests.support.screen import seen
from workbench.config.confinement import Confinement
from workbench.serving.messages import TeachersPlace
from workbench.state.document import State
from workbench.tui.dialogs.ask import AskScreen
from workbench.tui.launch_visitor import go_along, place_of
from workbench.tui.screens.lesson import LessonScreen
from workbench.tui.screens.pages import PagesScreen

FILE = "tickets.session.json"


@pytest.mark.slow
def test_each_place_of_one_app_is_found_by_another(tmp_path: Path) -> None:
    store.save(TICKETS, tmp_path / FILE)
    places: list[TeachersPlace] = []

    async def note(desk: Desk) -> None:
        place = place_of(desk.app)
        assert place is not None
        places.append(place)

    async def lead(desk: Desk) -> None:
        await desk.press("f2", "f2")
        await note(desk)
        desk.document.look_at_case(1)
        desk.main.show()
        await desk.press("f3", "f3", "down", "down")
        await note(desk)
        await desk.press("f6", "right", "right", "right")
        await note(desk)
        await desk.press("escape", "f7", "6", "c")
        await note(desk)
        await desk.press("escape", "f4")
        await note(desk)

    async def follow(desk: Desk) -> None:
        before, drafts = desk.document.session, desk.document.state.drafts
        last: TeachersPlace | None = None
        for place in places:
            assert go_along(desk.app, place, last) == ""
            await desk.settle()
            found = place_of(desk.app)
            assert found is not None
            assert replace(found, scrolled=0) == replace(place, scrolled=0)
            last = place
        assert go_along(desk.app, places[0], last) == ""
        await desk.settle()
        assert desk.main.editors.tab == places[0].tab, "and back"
        assert (desk.document.session, desk.document.state.drafts, desk.document.dirty) == (before, drafts, False)

    at_the_desk(lead, TICKETS, tmp_path / FILE, size=MIDDLE)
    assert [(one.session, one.screen, one.part) for one in places] == [
        (FILE, "panes", "editors"),
        (FILE, "panes", "prompt"),
        (FILE, "lesson", "prompt"),
        (FILE, "pages", "editors"),
        (FILE, "panes", "reply"),
    ]
    assert places[1].case == "second"
    assert places[1].kind
    at_the_desk(follow, TICKETS, tmp_path / FILE, size=MIDDLE)


def test_a_follower_on_a_small_screen_sees_the_text_of_the_step() -> None:
    async def act(desk: Desk) -> None:
        place = place_of(desk.app)
        assert place is not None
        for step in (2, 4):
            assert go_along(desk.app, replace(place, screen="lesson", step=step), None) == ""
            await desk.settle()
            screen = desk.app.screen
            assert isinstance(screen, LessonScreen)
            lit = "In adhering to this structure" if step == 2 else "Respond with"
            assert lit in "\n".join(seen(screen.text)), step
            found = place_of(desk.app)
            assert found is not None
            assert found.step == step

    at_the_desk(act, examples.load("receipt"), size=(44, 30))


def test_a_follower_without_a_reply_stays_and_follows_to_the_teachers_reply_once_it_is_sent() -> None:
    async def act(desk: Desk) -> None:
        app = desk.app
        place = place_of(app)
        assert place is not None
        await desk.press("f6", "end")
        await desk.settle()
        lesson = app.screen
        assert isinstance(lesson, LessonScreen) and not lesson.is_at_reply
        at_reply = replace(place, screen="lesson", part="reply", step=len(lesson.steps))
        said = "The teacher explains the reply. Close the lesson and send (F5): then you follow."
        assert go_along(app, at_reply, None) == said
        await desk.press("escape")
        assert go_along(app, at_reply, None) == "The teacher explains the reply. Send (F5): then you follow."
        assert app.screen is desk.main, "nobody is thrown back into a lesson without a reply"
        await desk.press("f5")
        await desk.until(lambda: go_along(app, at_reply, None) == "", "for the reply")
        await desk.until(lambda: isinstance(app.screen, LessonScreen) and app.screen.is_at_reply, "for the step")
        assert place_of(app) == replace(at_reply, tab=desk.main.editors.tab, case=desk.document.state.case.name)

    at_the_desk(act, examples.load("receipt"), size=(44, 30))


@pytest.mark.slow
def test_work_that_is_not_saved_is_never_left_for_the_teachers_session(tmp_path: Path) -> None:
    store.save(TICKETS, tmp_path / FILE)
    go_on = threading.Event()

    def send(state: State, column: Column, listener: Listener, cancel: threading.Event) -> Run:
        assert go_on.wait(120), "for the end of the test"
        return Run(False, {}, (), (), error=RunError("no reply", "request"))

    async def act(desk: Desk) -> None:
        desk.app.confinement = Confinement(tmp_path)
        await desk.go_to("input", "ticket")
        await desk.paste_over("mine")
        assert "not saved" in go_along(desk.app, TeachersPlace("example:triage"), None)
        assert desk.document.dirty
        assert desk.document.state.case.inputs["ticket"] == "mine"
        await desk.press("ctrl+s")
        await desk.until(lambda: not desk.document.dirty, "for the save")
        await desk.press("f8")
        assert "have ended" in go_along(desk.app, TeachersPlace("example:triage"), None)
        go_on.set()
        await desk.sent()
        assert go_along(desk.app, TeachersPlace("example:triage"), None) == ""
        assert desk.document.session == examples.load("triage")
        assert place_of(desk.app) is not None
        assert "not have" in go_along(desk.app, TeachersPlace("example:none"), None)
        assert "not have" in go_along(desk.app, TeachersPlace(""), None)
        assert "not among your files" in go_along(desk.app, TeachersPlace("other.session.json"), None)
        assert go_along(desk.app, TeachersPlace(FILE, "no such case", "no such column", "no such tab"), None) == ""
        assert desk.document.path == tmp_path / FILE
        assert go_along(desk.app, TeachersPlace(FILE, screen="lesson", step=1_000, column="none"), None) == ""
        await desk.settle()
        lesson = desk.app.screen
        assert isinstance(lesson, LessonScreen)
        assert lesson.at == len(lesson.steps) - 1
        assert go_along(desk.app, TeachersPlace(FILE, screen="pages", page="no such page"), None) == ""
        assert go_along(desk.app, TeachersPlace(FILE, screen="pages", page="lints"), None) == ""
        await desk.settle()
        assert isinstance(desk.app.screen, PagesScreen)
        await desk.press("escape", "f12")
        assert isinstance(desk.app.screen, AskScreen)
        assert "Close the open dialog" in go_along(desk.app, TeachersPlace(FILE), None)
        assert place_of(desk.app) is None, "nobody follows into a question"

    at_the_desk(act, TICKETS, tmp_path / FILE, size=MIDDLE, send=send)
