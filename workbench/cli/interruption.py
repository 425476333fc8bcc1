"""Handle ctrl+c during a command: the first and second request a stop, the third ends the program as usual.

`cleaned_up` handles other signals that end a command with resources to clean up.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from workbench.output import command_output

ENDING = ("SIGTERM", "SIGHUP")


class Asked(NamedTuple):
    """Requests by the user: `stop` begins nothing more, `cancel` also ends running work."""

    stop: threading.Event
    cancel: threading.Event


@contextmanager
def interruptible(said: str = "") -> Iterator[Asked]:
    """Set `stop` at the first ctrl+c, explained by `said`, and `cancel` at the second.

    Without `said`, the first ctrl+c sets both.
    """
    asked = Asked(threading.Event(), threading.Event())
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return

    def interrupt(*_: object) -> None:
        if asked.cancel.is_set():
            raise KeyboardInterrupt
        if asked.stop.is_set() or not said:
            asked.cancel.set()
        else:
            # Not in the handler itself, which may interrupt a write.
            threading.Thread(target=command_output.message, args=(f"\nworkbench: {said}",), daemon=True).start()
        asked.stop.set()

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def cleaned_up() -> Iterator[None]:
    """Raise KeyboardInterrupt for SIGTERM and SIGHUP, so that `finally` runs.

    SIGTERM comes from a time limit, SIGHUP from a closed terminal. Further such signals are ignored, because they would
    interrupt the cleanup.
    """
    numbers = [getattr(signal, name) for name in ENDING if hasattr(signal, name)]
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(*_: object) -> None:
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, end) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
