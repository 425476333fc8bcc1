"""Manage the child processes that call models: started on first use, restarted after a crash, ended at exit."""

from __future__ import annotations

import atexit
import json
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from queue import SimpleQueue
from threading import Timer
from typing import Any

from adapters.lm import fetched_table
from adapters.lm.fetched_table import FetchedTable

WORKER = Path(__file__).parent / "worker" / "litellm_worker.py"
STDERR_LINES = 200
STDERR_LINE = 2_000
CANCEL_SECONDS = 2.0
"""Seconds of silence after which a child that does not end a cancelled call is killed."""

Message = dict[str, Any]


class Child:
    """A worker process whose litellm uses a fetched `table`, or its own for None.

    `ready` is set once it accepts calls or is lost.
    """

    def __init__(self, environment: Mapping[str, str], table: FetchedTable | None) -> None:
        self._environment = dict(environment)
        self.ready = threading.Event()
        self.problem: str | None = None
        """Why the process cannot be used any more, in one line; None while it can."""
        self._lock = threading.Lock()
        self._write_lock = threading.Lock()
        self._calls: dict[int, SimpleQueue[Message]] = {}
        self._number = 0
        self._arrived = 0
        """Number of messages received for any call, as a sign of life."""
        self._said: deque[str] = deque(maxlen=STDERR_LINES)
        # A new session keeps the terminal's ctrl-c from it; -P keeps the working directory off its path.
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(WORKER), *([] if table is None else [str(table.path)])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**environment, "PYTHONUTF8": "1"},
            start_new_session=True,
        )
        self.pid = self._process.pid
        threading.Thread(target=self._read_messages, name="model-child-messages", daemon=True).start()
        threading.Thread(target=self._read_stderr, name="model-child-stderr", daemon=True).start()

    @property
    def said(self) -> str:
        """The last lines of its standard error."""
        return "\n".join(self._said)

    def begin(self, message: Message) -> tuple[int, SimpleQueue[Message]]:
        """Start a call; return its number and the queue of its messages, which ends with `lost` if the child dies."""
        arrivals: SimpleQueue[Message] = SimpleQueue()
        with self._lock:
            if self.problem is not None:
                arrivals.put({"op": "lost"})
                return 0, arrivals
            self._number += 1
            number = self._number
            self._calls[number] = arrivals
        self._write({**message, "id": number})
        return number, arrivals

    def adopt(self, environment: Mapping[str, str]) -> None:
        """Send the child the changes of the environment since the last call."""
        new = dict(environment)
        with self._lock:
            old, self._environment = self._environment, new
        if new != old:
            changed = {name: value for name, value in new.items() if old.get(name) != value}
            self._write({"op": "environment", "set": changed, "unset": [name for name in old if name not in new]})

    def cancel(self, number: int) -> None:
        """Cancel a call; kill the child if it hangs.

        A child that still sends messages of other calls is busy and is not killed.
        """
        with self._lock:
            waiting = number in self._calls and self.problem is None
        if waiting:
            self._kill_if_it_hangs(number)
            self._write({"op": "cancel", "id": number})

    def kill(self) -> None:
        """Kill the process; active calls receive `lost`."""
        self._process.kill()

    def _kill_if_it_hangs(self, number: int, before: int | None = None) -> None:
        """Look again and again at a call until it is over; nothing has arrived if there are still `before` messages."""
        with self._lock:
            is_over, arrived = number not in self._calls, self._arrived
        if not is_over and arrived == before:
            self.kill()
        elif not is_over:
            watch = Timer(CANCEL_SECONDS, self._kill_if_it_hangs, (number, arrived))
            watch.daemon = True
            watch.start()

    def _write(self, message: Message) -> None:
        assert self._process.stdin is not None
        line = json.dumps(message).encode() + b"\n"
        try:
            with self._write_lock:
                self._process.stdin.write(line)
                self._process.stdin.flush()
        except (OSError, ValueError):
            pass  # it is dying: the reader thread notices and notifies every call

    def _read_messages(self) -> None:
        assert self._process.stdout is not None
        unusable: str | None = None
        for line in self._process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if message["op"] == "ready":
                self.ready.set()
                continue
            if message["op"] == "unusable":
                unusable = message["message"]
                continue
            last = message["op"] in ("done", "error", "cancelled", "count", "facts", "request")
            with self._lock:
                self._arrived += 1
                arrivals = self._calls.pop(message["id"], None) if last else self._calls.get(message["id"])
            if arrivals is not None:
                arrivals.put(message)
        code = self._process.wait()
        names = {int(one): one.name for one in signal.Signals}
        killed = f"was killed by {names.get(-code, f'signal {-code}')}"
        ending = f"ended with exit code {code}" if code >= 0 else killed
        with self._lock:
            self.problem = unusable or ending
            calls, self._calls = self._calls, {}
        for waiting in calls.values():
            waiting.put({"op": "lost"})
        self.ready.set()

    def _read_stderr(self) -> None:
        assert self._process.stderr is not None
        while line := self._process.stderr.readline(STDERR_LINE):
            self._said.append(line.decode("utf-8", "replace").rstrip("\n"))


_children: dict[bool, Child] = {}
_lock = threading.Lock()


def child_for(environment: Mapping[str, str], keyless: bool) -> Child:
    """Return the running child, with its environment updated, or start one; `keyless` calls use a separate child."""
    with _lock:
        child = _children.get(keyless)
        if child is None or child.problem is not None:
            _children[keyless] = child = Child(environment, fetched_table.in_use())
        else:
            child.adopt(environment)
        return child


def is_running() -> bool:
    """Return whether a child is running and accepts calls with API keys."""
    with _lock:
        child = _children.get(False)
    return child is not None and child.problem is None and child.ready.is_set()


def shut_down() -> None:
    """Kill all children; the next call starts a new one."""
    with _lock:
        for child in _children.values():
            child.kill()
        _children.clear()


atexit.register(shut_down)
