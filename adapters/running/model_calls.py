"""Call a model within a run: send, emit events, record attempts, retry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adapters.errors import RunError
from adapters.late_dataclasses import dataclass
from adapters.lm import interruption
from adapters.lm.protocol import LM, Chunk, Collector, ErrorKind, LoadsFirst, ProviderError, Response
from adapters.lm.worker.replies import CallPiece
from adapters.running import events
from adapters.running.lifecycle import Lifecycle, StopError
from adapters.running.runs import Attempt, Completion

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


@dataclass(frozen=True)
class ModelCalls:
    """Calls of a model; `retries` is the number of further tries after a passing failure."""

    lifecycle: Lifecycle
    lm: LM
    retries: int = 0

    def call(self, adapter: str, body: Mapping[str, Any]) -> tuple[Response, ...]:
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
            life.stop_for(interrupted.reason, "Deadline expired before provider request.", "request")

    def _once(self, adapter: str, body: Mapping[str, Any]) -> tuple[Response, ...]:
        life = self.lifecycle
        life.check("Deadline expired before provider request.", "request")
        self._load(body)
        life.emit(events.RequestSent(**life.now(), model=self.lm.model, request=body))
        collector = Collector()
        began = life.seconds()
        took_ms: float | None = None
        try:
            for chunk in interruption.chunks(self.lm, body, life.interrupted):
                if chunk.prepared_s is not None:
                    lost = min(chunk.prepared_s, life.seconds() - began)
                    life.give_back(lost)
                    began += lost
                if chunk.took_s is not None:
                    took_ms = chunk.took_s * 1000
                collector.add(chunk)
                self._tell(chunk)
        except interruption.InterruptedCallError as interrupted:
            message = "Deadline expired while the model was answering."
            self._keep(adapter, body, collector, began, "Cancelled." if interrupted.reason == "cancelled" else message)
            life.stop_for(interrupted.reason, message, "request")
        except ProviderError as error:
            if error.kind in UNBILLED and not collector.responses:
                collector.cost = 0.0
            self._keep(adapter, body, collector, began, error.message, error.payload)
            raise StopError(RunError(error.message, "request", life.number, error.payload)) from error
        except Exception as error:  # a user's own LM may raise anything: the run ends with it
            message = f"The model could not be called: {type(error).__name__}: {one_line(str(error))}"
            self._keep(adapter, body, collector, began, message)
            raise StopError(RunError(message, "request", life.number)) from error
        responses = collector.responses
        self._keep(adapter, body, collector, began, took_ms=took_ms)
        life.emit(
            events.ResponseReceived(
                **life.now(),
                texts=tuple(one.text for one in responses),
                finish_reason=responses[0].finish_reason if responses else None,
                usage=collector.usage,
                cost=collector.cost,
                duration_ms=life.attempts[-1].duration_ms,
            )
        )
        return responses or (Response(),)

    def _load(self, body: Mapping[str, Any]) -> None:
        """Wait until the model's code is loaded, without a clock; a cancelled run stops here."""
        life = self.lifecycle
        if isinstance(self.lm, LoadsFirst) and self.lm.has_to_load(body):
            began = life.seconds()
            life.emit(events.ModelLoading(**life.now()))
            self.lm.wait_until_loaded(life.cancel)
            life.give_back(life.seconds() - began)
            life.check("Deadline expired before provider request.", "request")

    def _tell(self, chunk: Chunk) -> None:
        if chunk.text or chunk.reasoning or chunk.tool_calls:
            calls = tuple(
                CallPiece(index=part.index, id=part.id, name=part.name, arguments=part.arguments)
                for part in chunk.tool_calls
            )
            life = self.lifecycle
            life.emit(
                events.ChunkReceived(
                    **life.now(), text=chunk.text, reasoning=chunk.reasoning, tool_calls=calls, choice=chunk.choice
                )
            )

    def _keep(
        self,
        adapter: str,
        body: Mapping[str, Any],
        collector: Collector,
        began: float,
        error: str | None = None,
        payload: object = None,
        took_ms: float | None = None,
    ) -> None:
        responses = collector.responses
        life = self.lifecycle
        life.attempts.append(
            Attempt(
                number=life.number,
                adapter=adapter,
                model=self.lm.model,
                request=body,
                completions=tuple(completion_of(one) for one in responses),
                usage=collector.usage,
                cost=collector.cost,
                duration_ms=(life.seconds() - began) * 1000 if took_ms is None else took_ms,
                error=error,
                payload=payload,
                raw=next((one.raw for one in responses if one.raw is not None), None),
                purpose=life.purpose,
            )
        )


def completion_of(response: Response) -> Completion:
    return Completion(
        text=response.text,
        reasoning=response.reasoning_content,
        tool_calls=response.tool_calls,
        finish_reason=response.finish_reason,
        logprobs=response.logprobs,
        refusal=response.refusal,
        citations=response.citations,
    )


def one_line(text: str, length: int = 300) -> str:
    """Put `text` on a line of at most `length` characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= length else flat[:length] + "…"
