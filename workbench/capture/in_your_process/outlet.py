"""The way out of the program: a bounded queue, a thread, and the pipe to the child process that writes sessions.

Nothing here may hold the program up or end it. What does not fit is lost and counted; a child that cannot be started,
or has ended, is said once on standard error.
"""

from __future__ import annotations

import atexit
import importlib.metadata
import json
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
import weakref
from collections import deque
from typing import Any

MOST_WAITING = 2_000
"""Calls in the queue, about."""
MOST_BYTES = 128_000_000
"""Characters in the queue, about."""
LONGEST_CALL = 16_000_000
"""Maximum characters of a call as JSON."""
GATHERED_S = 0.05
"""Seconds for which calls gather before they are written together."""
PATIENCE_S = 30.0
"""Seconds for which the end of the program, or of a `with`, waits for the sessions to be written."""

_NOT_INHERITED = ("PYTHONPATH", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONWARNINGS", "PYTHONHOME", "WORKBENCH_CAPTURE")


class Outlet:
    """Take calls as lines of JSON, in order. The first call starts its thread and its child."""

    def __init__(self, command: list[str], variables: dict[str, str], options: dict[str, Any]) -> None:
        """`command` runs the child, with `variables` beside the environment; `options` are what it is told first."""
        self._command = command
        self._variables = variables
        self._options = options
        self._start()
        _OUTLETS.add(self)

    def _start(self) -> None:
        self._lines: deque[tuple[str, str, str]] = deque()
        self._waiting = 0
        self._is_called = threading.Event()
        self._is_closing = False
        self._lost = 0
        self._thread: threading.Thread | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._told: set[str] = set()
        self._said: set[str] = set()
        self._is_broken = False
        self._lock = threading.Lock()
        self._tally: int | None = None
        self._is_in_a_worker = False

    def put(self, line: str, key: str = "", definition: str = "") -> None:
        """Take a call. `definition`, a line that defines `key`, precedes the first call that has it."""
        self._count()
        if self._is_broken:
            return
        if len(line) > LONGEST_CALL:
            self._lose(f"a call of more than {LONGEST_CALL // 1_000_000} MB is not captured")
            return
        if len(self._lines) >= MOST_WAITING or self._waiting > MOST_BYTES:
            self._lose("calls come faster than they can be written; some are not captured")
            return
        self._lines.append((line, key, definition))
        self._waiting += len(line)  # of several threads at once one may be forgotten: it is no exact limit
        if self._thread is None:
            self._run()
        if not self._is_called.is_set():
            self._is_called.set()

    def lose(self, why: str) -> None:
        """Counts a call that is not captured, and says why, each reason once."""
        self._count()
        self._lose(why)

    def _lose(self, why: str) -> None:
        self._lost += 1
        self.say(why)

    def _count(self) -> None:
        """Adds a byte to this process's file of calls, which `workbench capture` counts even if it is killed."""
        folder = self._options.get("report")
        if folder is None:
            return
        try:
            if self._tally is None:
                name = os.path.join(folder, f"{os.getpid()}-{uuid.uuid4().hex}.made")
                self._tally = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o600)
            os.write(self._tally, b".")
        except OSError:  # the folder is gone when the program outlives its capture
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
        """Has all that was taken written, and waits for that, not longer than `patience` seconds."""
        thread = self._thread
        if thread is None:
            return
        end = time.monotonic() + patience
        self._is_closing = True
        self._is_called.set()
        thread.join(patience)
        if thread.is_alive():
            self._broken(f"some calls could not be written within {patience:g} s; the program does not wait for them")
        elif self._child is not None:
            try:
                self._child.wait(max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                self.say(f"the sessions are not yet written after {patience:g} s; the program does not wait for them")
        self._thread = None

    def forget(self) -> None:
        """In a process that was forked off: it has a thread and a child of its own, or none."""
        if self._tally is not None:
            os.close(self._tally)
        child = self._child
        if child is not None and child.stdin is not None and not child.stdin.closed:
            try:
                os.close(child.stdin.fileno())
            except OSError:
                pass
            child.returncode = 0  # it is the parent's to wait for
        self._start()

    def _run(self) -> None:
        with self._lock:
            if self._thread is None:
                self._is_closing = False
                self._thread = threading.Thread(target=self._work, name="workbench-capture", daemon=True)
                self._thread.start()
                self._close_with_a_worker()

    def _close_with_a_worker(self) -> None:
        """Has a process of multiprocessing close the outlet at its end: it skips `atexit`."""
        process, util = (sys.modules.get(f"multiprocessing.{name}") for name in ("process", "util"))
        if process is not None and util is not None and process.parent_process() is not None:
            util.Finalize(None, self.close, exitpriority=10)
            self._is_in_a_worker = True

    def _work(self) -> None:
        self._told = set()  # a child that was started anew was told nothing yet
        pipe = self._open()
        while True:
            self._is_called.wait()
            if not (self._is_closing or self._is_in_a_worker):
                # Many calls at once: a thread that wakes up for each would take the program's turn each time. But a
                # pool kills its workers when it is left.
                time.sleep(GATHERED_S)
            self._is_called.clear()
            is_last = self._is_closing
            if pipe is not None:
                pipe = self._write(pipe, is_last)
            if is_last:
                return

    def _write(self, pipe: Any, is_last: bool) -> Any:
        """Writes what waits; the pipe, or None when it is broken."""
        try:
            while self._lines:
                line, key, definition = self._lines.popleft()
                self._waiting -= len(line)
                if key and key not in self._told:
                    pipe.write(definition.encode("ascii") + b"\n")
                    self._told.add(key)
                pipe.write(line.encode("ascii") + b"\n")
            if is_last:
                pipe.write(json.dumps({"lost": self._lost}).encode("ascii") + b"\n")
                pipe.close()
            else:
                pipe.flush()
        except (OSError, ValueError):
            return self._broken("the process that writes the sessions has ended; nothing more is captured")
        return pipe

    def _open(self) -> Any:
        """The pipe to a new child; None where it cannot be started."""
        variables = {name: value for name, value in os.environ.items() if name not in _NOT_INHERITED}
        try:
            options, held = self._options_with_report()
        except OSError as error:
            return self._broken(f"nothing is captured: {error}")
        try:
            self._child = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                env={**variables, **self._variables},
                start_new_session=True,  # ctrl+c is the program's; the child ends when the pipe does
                pass_fds=held,
            )
        except (OSError, ValueError) as error:
            return self._broken(f"the process that writes the sessions cannot be started: {error}")
        finally:
            for one in held:
                os.close(one)
        if hasattr(signal, "pthread_sigmask"):  # a program may have SIGPIPE end it
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPIPE})
        hello = {**options, "versions": _versions()}
        try:
            self._child.stdin.write(json.dumps(hello).encode("ascii") + b"\n")  # type: ignore[union-attr]
        except (OSError, ValueError):
            return self._broken("the process that writes the sessions has ended; nothing is captured")
        return self._child.stdin

    def _options_with_report(self) -> tuple[dict[str, Any], tuple[int, ...]]:
        """The options, with the file of the child's report where a folder for reports was given.

        Beside it stands a file that the child holds locked as long as it lives, by the descriptor that is returned:
        who waits for the report can tell a child that works from one that is gone.
        """
        folder = self._options.get("report")
        if folder is None:
            return self._options, ()
        name = os.path.join(folder, f"{os.getpid()}-{uuid.uuid4().hex}")
        held = os.open(f"{name}.started", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            import fcntl

            fcntl.flock(held, fcntl.LOCK_EX)
        except ImportError:
            os.close(held)
            return {**self._options, "report": f"{name}.json"}, ()
        return {**self._options, "report": f"{name}.json"}, (held,)

    def _broken(self, why: str) -> Any:
        """None, in the place of the pipe: nothing more is taken."""
        self._is_broken = True
        self.say(why)
        return None


_OUTLETS: weakref.WeakSet[Outlet] = weakref.WeakSet()


def _versions() -> dict[str, str]:
    found: dict[str, str] = {"python": ".".join(map(str, sys.version_info[:3]))}
    for name in ("dspy", "json_repair", "pydantic", "litellm"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _close_all() -> None:
    for one in list(_OUTLETS):
        one.close()


def _forget_all() -> None:
    for one in list(_OUTLETS):
        one.forget()


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
