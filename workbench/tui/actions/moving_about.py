"""The app's actions for hands on the keyboard: other views, jumps, searches, and what was there before."""

from __future__ import annotations

from collections.abc import Coroutine
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.screen import ModalScreen
from textual.widget import Widget

from workbench.state.document import Document
from workbench.tui.runs.runs import RunEnded
from workbench.tui.screens.main import MainScreen
from workbench.tui.widgets.text.plain import plain_notify

if TYPE_CHECKING:
    from workbench.tui.runs.run_history import RunHistory

    _Base = App[int]
else:
    _Base = object


class MovingAbout(_Base):
    """To be put in front of an app's base class."""

    main: MainScreen
    document: Document
    _keep: bool

    if TYPE_CHECKING:

        def _ask(self, dialog: Coroutine[Any, Any, Any]) -> None: ...

    def action_find(self) -> None:
        from workbench.tui.actions import finding

        self._ask(finding.find_anywhere(self))  # type: ignore[arg-type]

    def action_jump(self) -> None:
        from workbench.tui.dialogs.jump import JumpScreen, targets_of

        def go(widget: Widget | None) -> None:
            if widget is not None and widget.is_attached:
                widget.focus()

        if not isinstance(self.screen, ModalScreen):
            self.push_screen(JumpScreen(targets_of(self.screen)), go)

    @cached_property
    def past_runs(self) -> RunHistory:
        """What was sent for the session that is open."""
        from workbench.tui.runs.run_history import RunHistory

        history = RunHistory(self._keep)
        history.open(self.document.path)
        return history

    def on_run_ended(self, message: RunEnded) -> None:
        """The screen has taken note of it; here it is kept for later."""
        from workbench.tui.runs.run_history import past

        run = self.main.runs.numbered(message.number)
        if run is not None and run.phase != "running":
            why_not = self.past_runs.add(past(run, datetime.now()))
            if why_not:
                plain_notify(self, f"{why_not}. It is here until you leave.", title="Run not kept", severity="warning")

    def action_past_runs(self) -> None:
        from workbench.tui.actions import past_runs

        self._ask(past_runs.look_at_runs(self))  # type: ignore[arg-type]

    def action_rate(self) -> None:
        from workbench.tui.actions import past_runs

        self._ask(past_runs.rate_reply(self))  # type: ignore[arg-type]

    def action_signature_view(self) -> None:
        self.main.open_tab("signature")
        self.main.signature.show_next_view()
