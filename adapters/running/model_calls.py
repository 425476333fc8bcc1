"""Track a run, call its model, and record every attempt."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NoReturn

from adapters.errors import Phase, RunError
from adapters.late_dataclasses import dataclass
from adapters.lm import interruption
from adapters.lm.protocol import LM, Chunk, Collector, Completion, ErrorKind, LoadsFirst, ProviderError, ToolCallPart
from adapters.lm.worker.replies import CallPiece
from adapters.replies.reading import Reading
from adapters.running import events
from adapters.running.runs import Attempt, Purpose, Run

WORTH_ANOTHER: frozenset[ErrorKind] = frozenset(
    {"rate limit", "overloaded", "server", "network", "timeout", "interrupted", "child"}
)
"""Failures worth a retry, as they may pass by themselves."""

UNBILLED: frozenset[ErrorKind] = frozenset(
    {"key", "model", "context", "request", "rate limit", "quota", "overloaded", "network", "address", "setup"}
)
"""Failures before a model was at work, so that nothing is billed; some vendors bill a refused prompt."""

LONGEST_WAIT_S = 60.0
"""The longest wait before a retry; a server that asks for more is not asked again."""

TOO_LATE = "Deadline expired before provider request."
WHILE_ANSWERING = "Deadline expired while the model was answering."


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


@dataclass(frozen=True)
class ModelCalls:
    """Calls of a model; `retries` is the number of further tries after a passing failure."""

    lifecycle: Lifecycle
    lm: LM
    retries: int = 0

    def call(self, adapter: str, body: Mapping[str, Any]) -> tuple[Completion, ...]:
        """Return the completions; every try is recorded as an attempt, failed or not. Raises StopError."""
        for tried in range(self.retries + 1):
            try:
                return self._once(adapter, body)
            except StopError as stop:
                failure = stop.__cause__
                if tried == self.retries or not isinstance(failure, ProviderError):
                    raise
                if failure.kind not in WORTH_ANOTHER or (failure.retry_after or 0) > LONGEST_WAIT_S:
                    raise
                self._pause(failure, tried)
        raise AssertionError("the last try returns or raises")

    def _pause(self, failure: ProviderError, tried: int) -> None:
        life = self.lifecycle
        asked = failure.retry_after
        delay = min(LONGEST_WAIT_S, 0.5 * 2**tried) if asked is None else max(0.0, asked)
        life.next("retry")
        life.emit(events.RetryStarted(**life.now(), reason=failure.message, delay_s=delay, failure=failure.kind))
        try:
            interruption.wait(delay, life.interrupted)
        except interruption.InterruptedCallError as interrupted:
            life.stop_for(interrupted.reason, TOO_LATE, "request")

    def _once(self, adapter: str, body: Mapping[str, Any]) -> tuple[Completion, ...]:
        """Call once; a loading model runs no clock. Raises StopError."""
        life = self.lifecycle
        life.check(TOO_LATE, "request")
        if isinstance(self.lm, LoadsFirst) and self.lm.has_to_load(body):
            began = life.seconds()
            life.emit(events.ModelLoading(**life.now()))
            self.lm.wait_until_loaded(life.cancel)
            life.give_back(life.seconds() - began)
            life.check(TOO_LATE, "request")
        life.emit(events.RequestSent(**life.now(), model=self.lm.model, request=body))
        collector = Collector()
        began = life.seconds()
        took_ms: float | None = None
        failure: Exception | None = None
        said, payload = "", None
        try:
            for chunk in interruption.chunks(self.lm, body, life.interrupted):
                _check(chunk)
                if chunk.prepared_s is not None:
                    lost = min(chunk.prepared_s, life.seconds() - began)
                    life.give_back(lost)
                    began += lost
                if chunk.took_s is not None:
                    took_ms = chunk.took_s * 1000
                collector.add(chunk)
                calls = [
                    CallPiece(index=one.index, id=one.id, name=one.name, arguments=one.arguments)
                    for one in chunk.tool_calls
                ]
                if chunk.text or chunk.reasoning or calls:
                    life.emit(
                        events.ChunkReceived(
                            **life.now(),
                            text=chunk.text,
                            reasoning=chunk.reasoning,
                            tool_calls=tuple(calls),
                            choice=chunk.choice,
                        )
                    )
        except interruption.InterruptedCallError as interrupted:
            failure, said = interrupted, "Cancelled." if interrupted.reason == "cancelled" else WHILE_ANSWERING
        except ProviderError as error:
            failure, said, payload = error, error.message, error.payload
            if error.kind in UNBILLED and not collector.completions:
                collector.cost = 0.0
        except Exception as error:  # a user's own LM may raise anything: the run ends with it
            failure = error
            said = f"The model could not be called: {type(error).__name__}: {one_line(str(error))}"
        completions = collector.completions
        if took_ms is None or failure is not None:
            took_ms = (life.seconds() - began) * 1000
        attempt = Attempt(
            number=life.number,
            adapter=adapter,
            model=self.lm.model,
            request=body,
            completions=completions,
            usage=collector.usage,
            cost=collector.cost,
            duration_ms=took_ms,
            error=None if failure is None else said,
            payload=payload,
            raw=collector.raw,
            purpose=life.purpose,
        )
        life.attempts.append(attempt)
        if isinstance(failure, interruption.InterruptedCallError):
            life.stop_for(failure.reason, WHILE_ANSWERING, "request")
        if failure is not None:
            raise StopError(RunError(said, "request", life.number, payload)) from failure
        life.emit(
            events.ResponseReceived(
                **life.now(),
                texts=tuple([one.text for one in completions]),
                finish_reason=completions[0].finish_reason if completions else None,
                usage=attempt.usage,
                cost=attempt.cost,
                duration_ms=attempt.duration_ms,
            )
        )
        return completions or (Completion(),)


def _check(chunk: object) -> None:
    """Raise TypeError for a chunk that a user's own model must not yield."""
    if not isinstance(chunk, Chunk):
        raise TypeError(f"`stream` must yield adapters.Chunk(text=…), not {type(chunk).__name__}")
    for name in ("text", "reasoning"):
        given = getattr(chunk, name)
        if not isinstance(given, str):
            raise TypeError(f"the `{name}` of an adapters.Chunk must be a str, not {type(given).__name__}")
    if not isinstance(chunk.tool_calls, tuple | list):
        given = type(chunk.tool_calls).__name__
        raise TypeError(f"the `tool_calls` of an adapters.Chunk must be a tuple of ToolCallPart, not {given}")
    for one in chunk.tool_calls:
        if not isinstance(one, ToolCallPart):
            raise TypeError(f"the `tool_calls` of an adapters.Chunk must be of ToolCallPart, not {type(one).__name__}")


def one_line(text: str, length: int = 300) -> str:
    """Put `text` on a line of at most `length` characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= length else flat[:length] + "…"
