"""Start the app on the calls of a running program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sessions.model.session import DEFAULT_COLUMNS, Session, SignatureText
from workbench.tui.actions.files import NEW
from workbench.tui.actions.past_runs import look_at_runs
from workbench.tui.app import WorkbenchApp
from workbench.tui.dialogs.sent_runs import PROGRAM
from workbench.tui.launch import run
from workbench.tui.runs.run_history import LiveCalls, RunHistory


class LiveApp(WorkbenchApp):
    """The app with a list of a program's calls in front; alt+h comes back to it."""

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
