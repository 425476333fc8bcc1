"""The app for a seat of `workbench serve`, run as `python -P -m workbench.tui.launch_visitor ORDERS`.

Its limits are set before the session is opened: memory, the walls, and what the app refuses.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from textual import events
from textual.widgets import TextArea

from sessions import examples
from sessions.file import autosave, store
from sessions.file.store import Fingerprint
from sessions.model.session import Session
from workbench.config.confinement import Confinement
from workbench.serving import messages, walls
from workbench.serving.messages import Controls, MessageError, TeachersPlace
from workbench.serving.orders import Orders
from workbench.tui.actions import going_along, looking
from workbench.tui.app import WorkbenchApp
from workbench.tui.screens.lesson import LessonScreen
from workbench.tui.screens.main import MainScreen
from workbench.tui.screens.pages import PagesScreen
from workbench.tui.teacher import Teacher
from workbench.tui.textual_internals import visitor_driver
from workbench.tui.textual_internals.visitor_driver import ButtonPressed, TeacherMoved

LOG = "stderr.log"
LOOKS_S = 0.2
"""Seconds between two looks at where the teacher is, and whether the app can go there now."""


class VisitorApp(WorkbenchApp):
    """The app in the folder of a seat, which may start in a lesson; the teacher's tells its position to the others."""

    def __init__(
        self, session: Session, path: Path | None, orders: Orders, fingerprint: Fingerprint | None = None
    ) -> None:
        confinement = Confinement(orders.files, orders.models)
        super().__init__(
            session, path, fingerprint=fingerprint, confinement=confinement, is_projected=orders.is_projected
        )
        self._lesson = orders.lesson
        self._leads = orders.leads
        self._told: TeachersPlace | None = None
        self._shown = Controls()
        """The buttons that the page shows."""
        if not self._leads:
            go = partial(going_along.go_along, self)
            self.teacher = Teacher(self, go, self._show_teacher, is_followed=orders.lesson is not None)

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(LOOKS_S, self._look)

    def on_main_screen_showed(self) -> None:
        super().on_main_screen_showed()
        if self._lesson is not None and self.main.columns.rendered:
            step, self._lesson = self._lesson, None
            looking.open_lesson(self, step - 1)

    async def on_event(self, event: events.Event) -> None:
        """Stop following when the participant types, so that nobody is led away from the text being typed."""
        if self.teacher is not None and self.teacher.is_followed and self._writes(event):
            self.teacher.stop("You write something of your own.")
        await super().on_event(event)

    def _writes(self, event: events.Event) -> bool:
        if isinstance(event, events.Key):
            changes = event.is_printable or event.key in ("enter", "backspace", "delete")
        else:
            changes = isinstance(event, events.Paste)
        return changes and isinstance(self.focused, TextArea) and not self.focused.read_only

    def on_teacher_moved(self, message: TeacherMoved) -> None:
        if self.teacher is None:
            return
        with suppress(MessageError):  # what is not a place leads nowhere, whoever told it
            self.teacher.told(messages.read_place(message.place) if message.place is not None else None)

    def on_button_pressed(self, message: ButtonPressed) -> None:
        """Do what a button of the page says; in a lesson a swipe presses Back and Next."""
        press, screen = message.press, self.screen
        if press.button == "follow":
            self.action_follow_teacher()
        elif press.button == "lesson":
            looking.open_lesson(self)
        elif isinstance(screen, LessonScreen):
            step = {"back": screen.at - 1, "next": screen.at + 1}.get(press.button, press.step)
            screen.go_to(screen.rendered.column.id, step)

    def _controls(self) -> Controls:
        screen, teacher = self.screen, self.teacher
        sign = teacher.sign if teacher is not None else ""
        if isinstance(screen, LessonScreen):
            return Controls(tuple(step.title for step in screen.steps), screen.at, sign)
        return Controls(teacher=sign)

    def _show_teacher(self) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, (MainScreen, LessonScreen, PagesScreen)):
                screen.show_teacher(self.teacher.sign if self.teacher is not None else "")

    def _look(self) -> None:
        """Follow the teacher or tell where the teacher is, and keep the buttons of the page up to date."""
        if not self.main.columns.rendered:
            return
        controls = self._controls()
        if controls != self._shown:
            self._shown = controls
            visitor_driver.tell(messages.CONTROLS, controls.as_data())
        if self.teacher is not None:
            self.teacher.catch_up()
        place = going_along.place_of(self) if self._leads else None
        if place is not None and place != self._told:
            self._told = place
            visitor_driver.tell(messages.PLACE, place.as_text())


def visitor_app(orders: Orders) -> VisitorApp:
    """Make the app as its orders say. Raises `sessions.errors.SessionError` for a session that cannot be read."""
    if orders.session is None:
        return VisitorApp(replace(examples.load(examples.FIRST), model="offline/exact"), None, orders)
    path = orders.files / orders.session
    found = store.open_file(path)
    return VisitorApp(found.session, path, orders, found.fingerprint)


def main() -> int:
    """Run the app until its participant leaves, and return its exit code."""
    orders = Orders.read(sys.argv[1])
    _limit(orders.memory_mb, orders.disk_mb)
    os.nice(5)  # thirty of them leave the server the time to answer
    log = os.open(orders.home / LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(log, 2)  # what Python says of a mistake is not for the terminal of the teacher
    walls.put_up(Path(orders.folder), orders.disk_mb * walls.MEGABYTE, calls_models=bool(orders.models))
    app = visitor_app(orders)
    app.preferences.use_config()
    code = app.run()
    autosave.close()
    return code if code is not None else (app.return_code or 0)


def _limit(memory_mb: int, disk_mb: int) -> None:
    """Limit the memory of the process and of its children, and the size of files.

    Lower limits of the server stay: asking for more than them would be refused.
    """
    import resource

    for what, megabytes in ((resource.RLIMIT_DATA, memory_mb), (resource.RLIMIT_FSIZE, disk_mb)):
        _, most = resource.getrlimit(what)
        wanted = megabytes * walls.MEGABYTE
        limit = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
        resource.setrlimit(what, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    sys.exit(main())
