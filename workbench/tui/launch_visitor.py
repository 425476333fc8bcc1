"""The app for one visitor of `workbench serve`, run as `python -P -m workbench.tui.launch_visitor ORDERS`.

What it may reach is settled before anything of the session is looked at: memory, the walls, and what the app refuses.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from textual import events
from textual.widget import Widget
from textual.widgets import TextArea

from sessions import examples
from sessions.file import autosave, store
from sessions.file.store import Fingerprint
from sessions.model.session import Session
from workbench.config.confinement import Confinement
from workbench.serving import teachers_place, walls
from workbench.serving.orders import Orders
from workbench.serving.teachers_place import NoPlaceError, TeachersPlace
from workbench.tui.actions import going_along, looking
from workbench.tui.app import WorkbenchApp
from workbench.tui.screens.lesson import LessonScreen
from workbench.tui.screens.main import MainScreen
from workbench.tui.screens.pages import PagesScreen
from workbench.tui.teacher import Teacher
from workbench.tui.textual_internals import visitor_driver
from workbench.tui.textual_internals.visitor_driver import TeacherMoved

LOG = "stderr.log"
LOOKS_S = 0.2
"""Seconds between two looks at where the teacher is, and at whether one can go there now."""


class VisitorApp(WorkbenchApp):
    """The app in a visitor's folder; with a lesson it begins there. The teacher's tells where it is, others hear it."""

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
        if not self._leads:
            go = partial(going_along.go_along, self)
            self.teacher = Teacher(self, go, self._show_teacher)

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(LOOKS_S, self._tell_place if self._leads else self._catch_up)

    def on_main_screen_showed(self) -> None:
        super().on_main_screen_showed()
        if self._lesson is not None and self.main.columns.rendered:
            step, self._lesson = self._lesson, None
            looking.open_lesson(self, step - 1)

    async def on_event(self, event: events.Event) -> None:
        """Whoever writes follows no longer: nobody is led away from what he types into."""
        if self.teacher is not None and self.teacher.is_followed and _writes(event, self.focused):
            self.teacher.stop("You write something of your own.")
        await super().on_event(event)

    def on_teacher_moved(self, message: TeacherMoved) -> None:
        if self.teacher is None:
            return
        with suppress(NoPlaceError):  # whoever told it: what is no place leads nowhere
            self.teacher.told(teachers_place.read(message.place) if message.place is not None else None)

    def action_follow_teacher(self) -> None:
        if self.teacher is not None:
            self.teacher.toggle()

    def _show_teacher(self) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, (MainScreen, LessonScreen, PagesScreen)):
                screen.show_teacher(self.teacher.sign if self.teacher is not None else "")

    def _catch_up(self) -> None:
        if self.teacher is not None and self.main.columns.rendered:
            self.teacher.catch_up()

    def _tell_place(self) -> None:
        place = going_along.place_of(self) if self.main.columns.rendered else None
        if place is not None and place != self._told:
            self._told = place
            visitor_driver.tell_place(self, place.as_text())


def _writes(event: events.Event, focused: Widget | None) -> bool:
    """Whether an event changes the text that has the focus."""
    if not isinstance(focused, TextArea) or focused.read_only:
        return False
    return isinstance(event, events.Paste) or (
        isinstance(event, events.Key) and (event.is_printable or event.key in ("enter", "backspace", "delete"))
    )


def visitor_app(orders: Orders) -> VisitorApp:
    """The app as its orders say. Raises `sessions.errors.SessionError` for a session that cannot be read."""
    if orders.session is None:
        return VisitorApp(replace(examples.load(examples.FIRST), model="offline/exact"), None, orders)
    path = orders.files / orders.session
    found = store.open_file(path)
    return VisitorApp(found.session, path, orders, found.fingerprint)


def main() -> int:
    """Runs the app until its visitor leaves, and returns its exit code."""
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
    """What the process and its children may each ask for, and how long a file may become; past it they are told.

    Where the system allows the server less, that stays: whoever asks for more than his own limit gets none at all.
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
