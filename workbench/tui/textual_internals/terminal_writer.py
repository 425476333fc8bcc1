"""Writing to a terminal that may be closed at any moment."""

from __future__ import annotations

import sys

from textual.drivers._writer_thread import WriterThread


class EmptyingWriter(WriterThread):
    """Goes on taking what is to be written when there is no terminal any more, so that nobody waits to hand it over.

    Textual's own ends at the first error. Its queue then fills up, and the app waits at it for ever: it hears neither
    that the terminal was closed nor that it is to end.
    """

    def run(self) -> None:
        try:
            super().run()
        except OSError:  # the terminal was closed
            while self._queue.get() is not None:
                pass


def outlive_the_terminal() -> None:
    """Has the driver of Linux and macOS write so."""
    if sys.platform != "win32":
        from textual.drivers import linux_driver

        linux_driver.WriterThread = EmptyingWriter  # type: ignore[attr-defined]
