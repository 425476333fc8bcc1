"""The way out of the program: a bounded queue, a thread, and the pipe to the child process that writes sessions.

Nothing here may hold the program up or end it. What does not fit is lost and counted; a child that cannot be started,
or has ended, is said once on standard error.
"""

from __future__ import annotations

import atexit
import importlib.metadata
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import uuid
import weakref
from typing import Any

MOST_WAITING = 2_000
"""Calls in the queue."""
MOST_BYTES = 128_000_000
"""Characters in the queue."""
LONGEST_CALL = 16_000_000
"""Characters of one call as JSON."""
PATIENCE_S = 30.0
"""How long the end of the program, or of a `with`, waits for the sessions to be written."""

_NOT_INHERITED = ("PYTHONPATH", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONWARNINGS", "PYTHONHOME", "WORKBENCH_CAPTURE")
_END = ""


class Outlet:
    """Takes calls as lines of JSON, in order. Starts its thread and its child with the first one."""

    def __init__(self, command: list[str], variables: dict[str, str], options: dict[str, Any]) -> None:
        """`command` runs the child, with `variables` beside the environment; `options` are what it is told first."""
        self._command = command
        self._variables = variables
        self._options = options
        self._start()
        _OUTLETS.add(self)

    def _start(self) -> None:
        self._queue: queue.Queue[tuple[str, str, str]] = queue.Queue(MOST_WAITING)
        self._waiting = 0
        self._lost = 0
        self._thread: threading.Thread | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._told: set[str] = set()
        self._said: set[str] = set()
        self._is_broken = False
        self._lock = threading.Lock()

    def put(self, line: str, key: str = "", definition: str = "") -> None:
        """Takes one call. `definition`, a line that says what `key` is, goes in front of the first call that has it."""
        if self._is_broken:
            return
        if len(line) > LONGEST_CALL:
            self.lose(f"a call of more than {LONGEST_CALL // 1_000_000} MB is not captured")
            return
        if self._thread is None:
            self._run()
        if self._waiting > MOST_BYTES:
            self.lose("calls come faster than they can be written; some are not captured")
            return
        try:
            self._queue.put_nowait((line, key, definition))
            self._waiting += len(line)
        except queue.Full:
            self.lose("calls come faster than they can be written; some are not captured")

    def lose(self, why: str) -> None:
        """Counts a call that is not captured, and says why, each reason once."""
        self._lost += 1
        self.say(why)

    def say(self, what: str) -> None:
        """One line on standard error, each once."""
        if what in self._said:
            return
        self._said.add(what)
        try:
            sys.stderr.write(f"workbench capture: {what}\n")
        except Exception:  # a program may have closed it
            return

    def close(self, patience: float = PATIENCE_S) -> None:
        """Has all that was taken written, and waits for that, not longer than `patience` seconds."""
        thread, child = self._thread, self._child
        if thread is None:
            return
        end = time.monotonic() + patience
        try:
            self._queue.put((_END, "", ""), timeout=patience)
        except queue.Full:
            return
        thread.join(max(0.0, end - time.monotonic()))
        child = self._child
        if child is not None and not thread.is_alive():
            try:
                child.wait(max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                self.say("the sessions are still being written; the program does not wait for them any longer")
        self._thread = None

    def forget(self) -> None:
        """In a process that was forked off: it has a thread and a child of its own, or none."""
        child = self._child
        if child is not None and child.stdin is not None:
            try:
                os.close(child.stdin.fileno())
            except OSError:
                pass
            child.returncode = 0  # it is the parent's to wait for
        self._start()

    def _run(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="workbench-capture", daemon=True)
                self._thread.start()

    def _work(self) -> None:
        pipe = self._open()
        while True:
            line, key, definition = self._queue.get()
            self._waiting -= len(line)
            if line == _END:
                break
            if pipe is None:
                continue
            try:
                if key and key not in self._told:
                    pipe.write(definition.encode("ascii") + b"\n")
                    self._told.add(key)
                pipe.write(line.encode("ascii") + b"\n")
                if self._queue.empty():
                    pipe.flush()
            except (OSError, ValueError):
                pipe = self._broken("the process that writes the sessions has ended; nothing more is captured")
        if pipe is not None:
            try:
                pipe.write(json.dumps({"lost": self._lost}).encode("ascii") + b"\n")
                pipe.close()
            except (OSError, ValueError):
                self._broken("the process that writes the sessions has ended; the capture is not whole")

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
