"""A stream of chunks that can be left at any moment, whatever the model is doing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from queue import Empty, SimpleQueue
from typing import Any, Literal, TypeVar

from adapters.lm.protocol import LM, Chunk

POLL_SECONDS = 0.02
"""How often a wait looks whether it should end."""

RETURN_SECONDS = 0.05
"""How long a reply that is past its deadline may take to turn out complete."""

Result = TypeVar("Result")
Reason = Literal["cancelled", "deadline"]


class InterruptedCallError(Exception):
    """The stream was left before its end."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason: Reason = reason


def chunks(lm: LM, request: Mapping[str, Any], interrupted: Callable[[], Reason | None]) -> Iterator[Chunk]:
    """The chunks of `lm`, read by a thread of their own; `interrupted` is asked at each of them and while waiting.

    Raises InterruptedCallError as soon as it gives a reason, and whatever `lm.stream` raises. The model is then told
    to stop; nobody waits until it does. A reply that had come to its end when its deadline passed is given whole.
    """
    arrivals: SimpleQueue[Chunk | Exception | None] = SimpleQueue()
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
            arrivals.put(None)
        except Exception as error:  # it is raised where the chunks are read
            arrivals.put(error)

    threading.Thread(target=read, name=f"call {lm.model}", daemon=True).start()
    last: float | None = None  # once the deadline has passed: until when the reply may come to its end
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
            if arrival is None:
                return
            if isinstance(arrival, Exception):
                raise arrival
            yield arrival
    finally:
        stop.set()


def call(function: Callable[[], Result], interrupted: Callable[[], Reason | None], name: str) -> Result:
    """`function()` in a thread of its own. Raises what it raises, and InterruptedCallError when there is a reason.

    An interrupted function is left to itself: nobody waits for it. One that has returned by then is in time.
    """
    arrivals: SimpleQueue[tuple[Result | None, BaseException | None]] = SimpleQueue()

    def work() -> None:
        try:
            arrivals.put((function(), None))
        except BaseException as error:  # it is raised in the thread that waits
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
        return value  # type: ignore[return-value]  # None only beside a failure, or as the value itself


def wait(seconds: float, interrupted: Callable[[], Reason | None]) -> None:
    """Waits. Raises InterruptedCallError as soon as there is a reason."""
    end = time.monotonic() + seconds
    while True:
        reason = interrupted()
        if reason is not None:
            raise InterruptedCallError(reason)
        left = end - time.monotonic()
        if left <= 0:
            return
        time.sleep(min(left, POLL_SECONDS))
