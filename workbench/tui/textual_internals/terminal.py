"""Keep writing after the terminal has closed, and read pastes whole."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import IO, cast

from textual import events
from textual._xterm_parser import BRACKETED_PASTE_END as END
from textual._xterm_parser import BRACKETED_PASTE_START as START
from textual._xterm_parser import XTermParser
from textual.drivers._writer_thread import WriterThread
from textual.message import Message

ESC = "\x1b"
STAND_IN = "\ud81b"
"""Stands for ESC within a paste; input never contains it, as decoding UTF-8 gives no unpaired surrogates."""


class EmptyingWriter(WriterThread):
    """A writer thread that keeps taking output after the terminal has closed.

    Textual's thread ends at the first error. Its queue then fills up and the app blocks on it for ever, without
    learning that the terminal was closed or that it should exit.
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


class WholePastes(XTermParser):
    """A parser whose pastes keep their escape sequences, such as the colors of a copied terminal.

    Textual reads an ESC within a paste as the start of a key: 33 characters from there leave the paste and are typed.
    """

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._is_pasting = False
        self._before = ""
        """The last characters before `feed`: the start of a mark, when it was cut."""

    def feed(self, data: str) -> Iterator[Message]:
        given = self._with_stand_ins(data)
        if data and not given:
            return
        for event in super().feed(given):
            if isinstance(event, events.Paste):
                event.text = event.text.replace(STAND_IN, ESC)
            yield event

    def _with_stand_ins(self, data: str) -> str:
        """Replace the ESC characters of a paste; keep back what may be the start of its end."""
        done = ""
        while data:
            if self._is_pasting:
                pasted, end, data = (self._before + data).partition(END)
                kept = 0 if end else next((n for n in range(len(END) - 1, 0, -1) if pasted.endswith(END[:n])), 0)
                self._before = pasted[len(pasted) - kept :]
                done += pasted[: len(pasted) - kept].replace(ESC, STAND_IN) + end
                self._is_pasting = not end
            else:
                seen = self._before + data
                at = seen.find(START)
                self._is_pasting = at >= 0
                length = at + len(START) - len(self._before) if self._is_pasting else len(data)
                self._before = "" if self._is_pasting else seen[1 - len(START) :]
                done, data = done + data[:length], data[length:]
        return done


def use_our_terminal() -> None:
    """Make the driver for Linux and macOS use `EmptyingWriter` and `WholePastes`."""
    if sys.platform != "win32":
        from textual.drivers import linux_driver

        linux_driver.WriterThread = EmptyingWriter  # type: ignore[attr-defined]
        linux_driver.XTermParser = WholePastes  # type: ignore[attr-defined]
