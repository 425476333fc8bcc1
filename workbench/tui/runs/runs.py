"""Run columns in threads, follow their events, and remember each column's last run.

Nothing ever waits for such a thread. It sends messages with the number of its run to the app; messages of a cancelled
run are dropped.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from textual.message import Message

from adapters.errors import RunError
from adapters.late_dataclasses import dataclass, field
from adapters.running import events
from adapters.running.events import Event, Listener
from adapters.running.runs import Run
from sessions.model.replies import Reply
from sessions.model.session import Column
from workbench.sending.tool_answers import NamedHandler
from workbench.state.document import State

if TYPE_CHECKING:
    from sessions.running.repeats import Repeats
    from workbench.sending.allowed_hosts import AllowedHosts


@dataclass(frozen=True, kw_only=True)
class ToolWaits(Event):
    """The model calls a tool whose result the user must type."""

    name: str


@dataclass(frozen=True, kw_only=True)
class RunRepeated(Event):
    """The next of several runs starts; `number` counts from 1."""

    number: int


OF_ANOTHER_CALL = (events.AskedAgain, events.FallbackStarted, events.ExtractionStarted)
"""Events after which replies are not shown as the column's."""


@dataclass
class Progress:
    """The progress of a run.

    `text` is the reply so far, from the last call made by the column's own adapter. Replies to a fallback or an
    extraction are not shown as the column's reply.
    """

    text: str = ""
    reasoning: str = ""
    """The reasoning so far, in a call that has returned nothing else yet."""
    doing: str = ""
    attempt: int = 1
    number: int = 1
    """The number of this run in a series."""
    loading_s: float = 0.0
    """Seconds spent loading litellm, which do not count for the model."""
    shown: int = 0
    """The attempt that `text` is the reply of."""
    _loads_since: float | None = None
    _is_own: bool = True

    def hear(self, heard: Iterable[Event]) -> None:
        """Update the progress from these events."""
        pieces, thoughts = [self.text], [self.reasoning]
        for event in heard:
            self.attempt = max(self.attempt, event.attempt)
            if isinstance(event, events.ChunkReceived):
                if not self._is_own or event.choice or not (event.text or event.reasoning):
                    continue
                if event.attempt != self.shown:
                    self.shown = event.attempt
                    pieces.clear()
                    thoughts.clear()
                self.doing = "thinking" if event.reasoning and not event.text else ""
                pieces.append(event.text)
                thoughts.append(event.reasoning)
            elif isinstance(event, RunRepeated):
                self.attempt, self.number, self.shown, self._is_own, self.doing = 1, event.number, 0, True, ""
            else:
                self._is_own = self._is_own and not isinstance(event, OF_ANOTHER_CALL)
                if isinstance(event, events.ModelLoading):
                    self._loads_since = event.at
                elif isinstance(event, events.RequestSent) and self._loads_since is not None:
                    self.loading_s += event.at - self._loads_since
                    self._loads_since = None
                self.doing = _doing(event, self.doing)
        self.text = "".join(pieces)
        self.reasoning = "".join(thoughts)


def _doing(event: Event, before: str) -> str:
    """Return a short label for the current step; "" during the first call."""
    if isinstance(event, events.ModelLoading):
        return "loading litellm"
    if isinstance(event, ToolWaits):
        return f"{event.name} waits for you"
    if isinstance(event, events.ToolInvoked):
        return f"{event.name} answered"
    if isinstance(event, events.RetryStarted):
        return f"again in {event.delay_s:.0f} s"
    if isinstance(event, events.AskedAgain):
        return "asks again with the error"
    if isinstance(event, events.FallbackStarted):
        return f"falls back to {event.adapter}"
    if isinstance(event, events.ExtractionStarted):
        return f"{event.model} extracts"
    return "" if isinstance(event, events.RequestSent) and before == "loading litellm" else before


Phase = Literal["running", "done", "failed", "cancelled"]
Send = Callable[[State, Column, Listener, threading.Event], Run]
"""A function that sends a column of the current case and returns the run; may raise `RunError`."""


@dataclass(frozen=True)
class Order:
    """An order to send columns: the function that sends, repeats, and whether to leave replies unparsed."""

    send: Send
    times: int = 1
    raw: bool = False
    path: Path | None = None
    """The file of the session."""


@dataclass
class ColumnRun:
    """The state of a run for display: the text so far, and its outcome."""

    number: int
    case: str
    column: str
    model: str
    started: float
    times: int = 1
    raw: bool = False
    sent: State | None = None
    """The session as it was sent."""
    path: Path | None = None
    phase: Phase = "running"
    progress: Progress = field(default_factory=Progress)
    attempts: int = 1
    run: Run | None = None
    runs: list[Run] = field(default_factory=list)
    """The finished runs of a series; `run` is the last of them."""
    repeats: Repeats | None = None
    """The combined results of a series, once all its runs are over."""
    reply: Reply | None = None
    error: str = ""
    payload: Any = None
    """The data that the provider sent with the error."""
    seconds: float = 0.0
    cancel: threading.Event = field(default_factory=threading.Event)
    unseen: list[Event] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def text(self) -> str:
        """The text of the reply so far."""
        return self.progress.text


def _count(run: ColumnRun) -> None:
    if run.times > 1:
        from sessions.running.repeats import collapse

        run.repeats = collapse(tuple(run.runs))


@dataclass
class RunProgress(Message):
    """Events arrived for a run; `Runs.take` returns them."""

    number: int


