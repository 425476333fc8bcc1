"""A real program in a real pseudo-terminal: keys go in as bytes, and what it paints is read as text."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

KEYS: Mapping[str, bytes] = {
    "f1": b"\x1bOP",
    "f2": b"\x1bOQ",
    "f3": b"\x1bOR",
    "f4": b"\x1bOS",
    "f5": b"\x1b[15~",
    "f6": b"\x1b[17~",
    "f7": b"\x1b[18~",
    "f8": b"\x1b[19~",
    "f9": b"\x1b[20~",
    "f10": b"\x1b[21~",
    "enter": b"\r",
    "escape": b"\x1b",
    "down": b"\x1b[B",
    "right": b"\x1b[C",
    "delete": b"\x1b[3~",
    "ctrl+home": b"\x1b[1;5H",
    "ctrl+end": b"\x1b[1;5F",
    **{f"ctrl+{letter}": bytes([ord(letter) - 96]) for letter in "abcdefghijklmnopqrstuvwxyz"},
}
PATIENCE = 60.0
"""Seconds after which something that is waited for will not come any more."""

_SEQUENCE = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[()][A-Z0-9]|\x1b[=>78]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")


class Terminal:
    """`words` is the command; it is killed when the block is left."""

    def __init__(self, words: Sequence[str], cwd: Path, size: tuple[int, int], environment: Mapping[str, str]) -> None:
        self._words = list(words)
        self._cwd = cwd
        self._size = size
        # A test runner's own width (pytest-xdist sets COLUMNS) would count more than the terminal's.
        given = {**os.environ, "TERM": "xterm-256color", **environment}
        self._environment = {name: value for name, value in given.items() if name not in ("COLUMNS", "LINES")}
        self.painted = b""
        self._seen = 0

    def __enter__(self) -> Terminal:
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            os.chdir(self._cwd)
            os.execvpe(self._words[0], self._words, self._environment)
        columns, rows = self._size
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._fd)

    def press(self, *keys: str) -> None:
        """Keys by name; anything else is typed as it stands. What is waited for next was painted after this."""
        self._read(0)
        self._seen = len(self.painted)
        for key in keys:
            os.write(self._fd, KEYS.get(key, key.encode()))

    def pour(self, data: bytes) -> None:
        """Writes as fast as the program takes it in; what it paints meanwhile is taken in as well."""
        self._read(0)
        self._seen = len(self.painted)
        until = time.monotonic() + PATIENCE
        while data:
            readable, writable, _ = select.select([self._fd], [self._fd], [], 1.0)
            if readable and not self._read(0):
                raise AssertionError("the program has ended")
            if writable:
                data = data[os.write(self._fd, data[:512]) :]
                until = time.monotonic() + PATIENCE
            elif time.monotonic() > until:
                raise AssertionError("the program takes nothing in any more")

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.kill(self.pid, signal.SIGWINCH)

    def wait_for(self, text: str, times: int = 1, patience: float = PATIENCE) -> None:
        """Waits until `text` has been painted so many times since the last key."""
        until = time.monotonic() + patience
        while self._text().count(text) < times:
            may_come = self._read(0.5) and time.monotonic() <= until
            if not may_come and self._text().count(text) < times:  # the last words come with the end
                raise AssertionError(f"{text!r} was not painted; the last that was:\n{self._text()[-4000:]}")

    def press_until(self, key: str, text: str) -> None:
        """Presses a key, again when nothing more is painted, until `text` was: for what is refused until it can be."""
        until = time.monotonic() + PATIENCE
        self.press(key)
        while text not in self._text():
            if time.monotonic() > until:
                raise AssertionError(f"{key} did not paint {text!r}; the last that was:\n{self._text()[-4000:]}")
            if not self.reads_within(3.0):
                os.write(self._fd, KEYS.get(key, key.encode()))

    def wait_for_byte(self) -> None:
        """Waits until anything is painted."""
        if not self.reads_within(PATIENCE):
            raise AssertionError("nothing was painted")

    def reads_within(self, seconds: float) -> bool:
        """Whether anything is painted within so many seconds."""
        before = len(self.painted)
        self._read(seconds)
        return len(self.painted) > before

    def wait_for_end(self, answer: str = "") -> int:
        """The exit code (128 + the signal for a program that was killed); `answer` is the key if it asks to save."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            self._read(0.05)
            if answer and "Unsaved changes" in self._text():
                self.press(answer)
                answer = ""
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = 0
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else 128 - code
        raise AssertionError("the program did not end")

    def _text(self) -> str:
        return _SEQUENCE.sub(b"", self.painted[self._seen :]).decode("utf-8", "replace")

    def _read(self, seconds: float) -> bool:
        """Takes in what was painted; False when the program has closed the terminal."""
        while select.select([self._fd], [], [], seconds)[0]:
            try:
                data = os.read(self._fd, 65_536)
            except OSError:
                return False
            if not data:
                return False
            self.painted += data
            seconds = 0
        return True
