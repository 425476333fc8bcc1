"""Read and follow the teacher's position, without changing the participant's work."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from textual.screen import ModalScreen
from textual.widget import Widget

from sessions import examples
from workbench.serving.messages import EXAMPLE, WHOLE, TeachersPlace
from workbench.tui.actions import files, looking
from workbench.tui.keys.key_words import keys_of
from workbench.tui.panes.editors import EDITORS
from workbench.tui.screens.lesson import LessonScreen
from workbench.tui.screens.pages import PAGES, PagesScreen
from workbench.tui.widgets.prompt.prompt_view import OriginKey, PromptView
from workbench.tui.widgets.reply.field_table import FieldTable
from workbench.tui.widgets.reply.reply_view import ReplyView

if TYPE_CHECKING:
    from workbench.tui.host import Host


def place_of(host: Host) -> TeachersPlace | None:
    """Return the position of this app; None while a dialog is open, which nobody can follow."""
    screen, main = host.app.screen, host.main
    session, case, tab = session_of(host), host.document.state.case.name, main.editors.tab
    if isinstance(screen, LessonScreen):
        column, step = screen.rendered.column.id, screen.at
        return TeachersPlace(session, case, column, tab, "lesson", step=step, scrolled=_scrolled(screen.text))
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
    """Return the name of the open file or example; "" for a session that nobody else has."""
    path = host.document.path
    return path.name if path is not None else _example_called(host.document.session.name)


def go_along(host: Host, place: TeachersPlace, before: TeachersPlace | None) -> str:
    """Go to `place`; only what differs from `before` moves anything. No session is changed.

    Returns what prevents it, "" once there. Columns and cases that this session lacks are skipped.
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
        host.document.look_at_case(names.index(place.case))
        host.main.show()
    if place.screen == "lesson":
        _to_lesson(host, place)
    elif place.screen == "pages" and place.page in PAGES:
        _to_page(host, place)
    elif place.screen == "panes":
        _to_pane(host, place, before)
    return ""


@cache
def _example_called(name: str) -> str:
    return next((EXAMPLE + one for one in examples.ALL if examples.load(one).name == name), "")


def _open(host: Host, session: str) -> str:
    """Open the teacher's session, unless changes here are not saved."""
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


def _to_lesson(host: Host, place: TeachersPlace) -> None:
    _close(host, but=LessonScreen)
    if not isinstance(host.app.screen, LessonScreen):
        looking.open_lesson(host, place.step)
    screen = host.app.screen
    if not isinstance(screen, LessonScreen):
        return  # there is no column to explain

    def arrive() -> None:
        screen.go_to(place.column, place.step)
        _scroll(screen.text, place)

    screen.call_after_refresh(arrive)  # one that was opened just now has nothing in it yet


def _to_page(host: Host, place: TeachersPlace) -> None:
    _close(host, but=PagesScreen)
    if not isinstance(host.app.screen, PagesScreen):
        looking.open_pages(host, place.page)
    screen = host.app.screen
    if not isinstance(screen, PagesScreen):
        return

    def arrive() -> None:
        screen.turn_to(place.column)
        screen.action_page(place.page)
        _scroll(screen.text, place)

    screen.call_after_refresh(arrive)


def _to_pane(host: Host, place: TeachersPlace, before: TeachersPlace | None) -> None:
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


def _origin(place: TeachersPlace) -> OriginKey | None:
    return (place.kind, place.field or None, place.turn) if place.part == "prompt" and place.kind else None


def _close(host: Host, but: type[Widget] | None = None) -> None:
    """Closes the lesson or the pages that are open, unless that is what is wanted."""
    screen = host.app.screen
    if isinstance(screen, (LessonScreen, PagesScreen)) and (but is None or not isinstance(screen, but)):
        screen.dismiss(None)


def _scrolled(widget: Widget) -> int:
    return round(WHOLE * widget.scroll_y / widget.max_scroll_y) if widget.max_scroll_y else 0


def _scroll(widget: Widget, place: TeachersPlace) -> None:
    """Scroll as far down as the teacher, once the content is laid out."""

    def scroll() -> None:
        widget.scroll_to(y=round(place.scrolled * widget.max_scroll_y / WHOLE), animate=False, force=True)

    widget.call_after_refresh(scroll)
