"""Starting the app on a session or on a review, and what it ends with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from sessions.causes.cause import Cause, FixtureName
from sessions.file import autosave, store
from sessions.model.session import Session
from workbench.checks.decisions import Decisions
from workbench.checks.reviewing import Look, Review
from workbench.tui.app import WorkbenchApp
from workbench.tui.screens.review import Left, ReviewScreen


def run_app(path: str | None = None, session: Session | None = None, **options: Any) -> int:
    """Runs the app on the session in `path`, by default on the first example, and returns its exit code.

    `session` is one that has no file yet, in the place of the example. Raises `sessions.errors.SessionError`
    when the file cannot be opened.
    """
    if session is not None:
        app = WorkbenchApp(session, None, **options)
    elif path is None:
        app = WorkbenchApp(*opened(None), **options)
    else:
        found = store.open_file(path)
        app = WorkbenchApp(found.session, Path(path), fingerprint=found.fingerprint, **options)
    app.preferences.use_config()
    code = app.run()
    autosave.close()
    return code if code is not None else (app.return_code or 0)


def opened(path: str | None) -> tuple[Session, Path | None]:
    """The session to start with, and its file if it has one."""
    from sessions import examples

    if path is None:
        return replace(examples.load(examples.FIRST), model="offline/exact"), None
    return store.load(path), Path(path)


def run_review(found: Review, again: Callable[[], Review], look: Look, of: str) -> tuple[Review, Decisions | None]:
    """Has the causes that a review found decided on the screen, and returns the review that was last decided on.

    No decisions: it was ended from outside. Nothing is written here. A fixture that is looked at opens the app on its
    session; when that is left, the review goes on with what there is `again`. Raises `sessions.errors.SessionError`
    when a file cannot be opened any more.
    """
    decisions = Decisions(found.causes)
    at: tuple[Cause, FixtureName] | None = None
    while decisions.causes:
        path = decisions.causes[0].fixtures[0].path
        app = ReviewApp(store.load(path), Path(path), ReviewScreen(decisions, look, of, "writes", at))
        app.preferences.use_config(keep=False)
        app.run()
        if app.left is None:
            return found, None
        decisions, at = app.left
        if at is None:
            break
        run_app(at[1].path, start_at=at[1])
        found = again()
        decisions = decisions.over(found.causes)
    return found, decisions


class ReviewApp(WorkbenchApp):
    """The app with a review in front of a session's panes; it ends when the review is left, and keeps no work."""

    def __init__(self, session: Session, path: Path, screen: ReviewScreen) -> None:
        super().__init__(session, path, keep=False)
        self._review = screen
        self.left: Left | None = None

    def on_mount(self) -> None:
        self.push_screen(self._review, self._end)

    def _settle(self) -> None:
        self.preferences.settle()

    def _end(self, left: Left | None) -> None:
        self.left = left
        self.exit(0)
