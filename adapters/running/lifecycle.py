"""Track an active run: its events, attempts and deadline."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NoReturn

from adapters.errors import Phase, RunError
from adapters.lm import interruption
from adapters.replies.reading import Reading
from adapters.running import events
from adapters.running.runs import Attempt, Purpose, Run

NOTHING: Mapping[str, Any] = MappingProxyType({})


class StopError(Exception):
    """Ends the run with `error`."""

    def __init__(self, error: RunError, reading: Reading | None = None, cancelled: bool = False) -> None:
        super().__init__(error.message)
        self.error = error
        self.reading = reading
        self.cancelled = cancelled


class Lifecycle:
    """The events and attempts of a run so far, and its deadline."""

    def __init__(
        self,
        listeners: tuple[events.Listener, ...],
        clock: Callable[[], float],
        deadline_s: float | None,
        cancel: threading.Event | None,
    ) -> None:
        self._listeners = listeners
        self._clock = clock
        self._start = clock()
        self._deadline_s = deadline_s
        self._free_s = 0.0
        self.cancel = cancel
        self.events: list[events.Event] = []
        self.attempts: list[Attempt] = []
        self.listener_errors: list[Exception] = []
        self.tool_turns: list[Mapping[str, Any]] = []
        self.number = 1
        self.purpose: Purpose = "first"

    def seconds(self) -> float:
        return self._clock() - self._start

    def now(self) -> dict[str, Any]:
        return {"at": self.seconds(), "attempt": self.number}

    def emit(self, event: events.Event) -> None:
        self.events.append(event)
        for listener in self._listeners:
            try:
                listener(event)
            except Exception as error:  # a listener's error must not end the run; it is collected
                self.listener_errors.append(error)

    def interrupted(self) -> interruption.Reason | None:
        if self.cancel is not None and self.cancel.is_set():
            return "cancelled"
        spent = self.seconds() - self._free_s
        return "deadline" if self._deadline_s is not None and spent >= self._deadline_s else None

    def give_back(self, seconds: float) -> None:
        """Extend the deadline by `seconds` that the run did not spend itself."""
        self._free_s += seconds

    def next(self, purpose: Purpose) -> None:
        """Prepare the next call."""
        self.number = len(self.attempts) + 1
        self.purpose = purpose

    def check(self, message: str, phase: Phase) -> None:
        """Stop a run that was cancelled or (with `message`) is past its deadline."""
        reason = self.interrupted()
        if reason is not None:
            self.stop_for(reason, message, phase)

    def stop_for(self, reason: interruption.Reason, message: str, phase: Phase) -> NoReturn:
        if reason == "cancelled":
            raise StopError(RunError("Cancelled.", phase, self.number), cancelled=True)
        raise StopError(RunError(message, phase, self.number, {"deadline_seconds": self._deadline_s}))

    def ended(self, values: tuple[Mapping[str, Any], ...], stop: StopError | None = None) -> Run:
        """End the run, with values or with the error of `stop`."""
        first = values[0] if values else NOTHING
        error = None if stop is None else stop.error
        if error is None:
            self.emit(events.PromptExecuted(**self.now(), values=first))
        else:
            self.emit(events.Failed(**self.now(), phase=error.phase, message=error.message, payload=error.payload))
        happened, attempts, turns = tuple(self.events), tuple(self.attempts), tuple(self.tool_turns)
        cancelled, errors = stop is not None and stop.cancelled, tuple(self.listener_errors)
        return Run(error is None, first, happened, attempts, error, cancelled, values, errors, turns)