@dataclass
class RunEnded(Message):
    """A run is over; if sending raised, `run` is None and `error` is set.

    `of` is the run as shown on screen.
    """

    number: int
    run: Run | None
    error: Exception | None = None
    of: ColumnRun | None = None


@dataclass(eq=False)
class Runs:
    """Start, follow and cancel runs; `post` sends a message to the app from any thread."""

    _post: Callable[[Message], object]
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))
    _by_place: dict[tuple[str, str], ColumnRun] = field(default_factory=dict)

    def start(self, state: State, column: Column, order: Order) -> ColumnRun:
        """Send a column, cancelling its active run if there is one."""
        self.cancel(state.case.name, column.id)
        model = state.session.model_of(column)
        numbers = (order.times, order.raw, state, order.path)
        run = ColumnRun(next(self._numbers), state.case.name, column.id, model, time.monotonic(), *numbers)
        self._by_place[run.case, run.column] = run
        threading.Thread(
            target=self._work, args=(run, state, column, order.send), daemon=True, name=f"run {run.number}"
        ).start()
        return run

    def of(self, case: str, column: str) -> ColumnRun | None:
        return self._by_place.get((case, column))

    @property
    def active(self) -> tuple[ColumnRun, ...]:
        return tuple(run for run in self._by_place.values() if run.phase == "running")

    def cancel(self, case: str, column: str) -> ColumnRun | None:
        """Cancel a run at once and signal its thread to end; return None if it was not active."""
        run = self.of(case, column)
        if run is None or run.phase != "running":
            return None
        self.take(run.number)
        run.phase = "cancelled"
        _count(run)
        run.seconds = time.monotonic() - run.started - run.progress.loading_s
        if run.text:
            run.reply = Reply(run.text, model=run.model, raw=run.raw)
        run.cancel.set()
        return run

    def forget(self, case: str, column: str) -> None:
        """Forget the last run of a column, because the column now shows another reply."""
        run = self.of(case, column)
        if run is not None and run.phase != "running":
            del self._by_place[case, column]

    def rename_case(self, old: str, new: str) -> None:
        for (case, column), run in list(self._by_place.items()):
            if case == old:
                run.case = new
                self._by_place[new, column] = self._by_place.pop((case, column))

    def clear(self) -> None:
        """Cancel and forget all runs, because another session was opened."""
        for run in self.active:
            self.cancel(run.case, run.column)
        self._by_place.clear()

    def take(self, number: int) -> ColumnRun | None:
        """Apply the events received for a run; return None if it is over or was replaced."""
        run = next((one for one in self.active if one.number == number), None)
        if run is None:
            return None
        with run.lock:
            heard, run.unseen = run.unseen, []
        run.progress.hear(heard)
        run.attempts = run.progress.attempt
        return run

    def end(self, message: RunEnded) -> ColumnRun | None:
        """Store the outcome of a run; return None if it was cancelled or replaced.

        The calls of a cancelled run can still be inspected.
        """
        run = next((one for one in self._by_place.values() if one.number == message.number), None)
        if run is None or run.phase != "running":
            if run is not None and message.run is not None and message.run.cancelled:
                run.run = message.run
            return None
        run.run = message.run
        run.seconds = time.monotonic() - run.started - run.progress.loading_s
        failure = message.run.error if message.run is not None else message.error
        run.phase = "failed" if failure is not None else "done"
        if isinstance(failure, RunError):
            run.error = f"{failure.phase}: {failure.message}"
            run.payload = failure.payload
        elif failure is not None:
            run.error = f"{type(failure).__name__}: {failure}"
        if message.run is not None and message.run.attempts:
            run.attempts = len(message.run.attempts)
            from sessions.running.recording import reply_of_run

            run.reply = reply_of_run(message.run, run.model, run.raw)
        _count(run)
        return run

    def _work(self, run: ColumnRun, state: State, column: Column, send: Send) -> None:
        def listen(event: Event) -> None:
            with run.lock:
                run.unseen.append(event)
                is_first = len(run.unseen) == 1
            if is_first:
                self._post(RunProgress(run.number))

        try:
            for number in range(1, run.times + 1):
                if number > 1:
                    listen(RunRepeated(at=0.0, attempt=1, number=number))
                run.runs.append(send(state, column, listen, run.cancel))
                if run.cancel.is_set():
                    break
            ended = RunEnded(run.number, run.runs[-1], of=run)
        except Exception as error:  # a `RunError` or an internal error; both are reported on screen
            ended = RunEnded(run.number, None, error, run)
        self._post(ended)


class AppliedFix(NamedTuple):
    """A fix, the outcome before it, and the source of that reply, "" without one."""

    message: str
    before: str
    source: str


@dataclass
class SendSetup:
    """The app's settings for sending; anything slow to import or build is created at the first send."""

    sender: Send | None = None
    """A replacement for the model, used in tests; None sends to the model."""
    tool_handlers: Mapping[str, NamedHandler] = field(default_factory=dict)
    """Functions that answer tools of the open session, by tool; named by the user."""
    fixed: dict[str, AppliedFix] = field(default_factory=dict)
    """The fix applied to each column since its last run."""
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)
    """A lock held while the user is asked for a tool result, so that questions come one at a time."""

    @cached_property
    def hosts(self) -> AllowedHosts:
        """Hosts that may receive an API key."""
        from workbench.sending.allowed_hosts import AllowedHosts

        return AllowedHosts()
