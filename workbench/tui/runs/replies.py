"""Send columns, show replies as they arrive, store them in the document, and rate them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from textual.content import Content

from adapters.errors import PromptNotMadeError
from adapters.late_dataclasses import dataclass, field, replace
from sessions.model.replies import Rating, Reply
from workbench.editing import edits
from workbench.output.display import one_line
from workbench.state.document import Document, Place, RenderedColumn, State
from workbench.tui.messages import Edit
from workbench.tui.runs.runs import ColumnRun, Order, RunEnded, RunProgress, Runs
from workbench.tui.widgets.text.plain import QUIET, lines

if TYPE_CHECKING:
    from adapters.requests.request import Request

STREAM_SECONDS = 0.05
"""Seconds between painting two columns while replies stream in."""


@dataclass(eq=False)
class Replies:
    """The replies of the open document.

    `edit` changes the document, `paint` shows the text received for a run and returns whether there was any, and
    `later` calls a function after some seconds.
    """

    _document: Document
    _runs: Runs
    _edit: Edit
    _paint: Callable[[ColumnRun], bool]
    _later: Callable[[float, Callable[[], None]], object]
    _batch: int = 0
    """Number of sends so far; undo removes the replies of a send together."""
    _arrived: dict[int, None] = field(default_factory=dict)
    """Numbers of runs with text that is not painted yet, oldest first."""
    requests: dict[tuple[str, str], Request] = field(default_factory=dict)
    """The last request for each case and column, answered or not."""
    _asked: dict[str, Request] = field(default_factory=dict)
    """Known requests by `Reply.request_digest`."""
    _digests: dict[str, tuple[Request, str]] = field(default_factory=dict)
    """The last digest computed for each column, with its request."""

    def send(self, columns: Iterable[RenderedColumn], order: Order) -> None:
        """Send columns of the current case in their present state."""
        state = self._document.state
        self._batch += 1
        for one in columns:
            self._runs.start(state, one.column, order)
            if one.request is not None:
                self.requests[state.case.name, one.column.id] = one.request

    def cancel(self) -> bool:
        """Cancel active runs and keep their partial replies; return False if there were none."""
        cancelled = [run for run in self._runs.active if self._runs.cancel(run.case, run.column)]
        for run in cancelled:
            self._keep(run)
        return bool(cancelled)

    def clear(self) -> None:
        """Forget all runs and requests, because another session was opened."""
        self._runs.clear()
        self.requests.clear()
        self._asked.clear()
        self._digests.clear()

    # -- events of runs

    def arrives(self, message: RunProgress) -> None:
        """Paint received text a column at a time, so that a key waits for one column at most."""
        if not self._arrived:
            self._later(STREAM_SECONDS, self._paint_arrived)
        self._arrived[message.number] = None

    def _paint_arrived(self) -> None:
        is_painted = False
        while self._arrived and not is_painted:
            number = next(iter(self._arrived))
            del self._arrived[number]
            run = self._runs.take(number)
            if run is not None and run.case == self._document.state.case.name:
                is_painted = self._paint(run)
        if self._arrived:
            self._later(STREAM_SECONDS, self._paint_arrived)

    def ended(self, message: RunEnded) -> bool:
        """Store the reply of a run; return False if it was cancelled or replaced."""
        self._runs.take(message.number)
        run = self._runs.end(message)
        if run is not None:
            self._keep(run)
        return run is not None

    def _keep(self, run: ColumnRun) -> None:
        if run.reply is None:
            return
        asked, reply = self.requests.get((run.case, run.column)), run.reply
        if asked is not None:
            digest = asked.digest()
            reply = replace(reply, request_digest=digest)
            shown = {one.request_digest for case in self._document.session.cases for one in case.replies.values()}
            self._asked = {id: one for id, one in self._asked.items() if id in shown}
            self._asked[digest] = asked
        change = partial(edits.set_reply, case=run.case, column=run.column, reply=reply)
        self._edit(change, Place("reply", run.case, row=self._batch), "the replies of a send", typing=True)

    def type_over(self, column: str, text: str, is_new: bool = False) -> None:
        """Store the reply that the user typed or pasted; a new one answers no known prompt."""
        case = self._document.state.case.name
        self._runs.forget(case, column)
        change = partial(edits.edit_reply, case=case, column=column, text=text, is_new=is_new)
        self._edit(change, Place("reply", case, field=column), f"reply of {column}", typing=True)

    def put(self, case: str, column: str, reply: Reply, label: str, kind: str) -> Place:
        """Show a reply from elsewhere under its column; `kind` keeps it apart from other edits for undo."""
        self._runs.forget(case, column)
        place = Place("reply", case, field=f"{column} {kind}".rstrip())
        self._edit(partial(edits.set_reply, case=case, column=column, reply=reply), place, label)
        return place

    # -- the request that a reply answers

    def run_of(self, state: State, rendered: RenderedColumn) -> ColumnRun | None:
        """Return the last run of a column, or None if it is unrelated to the shown prompt and reply.

        It is unrelated if its reply was undone or replaced, if it failed with another model, or if it failed for lack
        of a prompt that the column has now.
        """
        column = rendered.column
        run = self._runs.of(state.case.name, column.id)
        if run is None or run.phase == "running":
            return run
        if run.run is not None and isinstance(run.run.error, PromptNotMadeError) and not rendered.error:
            return None
        if run.reply is None:
            return run if run.model == state.session.model_of(column) else None
        shown = state.case.replies.get(column.id)
        return run if shown is not None and shown.text == run.reply.text else None

    def is_outdated(self, state: State, rendered: RenderedColumn) -> bool:
        """Return whether the shown reply belongs to an earlier prompt or model."""
        reply = rendered.reply
        if reply is not None and reply.is_of_another_model(state.session.model_of(rendered.column)):
            return True
        answered = reply.request_digest if reply is not None else None
        if answered is None or rendered.request is None:
            return False
        asked = self._asked.get(answered)
        if asked is not None:
            return not asked.asks_the_same(rendered.request)
        known = self._digests.get(rendered.column.id)
        if known is None or known[0] is not rendered.request:  # a digest takes milliseconds with many demos
            known = self._digests[rendered.column.id] = (rendered.request, rendered.request.digest())
        if known[1] != answered:
            return True
        self._asked[answered] = rendered.request
        return False


SIGNS: dict[Rating, tuple[str, str]] = {"good": ("★ good", "$text-success"), "bad": ("✗ bad", "$text-error")}


def rating_words(reply: Reply | None) -> Content:
    """Describe rating and note in a few words; empty if there are none."""
    if reply is None:
        return lines()
    sign, style = SIGNS[reply.rating] if reply.rating is not None else ("", "")
    note = one_line(reply.note or "", 60)
    parts = [(f" · {sign}", style)] if sign else []
    return lines(*parts, *([(f" · “{note}”", QUIET)] if note else []))
