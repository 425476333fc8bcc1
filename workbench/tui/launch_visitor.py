"""Run the app for a seat of `workbench serve`, as `python -P -m workbench.tui.launch_visitor ORDERS`.

Limits are set before the session is opened: memory, `serving.walls`, and the app's `Confinement`.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cache, partial
from pathlib import Path

from textual import events
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import TextArea

from adapters.late_dataclasses import replace
from sessions import examples
from sessions.file import store
from sessions.model.session import Session
from workbench.config.confinement import Confinement
from workbench.serving import messages, walls
from workbench.serving.messages import EXAMPLE, MOST_STEPS, WHOLE, Controls, MessageError, Orders, TeachersPlace
from workbench.tui.actions import files, looking
from workbench.tui.app import WorkbenchApp
from workbench.tui.host import Host
from workbench.tui.keys import keys_of
from workbench.tui.launch import opened, run
from workbench.tui.panes.editors import EDITORS
from workbench.tui.screens.lesson import LessonScreen
from workbench.tui.screens.main import MainScreen
from workbench.tui.screens.pages import PAGES, PagesScreen
from workbench.tui.teacher import Teacher
from workbench.tui.textual_internals import visitor_driver
from workbench.tui.widgets.prompt.prompt_section import Origin
from workbench.tui.widgets.prompt.prompt_view import PromptView
from workbench.tui.widgets.reply.field_table import FieldTable
from workbench.tui.widgets.reply.reply_view import ReplyView


def place_of(host: Host) -> TeachersPlace | None:
    """Return the position of this app; None while a dialog is open, which followers cannot open."""
    screen, main = host.app.screen, host.main
    session, case, tab = session_of(host), host.document.state.case.name, main.editors.tab
    if isinstance(screen, LessonScreen):
        column, part = screen.rendered.column.id, "reply" if screen.is_at_reply else "prompt"
        # each screen scrolls to the step's text
        return TeachersPlace(session, case, column, tab, "lesson", part, step=screen.at)
    if isinstance(screen, PagesScreen):
        column, page = screen.at.column.id, screen.page
        return TeachersPlace(session, case, column, tab, "pages", page=page, scrolled=_scrolled(screen.text))
    if screen is not main:
        return None
    current, focused = main.columns.current, screen.focused
    column = current.column_id if current is not None else ""
    if current is not None and isinstance(focused, PromptView):
        kind, field, turn = current.prompt.origin_at_cursor or ("", None, "")
        at = TeachersPlace(session, case, column, tab, part="prompt", kind=kind, field=field or "", turn=turn)
        return replace(at, scrolled=_scrolled(current.prompt))
    if current is not None and isinstance(focused, (ReplyView, FieldTable)):
        return TeachersPlace(session, case, column, tab, part="reply", scrolled=_scrolled(current.reply))
    return TeachersPlace(session, case, column, tab)


def session_of(host: Host) -> str:
    """Return the name of the open file or example; "" for a session that other participants do not have."""
    path = host.document.path
    return path.name if path is not None else _example_called(host.document.session.name)


def go_along(host: Host, place: TeachersPlace, before: TeachersPlace | None) -> str:
    """Go to `place`, moving only what differs from `before`; no session is changed.

    Returns why that is not possible now, or "". Columns and cases that this session lacks are skipped.
    """
    if isinstance(host.app.screen, ModalScreen):
        return "Close the open dialog to follow."
    if place.session != session_of(host):
        kept = _open(host, place.session)
        if kept:
            return kept
        before = None
    names = [one.name for one in host.document.session.cases]
    if place.case in names and place.case != host.document.state.case.name:
        host.main.show_case(names.index(place.case))
    columns, _ = looking.columns_and_current(host)
    lacks_reply = any(one.reading is None for one in columns if one.column.id == place.column)
    if place.screen == "lesson" and place.part == "reply" and lacks_reply:
        close = "Close the lesson and send" if isinstance(host.app.screen, LessonScreen) else "Send"
        return keys_of(host.app)(f"The teacher explains the reply. {close} ({{app.send_all|F5}}): then you follow.")
    if place.screen == "lesson" or (place.screen == "pages" and place.page in PAGES):
        _follow_to_text(host, place)
    elif place.screen == "panes":
        _follow_to_pane(host, place, before)
    return ""


@cache
def _example_called(name: str) -> str:
    return next((EXAMPLE + one for one in examples.ALL if examples.load(one).name == name), "")


def _open(host: Host, session: str) -> str:
    """Open the teacher's session; return why that is not possible, or ""."""
    example = session.removeprefix(EXAMPLE) if session.startswith(EXAMPLE) else ""
    if not session or (example and example not in examples.ALL):
        return "The teacher has a session open that you do not have."
    if host.document.dirty or host.document.state.drafts:
        name = example or session
        keep = keys_of(host.app)("Save ({app.save|ctrl+s}) to follow.")
        return f"The teacher is in {name}; your changes here are not saved. {keep}"
    if host.main.runs.active:
        return f"The teacher is in {example or session}; you follow when your runs have ended."
    if example:
        host.load(examples.load(example), None)
        return ""
    folder = host.confinement.folder
    if folder is None or not (folder / session).is_file():
        return f"The teacher is in {session}, which is not among your files."
    return "" if files.open_path(host, folder / session) else f"{session} could not be opened."


