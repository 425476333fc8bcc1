"""Several that write at once: what each says stays together, and stands in their order whoever is done first."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from workbench.output import command_output


class Turns:
    """Numbered from 0. The one whose turn it is writes at once; what those behind it say waits until it has ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._now = 0
        self._waiting: dict[int, list[Callable[[], None]]] = {}
        self._ended: set[int] = set()

    @contextmanager
    def turn(self, number: int) -> Iterator[None]:
        """What this thread writes meanwhile through `workbench.output.command_output` is said by `number`."""
        with command_output.said_by(partial(self._say, number)):
            try:
                yield
            finally:
                self._end(number)

    def _say(self, number: int, write: Callable[[], None]) -> None:
        with self._lock:
            if number == self._now:
                write()
            else:
                self._waiting.setdefault(number, []).append(write)

    def _end(self, number: int) -> None:
        with self._lock:
            self._ended.add(number)
            while self._now in self._ended:
                self._now += 1
                for write in self._waiting.pop(self._now, ()):
                    write()
