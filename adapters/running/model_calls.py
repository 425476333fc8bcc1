"""Call a model within a run: send, emit events, record attempts, retry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adapters.errors import RunError
from adapters.late_dataclasses import dataclass
from adapters.lm import interruption
from adapters.lm.protocol import LM, Collector, Completion, ErrorKind, LoadsFirst, ProviderError
from adapters.lm.worker.replies import CallPiece
from adapters.running import events
from adapters.running.lifecycle import Lifecycle, StopError
from adapters.running.runs import Attempt

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
            error=said or None,
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


def one_line(text: str, length: int = 300) -> str:
    """Put `text` on a line of at most `length` characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= length else flat[:length] + "…"
