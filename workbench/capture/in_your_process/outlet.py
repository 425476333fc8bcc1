"""Write calls to files in a folder, and start the child process that makes sessions of them.

Nothing here may delay or end the program. A call is in its file when `put` returns, so that it outlives a process
that is forked, killed or left by `os._exit`. Calls that cannot be written are counted; each reason is printed once.
"""

from __future__ import annotations

import atexit
import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import uuid
import weakref
from typing import Any, Callable

LONGEST_CALL = 16_000_000
"""Maximum characters of a call as JSON."""
LONGEST_FILE, MOST_FILES = 32_000_000, 16
"""Bytes of a file of calls, about, and files that may wait to be read; the child deletes what it has read."""
PATIENCE_S = 30.0
"""Seconds for which the end of the program, or of a `with`, waits for the sessions to be written."""
REPORT, CALLS, MADE = "report.json", ".calls", ".made"
"""In the folder: the child's report, and the endings of files of calls and of their count."""

_NOT_INHERITED = ("PYTHONPATH", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONWARNINGS", "PYTHONHOME", "WORKBENCH_CAPTURE")


class Writer:
    """The child process that makes sessions of calls; it has read all of them once its standard input has ended."""

    def __init__(self, command: list[str], variables: dict[str, str], options: dict[str, Any]) -> None:
        """`command` runs the child, with `variables` in its environment; the folder and `options` as JSON follow."""
        self._command = command
        self._variables = variables
        self._options = options
        self._child: subprocess.Popen[bytes] | None = None
        self.folder = ""

    def again(self) -> Writer:
        """Return a writer with the same settings, not yet started."""
        return Writer(self._command, self._variables, self._options)

    def start(self) -> None:
        """Start the child with a new folder for calls, unless it runs. Raises OSError and ValueError."""
        if self._child is not None:
            return
        self.folder = tempfile.mkdtemp(prefix="workbench-capture-")
        try:
            self._child = self._run()
        except (OSError, ValueError):
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def _run(self) -> subprocess.Popen[bytes]:
        variables = {name: value for name, value in os.environ.items() if name not in _NOT_INHERITED}
        return subprocess.Popen(
            [*self._command, self.folder, json.dumps(self._options)],
            stdin=subprocess.PIPE,  # nothing is written: by default, SIGPIPE would end the program
            stdout=subprocess.DEVNULL,
            env={**variables, **self._variables},
            start_new_session=True,  # ctrl+c is the program's; the child ends when the pipe does
        )

    def finish(self, patience: float, until_all_end: bool = False) -> str:
        """Wait for the sessions, or for the end of all processes that call; return an error or ""."""
        child, self._child = self._child, None
        if child is None or child.stdin is None:
            return ""
        end = time.monotonic() + patience
        child.stdin.close()
        if child.poll():  # it was killed: another reads the calls again
            child = self._run()
            child.stdin.close()  # type: ignore[union-attr]
        while child.poll() is None and time.monotonic() < end:
            if not until_all_end and os.path.exists(os.path.join(self.folder, REPORT)):
                _LEFT.append(child)  # processes that were forked off still call
                return ""
            time.sleep(0.01)
        if child.poll() is None:
            _LEFT.append(child)
            return f"the sessions are not yet written after {patience:g} s; the program does not wait for them"
        if child.returncode == 0:
            return ""
        if not until_all_end:
            shutil.rmtree(self.folder, ignore_errors=True)
        return "the process that writes the sessions has ended; calls are not captured"

    def report(self) -> tuple[list[dict[str, Any]], int]:
        """Return the child's report, none if it wrote none, and how many calls were made; removes the folder."""
        made, reports = 0, []
        if not os.path.isdir(self.folder):
            return [], 0
        for name in os.listdir(self.folder):
            path = os.path.join(self.folder, name)
            if name.endswith(MADE):
                made += os.path.getsize(path)
            elif name == REPORT:
                with open(path, encoding="utf-8") as file:
                    reports.append(json.load(file))
        shutil.rmtree(self.folder, ignore_errors=True)
        return reports, made

    def forget(self) -> None:
        """In a process that was forked off: the child is the parent's to end and to wait for."""
        child, self._child = self._child, None
        if child is not None and child.stdin is not None and not child.stdin.closed:
            try:
                os.close(child.stdin.fileno())
            except OSError:
                pass
            child.returncode = 0


_LEFT: list[Any] = []
"""Children that are not waited for; Python would warn of them."""


class Outlet:
    """Take calls as lines of JSON, in order. The first call starts the writer, if any."""

    def __init__(self, writer: Writer | None, folder: str = "") -> None:
        """`folder` is given if another process started the writer."""
        self._writer = writer
        self._folder = folder
        self._said: set[str] = set()
        self._tally: int | None = None
        self._is_closed = False
        self._lock = threading.RLock()
        self._start_anew()
        _OUTLETS.add(self)

    def _start_anew(self) -> None:
        self._process = os.getpid()
        self._told: set[str] = set()
        self._is_broken = False
        self._name = f"{self._process}-{uuid.uuid4().hex}"
        self._number = -1
        self._size = 0
        self._file: int | None = None

    def put(self, line: str, key: str = "", definition: str = "") -> None:
        """Take a call. `definition`, a line that defines `key`, precedes the first call that has it."""
        if os.getpid() != self._process:
            self.forget()
        with self._lock:
            if not self._is_open():
                return
            self._count()
            if len(line) > LONGEST_CALL:
                self._lose(f"a call of more than {LONGEST_CALL // 1_000_000} MB is not captured")
                return
            new = bool(key) and key not in self._told
            try:
                if self._size > LONGEST_FILE:
                    self._next()
                self._write(f"{definition}\n{line}\n" if new else f"{line}\n")
            except OSError as error:
                self._lose(f"calls are not captured: {error.strerror or error}")
            else:
                self._told.add(key)

    def start_before_fork(self) -> None:
        """Start the writer: processes that are forked off write for it, too, and it outlives them."""
        if self._writer is not None and not self._is_closed and self._file is None:
            with self._lock:
                self._is_open()

    def lose(self, why: str) -> None:
        """Count a call that is not captured; print each reason once."""
        with self._lock:
            if self._is_open():
                self._count()
                self._lose(why)

    def _lose(self, why: str) -> None:
        self.say(why)
        try:
            self._write('{"lost":1}\n')
        except OSError:  # the count of calls says that one is missing
            return

    def say(self, what: str) -> None:
        """Print a line on standard error, each line once."""
        if what in self._said:
            return
        self._said.add(what)
        try:
            sys.stderr.write(f"workbench capture: {what}\n")
        except Exception:  # a program may have closed it
            return

    def close(self, patience: float = PATIENCE_S) -> None:
        """Wait until all calls are written to sessions, at most `patience` seconds."""
        with self._lock:
            writer = self._writer
            self._is_closed = True
            if writer is None:
                return
            self._let_go()
            self._writer = writer.again()  # for calls that other threads make meanwhile, or that come later
            self._folder = ""
            self._start_anew()
        wrong = writer.finish(patience)
        if wrong:
            self.say(wrong)

    def forget(self) -> None:
        """Write separate files for the same child; called in a forked process."""
        self._let_go()
        if self._writer is not None:
            self._writer.forget()
        self._lock = threading.RLock()
        self._start_anew()

    def _let_go(self) -> None:
        for one in (self._file, self._tally):
            if one is not None:
                os.close(one)
        self._file = self._tally = None

    def _is_open(self) -> bool:
        """Open a file of calls unless one is open; return False if that fails."""
        if self._file is None and not self._is_broken:
            self._is_closed = False
            try:
                if self._writer is not None and not os.path.isdir(self._folder):
                    self._writer.start()
                    self._folder = self._writer.folder
                self._next()
            except (OSError, ValueError) as error:
                self._is_broken = True
                self.say(f"nothing is captured: the process that writes the sessions cannot be started: {error}")
        return self._file is not None

    def _next(self) -> None:
        """Begin a file, which is locked as long as this process writes to it. Raises OSError."""
        late = os.path.join(self._folder, f"{self._name}.{self._number + 1 - MOST_FILES:06d}{CALLS}")
        if self._number + 1 >= MOST_FILES and os.path.exists(late):
            raise OSError(0, "they come faster than sessions are written")
        name = os.path.join(self._folder, f"{self._name}.{self._number + 1:06d}{CALLS}")
        made = _opened(name)
        if self._file is not None:
            os.close(self._file)
        self._file, self._size, self._number = made, 0, self._number + 1
        try:
            import fcntl

            fcntl.flock(made, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:  # on Windows
            pass
        found: dict[str, str] = {"python": ".".join(map(str, sys.version_info[:3]))}
        for package in ("dspy", "json_repair", "pydantic", "litellm"):
            try:
                found[package] = importlib.metadata.version(package)
            except importlib.metadata.PackageNotFoundError:
                continue
        self._write(json.dumps({"versions": found}) + "\n")

    def _write(self, text: str) -> None:
        """Write all of `text`, or nothing. Raises OSError."""
        data = text.encode("ascii")
        assert self._file is not None
        written = 0
        try:
            while written < len(data):
                written += os.write(self._file, data[written:] if written else data)
        except OSError:
            os.ftruncate(self._file, self._size)
            raise
        self._size += written

    def _count(self) -> None:
        """Add a byte to this process's count of calls, even if the writer fails."""
        try:
            if self._tally is None:
                self._tally = _opened(os.path.join(self._folder, f"{self._name}{MADE}"))
            os.write(self._tally, b".")
        except OSError:  # the folder is gone when the program outlives its capture
            return


def _opened(name: str) -> int:
    return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o600)


_OUTLETS: weakref.WeakSet[Outlet] = weakref.WeakSet()


def _all(do: Callable[[Outlet], None]) -> Callable[[], None]:
    def done() -> None:
        for one in list(_OUTLETS):
            do(one)

    return done


atexit.register(_all(Outlet.close))
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_all(Outlet.start_before_fork), after_in_child=_all(Outlet.forget))
