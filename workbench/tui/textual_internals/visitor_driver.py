"""Textual's browser driver for a participant's app, which exits when nobody reads its output."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, TextIO

from textual import events
from textual.app import App
from textual.drivers import web_driver
from textual.message import Message

from adapters.late_dataclasses import dataclass
from workbench.serving import messages
from workbench.tui.textual_internals.terminal import WholePastes

LAST_SECONDS = 5.0
"""Seconds the app has to exit after its reader has gone."""


@dataclass
class TeacherMoved(Message):
    """The teacher's position as unparsed text, or None after the teacher has left; sent by the server."""

    place: str | None


@dataclass
class ButtonPressed(Message):
    """The participant pressed a button of the page."""

    press: messages.Press


class VisitorDriver(web_driver.WebDriver):
    """Exchange packets with `textual_serve` on standard input and output.

    Textual's `WebDriver` keeps running without a reader, and raises on an unpaired surrogate, which this driver
    replaces with `?`.
    """

    running: ClassVar[VisitorDriver | None] = None
    """The driver of this process while its app runs."""

    def __init__(self, app: App[Any], **options: Any) -> None:
        super().__init__(app, **options)
        self._program = app
        self._is_alone = False
        self._write = self._write_all  # type: ignore[assignment]

    def start_application_mode(self) -> None:
        """Start as Textual does, with the focus: a newly opened page is in front."""
        super().start_application_mode()
        VisitorDriver.running = self
        self._program.call_later(self._program.post_message, events.AppFocus())

    def on_meta(self, packet_type: str, payload: dict[str, object]) -> None:
        """Post the packets of a class as messages and leave the rest to Textual.

        Runs in the reader thread.
        """
        if packet_type == messages.PRESS:
            press = messages.Press(str(payload.get("button")), int(str(payload.get("step"))))
            self._program.post_message(ButtonPressed(press))
        elif packet_type == messages.PLACE:
            place = payload.get("content")
            self._program.post_message(TeacherMoved(place if isinstance(place, str) else None))
        else:
            super().on_meta(packet_type, payload)

    def write(self, data: str) -> None:
        super().write(data.encode("utf-8", "replace").decode("utf-8"))

    def deliver_binary(self, binary: BinaryIO | TextIO, *, delivery_key: str, save_path: Path, **about: Any) -> None:
        """Report to the server which file of the participant's folder to send to the browser.

        Textual sends the file in pieces, and truncates it silently when a piece takes longer than 4 seconds.
        """
        binary.close()
        self.write_meta({"type": "deliver_file_start", "key": delivery_key, "path": save_path.name})

    def run_input_thread(self) -> None:
        web_driver.XTermParser = WholePastes  # type: ignore[attr-defined]
        super().run_input_thread()
        self._end()

    def _write_all(self, packet: bytes) -> int:
        # A pipe may accept only part of it.
        left = memoryview(packet)
        try:
            while left and not self._is_alone:
                left = left[os.write(self.fileno, left) :]
        except OSError:
            self._end()
        return len(packet)

    def _end(self) -> None:
        """End the app as if its terminal had closed, which saves a copy of unsaved work."""
        if self._is_alone or self.exit_event.is_set():
            return
        self._is_alone = True
        last = threading.Timer(LAST_SECONDS, os._exit, (1,))
        last.daemon = True
        last.start()
        os.kill(os.getpid(), signal.SIGTERM)


def tell(kind: str, content: object) -> None:
    """Send a message to the server (`workbench.serving.messages`); do nothing without a driver."""
    if VisitorDriver.running is not None:
        VisitorDriver.running.write_meta({"type": kind, "content": content})
