"""Write to a terminal that may be closed at any moment."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import IO, cast

from textual.drivers._writer_thread import WriterThread


class EmptyingWriter(WriterThread):
    """Keep taking output after the terminal has gone.

    Textual's own thread ends at the first error. Its queue then fills up and the app waits on it for ever: it learns
    neither that the terminal was closed nor that it should exit.
    """

    def __init__(self, file: IO[str]) -> None:
        super().__init__(cast("IO[str]", _Lasting(file)))


class _Lasting:
    """A file that ignores the errors of a closed terminal."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self.fileno = file.fileno

    def write(self, text: str) -> None:
        with suppress(OSError):
            self._file.write(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._file.flush()


def outlive_the_terminal() -> None:
    """Make the driver for Linux and macOS use this writer."""
    if sys.platform != "win32":
        from textual.drivers import linux_driver

        linux_driver.WriterThread = EmptyingWriter  # type: ignore[attr-defined]
