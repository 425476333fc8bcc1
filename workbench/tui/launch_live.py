"""Start the app on the calls of a running program."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from sessions.model.session import DEFAULT_COLUMNS, Session, SignatureText
from workbench.tui.actions.files import NEW
from workbench.tui.actions.past_runs import look_at_runs
from workbench.tui.app import WorkbenchApp
from workbench.tui.dialogs.sent_runs import PROGRAM
from workbench.tui.launch import run
from workbench.tui.runs.run_history import LiveCalls, RunHistory

LAST_OUTPUT = 4_000
"""Bytes of the program's standard error that are shown while it makes no call."""


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


def show_calls(program: Sequence[str], process: subprocess.Popen[bytes], calls: Path, errors: Path) -> int:
    """Show the calls that a program stores in the file `calls`, until the user quits; return the app's exit code."""
    command = " ".join([os.path.basename(program[0]), *program[1:]])

    def about() -> str:
        code = process.poll()
        return f"{command} {'is running' if code is None else f'ended with {code}'}"

    def output() -> str:
        with errors.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - LAST_OUTPUT))
            return file.read().decode("utf-8", "replace")

    return run(LiveApp(LiveCalls(calls, about, output)))
