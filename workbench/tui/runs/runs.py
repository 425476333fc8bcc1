"""Runs under way and the last one of each column. Each run has a thread of its own that nothing ever waits for.

The thread speaks to the app by messages that carry the number of the run; what a cancelled run still says is dropped.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any, Literal

from textual.message import Message

from adapters.errors import RunError
from adapters.running.events import Event, Listener
from adapters.running.runs import Run
from sessions.model.replies import Reply
from sessions.model.session import Column
from workbench.state.document import State
from workbench.tui.runs.run_progress import Progress, RunRepeated

if TYPE_CHECKING:
    from sessions.running.repeats import Repeats

Phase = Literal["running", "done", "failed", "cancelled"]
Send = Callable[[State, Column, Listener, threading.Event], Run]
"""Sends one column of the case on screen and returns when it is done; raises nothing on purpose."""


@dataclass(frozen=True)
class Order:
    """How columns are sent: by what, how often in a row, and whether the reply is kept unread."""

    send: Send
    times: int = 1
    raw: bool = False


@dataclass
class ColumnRun:
    """One run as the screen sees it: what has arrived, and how it ended."""

    number: int
    case: str
    column: str
    model: str
    started: float
    times: int = 1
    raw: bool = False
    phase: Phase = "running"
    progress: Progress = field(default_factory=Progress)
    attempts: int = 1
    run: Run | None = None
    runs: list[Run] = field(default_factory=list)
    """Those that have ended, of several in a row the last of which is `run`."""
    repeats: Repeats | None = None
    """What several runs have in common, once they are over."""
    reply: Reply | None = None
    error: str = ""
    payload: Any = None
    """What the provider sent with the error."""
    seconds: float = 0.0
    cancel: threading.Event = field(default_factory=threading.Event)
    unseen: list[Event] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def text(self) -> str:
        """What has arrived of the reply."""
        return self.progress.text


def _count(run: ColumnRun) -> None:
    if run.times > 1:
        from sessions.running.repeats import collapse

        run.repeats = collapse(tuple(run.runs))


class RunProgress(Message):
    """Something arrived for a run; `Runs.take` gives what."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


class RunEnded(Message):
    """A run is over. `run` is None when it ended by a mistake of ours, which `error` is."""

    def __init__(self, number: int, run: Run | None, error: Exception | None = None) -> None:
        super().__init__()
        self.number = number
        self.run = run
        self.error = error


class Runs:
    """`post` puts a message to the app from any thread."""

    def __init__(self, post: Callable[[Message], object], clock: Callable[[], float] = time.monotonic) -> None:
        self._post = post
        self._clock = clock
        self._numbers = count(1)
        self._by_place: dict[tuple[str, str], ColumnRun] = {}

    def start(self, state: State, column: Column, order: Order) -> ColumnRun:
        """Sends a column; a run of it that is still under way is cancelled."""
        self.cancel(state.case.name, column.id)
        model = state.session.model_of(column)
        numbers = (order.times, order.raw)
        run = ColumnRun(next(self._numbers), state.case.name, column.id, model, self._clock(), *numbers)
        self._by_place[run.case, run.column] = run
        threading.Thread(
            target=self._work, args=(run, state, column, order.send), daemon=True, name=f"run {run.number}"
        ).start()
        return run

    def of(self, case: str, column: str) -> ColumnRun | None:
        return self._by_place.get((case, column))

    def numbered(self, number: int) -> ColumnRun | None:
        """The run of that number, unless another one of its column has taken its place."""
        return next((one for one in self._by_place.values() if one.number == number), None)

    @property
    def active(self) -> tuple[ColumnRun, ...]:
        return tuple(run for run in self._by_place.values() if run.phase == "running")

    def cancel(self, case: str, column: str) -> ColumnRun | None:
        """Stops listening to the run at once, and tells its thread to end. None when there was none under way."""
        run = self.of(case, column)
        if run is None or run.phase != "running":
            return None
        self.take(run.number)
        run.phase = "cancelled"
        _count(run)
        run.seconds = self._clock() - run.started - run.progress.loading_s
        if run.text:
            run.reply = Reply(run.text, model=run.model, raw=run.raw)
        run.cancel.set()
        return run

    def forget(self, case: str, column: str) -> None:
        """The column shows another reply now, so how the run ended says nothing about it."""
        run = self.of(case, column)
        if run is not None and run.phase != "running":
            del self._by_place[case, column]

    def rename_case(self, old: str, new: str) -> None:
        for (case, column), run in list(self._by_place.items()):
            if case == old:
                run.case = new
                self._by_place[new, column] = self._by_place.pop((case, column))

    def clear(self) -> None:
        """Cancels everything: another session is open now."""
        for run in self.active:
            self.cancel(run.case, run.column)
        self._by_place.clear()

    def take(self, number: int) -> ColumnRun | None:
        """The run with all that has arrived of its reply; None if the run is over or replaced."""
        run = self._current(number)
        if run is None:
            return None
        with run.lock:
            events, run.unseen = run.unseen, []
        run.progress.hear(events)
        run.attempts = run.progress.attempt
        return run

    def end(self, message: RunEnded) -> ColumnRun | None:
        """Takes note of how a run ended; None when it was cancelled or replaced meanwhile.

        The calls of a cancelled one are there to be looked at all the same.
        """
        run = self._current(message.number)
        if run is None:
            cancelled = self.numbered(message.number)
            if cancelled is not None and message.run is not None and message.run.cancelled:
                cancelled.run = message.run
            return None
        run.run = message.run
        run.seconds = self._clock() - run.started - run.progress.loading_s
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

    def _current(self, number: int) -> ColumnRun | None:
        return next((one for one in self.active if one.number == number), None)

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
            ended = RunEnded(run.number, run.runs[-1])
        except Exception as error:  # a mistake of ours in a thread: it is reported on the screen
            ended = RunEnded(run.number, None, error)
        self._post(ended)
