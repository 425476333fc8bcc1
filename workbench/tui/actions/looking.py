"""Screens that look closer at one column: its lesson, and the pages about its adapter, request and runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.state.document import Place
from workbench.state.live import LiveColumn
from workbench.tui.pages.looked_at import LookedAt
from workbench.tui.screens.lesson import LessonScreen
from workbench.tui.screens.pages import PagesScreen

if TYPE_CHECKING:
    from workbench.tui.app import WorkbenchApp


def open_lesson(app: WorkbenchApp) -> None:
    """Lesson mode for the column with the focus; closes the one that is open."""
    if isinstance(app.screen, LessonScreen):
        app.screen.dismiss(None)
    elif len(app.screen_stack) == 1:
        columns, index = columns_and_current(app)
        if columns:
            app.push_screen(LessonScreen(columns, index))


def open_pages(app: WorkbenchApp, page: str) -> None:
    """A closer look at the column with the focus; another page of the look that is open."""
    if isinstance(app.screen, PagesScreen):
        app.screen.action_page(page)
        return
    found, index = columns_and_current(app)
    if len(app.screen_stack) > 1 or not found:
        return

    def look(step: int) -> LookedAt:
        state = app.document.state
        columns = columns_and_current(app)[0]
        runs = {one.column.id: app.main.runs.of(state.case.name, one.column.id) for one in columns}
        known = {id: run for id, run in runs.items() if run is not None}
        sent = {id: request for (case, id), request in app.main.requests.items() if case == state.case.name}
        shown = columns[(index + step) % len(columns)]
        return LookedAt(state.session, state.case, shown, tuple(columns), known, sent, app.key_words)

    def go(place: Place | None) -> None:
        if place is not None:
            app.main.go_to(place)

    app.push_screen(PagesScreen(look, page), go)


def columns_and_current(app: WorkbenchApp) -> tuple[list[LiveColumn], int]:
    """Every column as it is now, and the place of the one with the focus."""
    columns = app.main.columns.lives
    current = app.main.shown_column()
    index = next((number for number, one in enumerate(columns) if current is not None and one is current), 0)
    return columns, index
