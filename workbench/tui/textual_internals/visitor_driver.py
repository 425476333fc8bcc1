"""Textual's driver for a browser, as a visitor's program uses it: it ends with whoever reads what it writes."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from textual import events
from textual.app import App
from textual.drivers.web_driver import WebDriver
from textual.message import Message

from workbench.serving import teachers_place

LAST_SECONDS = 5.0
"""How long the app may take to end once nobody is there any more."""


class TeacherMoved(Message):
    """The server told where the teacher is, in words that are still to be read; None: no longer there."""

    def __init__(self, place: str | None) -> None:
        super().__init__()
        self.place = place


class VisitorDriver(WebDriver):
    """Packets on standard input and output, as `textual_serve` speaks them.

    Textual's own goes on without a reader, and raises on half a character (a surrogate), which here becomes `?`.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._is_alone = False
        self._write = self._write_all  # type: ignore[assignment]

    def start_application_mode(self) -> None:
        """As Textual's; but a page that was just opened is looked at, whatever it said before there was an app."""
        super().start_application_mode()
        self._app.call_later(self._app.post_message, events.AppFocus())

    def on_meta(self, packet_type: str, payload: dict[str, object]) -> None:
        """Tells the app where the teacher is, and does as Textual with all else. Called by the thread that reads."""
        if packet_type == teachers_place.KIND:
            place = payload.get("place")
            self._app.post_message(TeacherMoved(place if isinstance(place, str) else None))
        else:
            super().on_meta(packet_type, payload)

    def write(self, data: str) -> None:
        super().write(data.encode("utf-8", "replace").decode("utf-8"))

    def deliver_binary(self, binary: BinaryIO | TextIO, *, delivery_key: str, save_path: Path, **about: Any) -> None:
        """Tells the server which file of the visitor's folder his browser is to get.

        Textual's own hands it over piece by piece, and cuts it off in silence where one takes longer than 4 seconds.
        """
        binary.close()
        self.write_meta({"type": "deliver_file_start", "key": delivery_key, "path": save_path.name})

    def run_input_thread(self) -> None:
        super().run_input_thread()
        self._end()

    def _write_all(self, packet: bytes) -> int:
        """A pipe may take a part; nothing is written to one that is closed."""
        left = memoryview(packet)
        try:
            while left and not self._is_alone:
                left = left[os.write(self.fileno, left) :]
        except OSError:
            self._end()
        return len(packet)

    def _end(self) -> None:
        """Has the app end as when its terminal is closed, which keeps a copy of unsaved work."""
        if self._is_alone or self.exit_event.is_set():
            return
        self._is_alone = True
        last = threading.Timer(LAST_SECONDS, os._exit, (1,))
        last.daemon = True
        last.start()
        os.kill(os.getpid(), signal.SIGTERM)


def tell_place(app: App[int], place: str) -> None:
    """Tells the server where this app is, which it takes from the teacher's alone. Without a server nobody is told."""
    if isinstance(app._driver, VisitorDriver):
        app._driver.write_meta({"type": teachers_place.KIND, "place": place})
