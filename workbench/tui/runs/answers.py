"""What the reply on screen answers: the request that was sent for it, and the run that brought it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.model.session import Column
from workbench.state.derived import RenderedColumn
from workbench.state.document import State
from workbench.tui.runs.runs import ColumnRun, Runs

if TYPE_CHECKING:
    from adapters.requests.request import Request


class Answers:
    """For the session that is open; `runs` are its runs."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self.requests: dict[tuple[str, str], Request] = {}
        """By case and column what was sent last, answered or not."""
        self._answered: dict[tuple[str, str], Request] = {}
        """By case and column what the reply that was sent for answers."""

    def sent(self, state: State, rendered: RenderedColumn) -> None:
        """A column of the case on screen is sent as it stands."""
        if rendered.request is not None:
            self.requests[state.case.name, rendered.column.id] = rendered.request

    def came(self, run: ColumnRun) -> None:
        """A run has brought its reply."""
        asked = self.requests.get((run.case, run.column))
        if asked is not None:
            self._answered[run.case, run.column] = asked

    def clear(self) -> None:
        """Another session is open now."""
        self.requests.clear()
        self._answered.clear()

    def run_of(self, state: State, column: Column) -> ColumnRun | None:
        """The last run of a column, unless its reply is not the one on screen (any more: its sending was undone), or
        it brought none and was of another model: that one's failure says nothing about this one."""
        run = self._runs.of(state.case.name, column.id)
        if run is None or run.phase == "running":
            return run
        if run.reply is None:
            return run if run.model == state.session.model_of(column) else None
        shown = state.case.replies.get(column.id)
        return run if shown is not None and shown.text == run.reply.text else None

    def is_outdated(self, state: State, rendered: RenderedColumn) -> bool:
        """Whether the reply on screen answers another prompt than the one above it, or is another model's."""
        reply = rendered.reply
        if reply is not None and reply.source == "sent" and reply.model is not None:
            if reply.model != state.session.model_of(rendered.column):
                return True
        answered = self._answered.get((state.case.name, rendered.column.id))
        if answered is None or rendered.request is None or reply is None or reply.source == "pasted":
            return False
        return not answered.asks_the_same(rendered.request)
