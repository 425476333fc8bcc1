"""What is opened to look closer: a column's lesson and pages, the help of a pane, the letters to jump by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.command import CommandPalette
from textual.screen import ModalScreen, Screen
from textual.widget import Widget

from workbench.state.derived import RenderedColumn
from workbench.state.document import Place
from workbench.tui.dialogs.help import HelpScreen
from workbench.tui.dialogs.jump import JumpScreen, targets_of
from workbench.tui.keys.key_words import in_short
from workbench.tui.pages.looked_at import LookedAt
from workbench.tui.screens.lesson import LessonScreen
from workbench.tui.screens.pages import PagesScreen

if TYPE_CHECKING:
    from workbench.tui.host import Host


def open_lesson(host: Host, at: int = 0) -> None:
    """Lesson mode for the column with the focus, at a step (from 0); closes the one that is open."""
    if isinstance(host.app.screen, LessonScreen):
        host.app.screen.dismiss(None)
    elif len(host.app.screen_stack) == 1:
        columns, index = columns_and_current(host)
        if columns:
            host.app.push_screen(LessonScreen(columns, index, at))


def open_pages(host: Host, page: str) -> None:
    """A closer look at the column with the focus; another page of the look that is open."""
    if isinstance(host.app.screen, PagesScreen):
        host.app.screen.action_page(page)
        return
    found, index = columns_and_current(host)
    if len(host.app.screen_stack) > 1 or not found:
        return

    def look(step: int) -> LookedAt:
        state = host.document.state
        columns = columns_and_current(host)[0]
        runs = {one.column.id: host.main.runs.of(state.case.name, one.column.id) for one in columns}
        known = {id: run for id, run in runs.items() if run is not None}
        sent = {id: request for (case, id), request in host.main.replies.requests.items() if case == state.case.name}
        shown = columns[(index + step) % len(columns)]
        painted = {one.column.id: host.main.columns.column(one.column.id) for one in columns}
        counted = {id: one.counted for id, one in painted.items() if one is not None and one.counted is not None}
        return LookedAt(state.session, state.case, shown, tuple(columns), known, sent, host.key_words, counted)

    def go(place: Place | None) -> None:
        if place is not None:
            host.main.go_to(place)

    host.app.push_screen(PagesScreen(look, page), go)


def open_help(host: Host) -> None:
    """The card of the column with the focus; elsewhere, and on that card, what the pane is for and every key.

    Whoever came from a column to its card finds the keys of its prompt or reply there too.
    """
    screen = host.app.screen
    if screen is host.main and host.main.columns.has_focus_within:
        open_pages(host, "card")
        return
    if isinstance(screen, (HelpScreen, CommandPalette)):
        return
    about: list[Screen[Any]] = [host.main, screen] if isinstance(screen, PagesScreen) else [screen]
    pane_help = "\n\n".join([_help_of(one) for one in about])
    bindings = [binding for one in about for binding in one.active_bindings.values()]
    names = {one.binding.key: in_short(one.binding.key) for one in bindings}
    host.app.push_screen(HelpScreen(pane_help, bindings, names))


def _help_of(screen: Screen[Any]) -> str:
    """What the pane with the focus is for; empty where nobody wrote it down."""
    nodes = screen.focused.ancestors_with_self if screen.focused is not None else []
    return next((node.HELP for node in nodes if getattr(node, "HELP", None)), "") or ""


def jump(host: Host) -> None:
    """Letters on everything that takes the focus; one of them goes there."""

    def go(widget: Widget | None) -> None:
        if widget is not None and widget.is_attached:
            widget.focus()

    if not isinstance(host.app.screen, ModalScreen):
        host.app.push_screen(JumpScreen(targets_of(host.app.screen)), go)


def columns_and_current(host: Host) -> tuple[list[RenderedColumn], int]:
    """Every column as it is now, and the place of the one with the focus."""
    columns = host.main.columns.rendered
    current = host.main.shown_column()
    index = next((number for number, one in enumerate(columns) if current is not None and one is current), 0)
    return columns, index