def _follow_to_text(host: Host, place: TeachersPlace) -> None:
    kind = LessonScreen if place.screen == "lesson" else PagesScreen
    shown = host.app.screen
    is_from_before = place.part == "reply" and isinstance(shown, LessonScreen) and not shown.has_reply(place.column)
    _close(host, but=None if is_from_before else kind)  # a lesson that was opened before the reply has no steps of it
    if not isinstance(host.app.screen, kind):
        if kind is LessonScreen:
            looking.open_lesson(host, place.step)
        else:
            looking.open_pages(host, place.page)
    screen = host.app.screen
    if not isinstance(screen, (LessonScreen, PagesScreen)):
        return  # there is no column to show

    def arrive() -> None:
        if isinstance(screen, LessonScreen):
            screen.go_to(place.column, place.step)
        else:
            screen.turn_to(place.column)
            screen.action_page(place.page)
            _scroll(screen.text, place)

    screen.call_after_refresh(arrive)  # a new screen has no content yet


def _follow_to_pane(host: Host, place: TeachersPlace, before: TeachersPlace | None) -> None:
    _close(host)
    main = host.main
    ids = host.main.columns.ids
    is_elsewhere = before is None or (before.part, before.column, before.screen) != (
        place.part,
        place.column,
        place.screen,
    )
    if place.part == "editors":
        if place.tab in EDITORS and (is_elsewhere or (before is not None and before.tab != place.tab)):
            main.editors.focus_on(place.tab)
        if place.column in ids:
            main.columns.turn_to(place.column)
        return
    if place.column not in ids:
        return
    if is_elsewhere:
        main.columns.focus_on(place.column, PromptView if place.part == "prompt" else ReplyView)
    pane = main.columns.column(place.column)
    if pane is None:
        return
    view = pane.prompt if place.part == "prompt" else pane.reply
    if before is None or before.scrolled != place.scrolled:
        _scroll(view, place)
    origin = _origin(place)
    if origin is not None and (before is None or origin != _origin(before)):
        main.point_at(place.column, origin)


def _origin(place: TeachersPlace) -> Origin | None:
    return Origin(place.kind, place.field or None, place.turn) if place.part == "prompt" and place.kind else None


def _close(host: Host, but: type[Widget] | None = None) -> None:
    """Close an open lesson or page, unless its class is `but`."""
    screen = host.app.screen
    if isinstance(screen, (LessonScreen, PagesScreen)) and (but is None or not isinstance(screen, but)):
        screen.dismiss(None)


def _scrolled(widget: Widget) -> int:
    return round(WHOLE * widget.scroll_y / widget.max_scroll_y) if widget.max_scroll_y else 0


def _scroll(widget: Widget, place: TeachersPlace) -> None:
    """Scroll to the teacher's position once the content is laid out."""
    widget.call_after_refresh(
        lambda: widget.scroll_to(y=round(place.scrolled * widget.max_scroll_y / WHOLE), animate=False, force=True)
    )


LOOKS_S = 0.2
"""Seconds between updates of the teacher's position, the page's buttons and following."""


