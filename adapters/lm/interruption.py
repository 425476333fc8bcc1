"""Interrupt a stream or a call at any moment, even while it blocks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator
from queue import Empty, SimpleQueue
from typing import Literal, TypeVar

from adapters.lm.protocol import LM, Chunk, Object

POLL_SECONDS = 0.02
"""Interval at which a wait checks for an interruption."""

RETURN_SECONDS = 0.05
"""Time after the deadline in which a reply may still complete."""

Result = TypeVar("Result")
Reason = Literal["cancelled", "deadline"]


class InterruptedCallError(Exception):
    """The stream or call was interrupted before its end."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason: Reason = reason


class _EndOfStreamError(Exception):
    """Put behind the last chunk; None may be what a user's model yields."""


def chunks(lm: LM, request: Object, interrupted: Callable[[], Reason | None]) -> Iterator[Chunk]:
    """Yield the chunks of `lm`, read in a separate thread; call `interrupted` for each chunk and while waiting.

    Raises InterruptedCallError as soon as it returns a reason, and whatever `lm.stream` raises. The model is then told
    to stop, without waiting for it. A reply that is complete when its deadline passes is returned whole.
    """
    arrivals: SimpleQueue[Chunk | Exception] = SimpleQueue()
    stop = threading.Event()

    def read() -> None:
        try:
            stream = lm.stream(request, stop)
            for chunk in stream:
                arrivals.put(chunk)
                if stop.is_set():
                    if isinstance(stream, Generator):
                        stream.close()
                    return
            arrivals.put(_EndOfStreamError())
        except Exception as error:  # re-raised where the chunks are read
            arrivals.put(error)
        except BaseException as error:  # such as asyncio's CancelledError, which ends only this thread
            arrivals.put(RuntimeError(f"{type(error).__name__}: {error}"))

    threading.Thread(target=read, name=f"call {lm.model}", daemon=True).start()
    last: float | None = None  # after the deadline: the time until which the reply may still complete
    try:
        while True:
            if last is None:
                reason = interrupted()
                if reason == "deadline":
                    last = time.monotonic() + RETURN_SECONDS
                elif reason is not None:
                    raise InterruptedCallError(reason)
            elif time.monotonic() >= last:
                raise InterruptedCallError("deadline")
            try:
                arrival = arrivals.get(timeout=POLL_SECONDS)
            except Empty:
                continue
            if isinstance(arrival, _EndOfStreamError):
                return
            if isinstance(arrival, Exception):
                raise arrival
            yield arrival
    finally:
        stop.set()


def call(function: Callable[[], Result], interrupted: Callable[[], Reason | None], name: str) -> Result:
    """Call `function` in a separate thread and return its result.

    Raises what it raises, and InterruptedCallError once `interrupted` returns a reason. An interrupted function
    continues in its thread; its result is ignored unless it has already returned.
    """
    arrivals: SimpleQueue[tuple[Result | None, BaseException | None]] = SimpleQueue()

    def work() -> None:
        try:
            arrivals.put((function(), None))
        except BaseException as error:  # re-raised in the waiting thread
            arrivals.put((None, error))

    threading.Thread(target=work, name=name, daemon=True).start()
    while True:
        try:
            value, failure = arrivals.get(timeout=RETURN_SECONDS)
        except Empty:
            reason = interrupted()
            if reason is not None:
                raise InterruptedCallError(reason) from None
            continue
        if failure is not None:
            raise failure
        return value  # type: ignore[return-value]  # None only with a failure, or as the value itself


def wait(seconds: float, interrupted: Callable[[], Reason | None]) -> None:
    """Sleep for `seconds`. Raises InterruptedCallError as soon as `interrupted` returns a reason."""
    end = time.monotonic() + seconds
    while True:
        reason = interrupted()
        if reason is not None:
            raise InterruptedCallError(reason)
        left = end - time.monotonic()
        if left <= 0:
            return
        time.sleep(min(left, POLL_SECONDS))
