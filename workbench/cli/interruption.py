"""Handle ctrl+c during a command: the first and second request a stop, the third ends the program as usual.

And other signals that end a command which has something to take away (`cleaned_up`).
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
    """`stop`: begin nothing more. `cancel`: end what is under way too."""

    stop: threading.Event
    cancel: threading.Event


@contextmanager
def interruptible(said: str = "") -> Iterator[Asked]:
    """Sets `stop` at the first ctrl+c, which `said` explains, and `cancel` at the second; without `said` both at the
    first."""
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
            # Not from the handler itself, which may have come in the middle of a write.
            threading.Thread(target=command_output.message, args=(f"\nworkbench: {said}",), daemon=True).start()
        asked.stop.set()

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def cleaned_up() -> Iterator[None]:
    """Has a time limit's SIGTERM and a closed terminal's SIGHUP end the program as ctrl+c does: `finally` is heard.

    Only the first ctrl+c; another would break off the cleaning.
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
