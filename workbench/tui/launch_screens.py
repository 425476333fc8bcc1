"""Start the app with a screen in front: the calls of a running program, or a review.

Separate from `launch`, which starts faster without these imports.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sessions.causes.cause import Cause, FixtureName
from sessions.file import store
from sessions.model.session import DEFAULT_COLUMNS, Session, SignatureText
from workbench.checks.decisions import Decisions, KeptDecisions
from workbench.checks.reviewing import Look, Review
from workbench.tui.actions.files import NEW
from workbench.tui.actions.past_runs import look_at_runs
from workbench.tui.app import WorkbenchApp
from workbench.tui.dialogs.sent_runs import PROGRAM
from workbench.tui.launch import run, run_app
from workbench.tui.runs.run_history import LiveCalls, RunHistory
from workbench.tui.screens.review import Left, ReviewScreen
from workbench.tui.textual_internals.terminal import use_our_terminal


class LiveApp(WorkbenchApp):
    """The app with a list of a program's calls in front; alt+h comes back to it."""

    GUIDE = "live"

    def __init__(self, live: LiveCalls) -> None:
        super().__init__(Session(SignatureText(""), columns=DEFAULT_COLUMNS, name=NEW))
        self.past_runs = RunHistory(self.preferences.megabytes_of_runs, live)
        self.past_runs.open(None)

    def _settle(self) -> None:
        super()._settle()
        self.action_everything_sent()

    def action_everything_sent(self) -> None:
        self.ask(look_at_runs(self, PROGRAM))


def show_calls(about: Callable[[], str], calls: Path, output: Callable[[], str]) -> int:
    """Show the calls that programs add to the file `calls`, until the user quits; return the app's exit code."""
    return run(LiveApp(LiveCalls(calls, about, output)))


def run_review(
    found: Review, again: Callable[[], Review], look: Look, of: str, kept: KeptDecisions
) -> tuple[Review, Decisions | None]:
    """Let the user decide on the causes of a review; return the last review and the decisions.

    The decisions are None if the app was terminated. Nothing is written here. To open a fixture, the app is started on
    its session; after that, `again` repeats the review. Raises `sessions.errors.SessionError` if a file cannot be
    opened.
    """
    decisions = Decisions(found.causes)
    at: tuple[Cause, FixtureName] | None = None
    while decisions.causes:
        path = decisions.causes[0].fixtures[0].path
        app = ReviewApp(store.load(path), Path(path), ReviewScreen(decisions, look, of, "writes", kept, at))
        app.preferences.use_config(keep=False)
        use_our_terminal()
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
    """The app on a review screen; it exits with that screen and backs up nothing."""

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