class VisitorApp(WorkbenchApp):
    """The app in the folder of a seat, which may start in a lesson; the teacher's app publishes its position."""

    def __init__(
        self, session: Session, path: Path | None, orders: Orders, fingerprint: store.Fingerprint | None = None
    ) -> None:
        confinement = Confinement(orders.files, orders.models, orders.runs_mb)
        super().__init__(
            session, path, fingerprint=fingerprint, confinement=confinement, is_projected=orders.is_projected
        )
        self._lesson = orders.lesson
        self._leads = orders.leads
        self._told: TeachersPlace | None = None
        self._shown = Controls()
        """The buttons last sent to the page."""
        if not self._leads:
            go = partial(go_along, self)
            self.teacher = Teacher(self, go, self._show_teacher, is_followed=orders.lesson is not None)

    def on_mount(self) -> None:
        self.set_interval(LOOKS_S, self._look)

    def on_main_screen_showed(self) -> None:
        if self._lesson is not None and self.main.columns.rendered:
            step, self._lesson = self._lesson, None
            looking.open_lesson(self, step - 1)
            if self.teacher is not None:
                self.teacher.told(self.teacher.place)  # the teacher's place arrives before there is a page

    async def on_event(self, event: events.Event) -> None:
        """Stop following when the participant types, so that the edited text stays on screen."""
        if self.teacher is not None and self.teacher.is_followed:
            is_typed = isinstance(event, events.Paste)
            if isinstance(event, events.Key):
                is_typed = event.is_printable or event.key in ("enter", "backspace", "delete")
            if is_typed and isinstance(self.focused, TextArea) and not self.focused.read_only:
                self.teacher.stop("You are editing.")
        await super().on_event(event)

    def on_teacher_moved(self, message: visitor_driver.TeacherMoved) -> None:
        if self.teacher is None:
            return
        with suppress(MessageError):  # an invalid place moves nothing
            self.teacher.told(messages.read(TeachersPlace, message.place) if message.place is not None else None)

    def on_button_pressed(self, message: visitor_driver.ButtonPressed) -> None:
        """Handle a press of a page's button; in a lesson, swipes press Back and Next."""
        press, screen = message.press, self.screen
        if press.button == "follow":
            self.action_follow_teacher()
        elif press.button == "lesson":
            looking.open_lesson(self)
            if isinstance(self.screen, LessonScreen) and self.teacher is not None:
                self.teacher.join()
        elif isinstance(screen, LessonScreen):
            step = {"back": screen.at - 1, "next": screen.at + 1}.get(press.button, press.step)
            screen.go_to(screen.rendered.column.id, step)
            if self.teacher is not None:
                self.teacher.step_aside()

    def on_lesson_screen_stepped(self) -> None:
        if self.teacher is not None:
            self.teacher.step_aside("You took a step of your own.")

    def _show_teacher(self) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, (MainScreen, LessonScreen, PagesScreen)):
                screen.show_teacher(self.teacher.sign if self.teacher is not None else "")

    def _look(self) -> None:
        """Follow the teacher, or publish the teacher's position, and update the page's buttons."""
        if not self.main.columns.rendered:
            return
        controls, screen = Controls(teacher=self.teacher.sign if self.teacher is not None else ""), self.screen
        if isinstance(screen, LessonScreen):
            titles = tuple(step.title for step in screen.steps[:MOST_STEPS])
            controls = Controls(titles, max(0, min(screen.at, len(titles) - 1)), controls.teacher)
        if controls != self._shown:
            self._shown = controls
            visitor_driver.tell(messages.CONTROLS, messages.as_text(controls))
        if self.teacher is not None:
            self.teacher.catch_up()
        place = place_of(self) if self._leads else None
        if place is not None and place != self._told:
            self._told = place
            visitor_driver.tell(messages.PLACE, messages.as_text(place))


def visitor_app(orders: Orders) -> VisitorApp:
    """Make the app for `orders`. Raises `sessions.errors.SessionError` if the session cannot be read."""
    if orders.session is None:
        return VisitorApp(*opened(None), orders)
    path = orders.files / orders.session
    found = store.open_file(path)
    return VisitorApp(found.session, path, orders, found.fingerprint)


def main() -> int:
    """Run the app with the orders on the command line; return its exit code."""
    orders = Orders.read(sys.argv[1])
    _limit(1024, orders.disk_mb)
    os.nice(5)  # so that the server still responds with thirty apps
    try:
        log = os.open(orders.home / "stderr.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError:  # the disk is full
        log = os.open(os.devnull, os.O_WRONLY)
    os.dup2(log, 2)  # Python's tracebacks do not belong on the teacher's terminal
    most_bytes = (orders.disk_mb - orders.runs_mb) * walls.MEGABYTE
    walls.put_up(Path(orders.folder), most_bytes, calls_models=bool(orders.models))
    return run(visitor_app(orders))


def _limit(memory_mb: int, disk_mb: int) -> None:
    """Limit the memory of this process and its children, and the size of files.

    The server's hard limits stay if they are lower: a process cannot raise them.
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
