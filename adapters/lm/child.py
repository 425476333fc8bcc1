"""The child processes that call models: started when first needed, restarted after a crash, never left behind."""

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

WORKER = Path(__file__).parent / "worker" / "litellm_worker.py"
STDERR_LINES = 200
STDERR_LINE = 2_000
CANCEL_SECONDS = 2.0
"""How long the child may say nothing while a call that nobody waits for goes on, before it is killed."""

Message = dict[str, Any]

# Variables that differ between two moments of one session without meaning anything to a provider.
_RESTLESS = frozenset({"PYTEST_CURRENT_TEST", "COLUMNS", "LINES", "PWD", "OLDPWD", "_", "SHLVL"})


class Child:
    """A worker process. `ready` is set once it can take calls, or is lost."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = relevant(environment)
        self.ready = threading.Event()
        self.problem: str | None = None
        """Why it is of no more use, in one line; None while it is."""
        self._lock = threading.Lock()
        self._write_lock = threading.Lock()
        self._calls: dict[int, SimpleQueue[Message]] = {}
        self._number = 0
        self._arrived = 0
        """How many messages came from it so far: a sign of life, whichever call they are of."""
        self._said: deque[str] = deque(maxlen=STDERR_LINES)
        # A session of its own keeps the terminal's ctrl-c from it; -P keeps the working directory off its path.
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**environment, "PYTHONUTF8": "1"},
            start_new_session=True,
        )
        threading.Thread(target=self._read_messages, name="model-child-messages", daemon=True).start()
        threading.Thread(target=self._read_stderr, name="model-child-stderr", daemon=True).start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def said(self) -> str:
        """The last lines it wrote to standard error."""
        return "\n".join(self._said)

    def begin(self, message: Message) -> tuple[int, SimpleQueue[Message]]:
        """Hands over a call; its messages arrive in the queue, the last one is `lost` when the child is."""
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
        """Takes over what has changed in the environment since."""
        new = relevant(environment)
        with self._lock:
            old, self._environment = self._environment, new
        if new != old:
            changed = {name: value for name, value in new.items() if old.get(name) != value}
            self._write({"op": "environment", "set": changed, "unset": [name for name in old if name not in new]})

    def cancel(self, number: int) -> None:
        """Stops a call whose messages nobody reads any more; a child that hangs meanwhile is killed.

        One that is only busy with other calls is not: what arrives from it shows that it gets to this one, too.
        """
        with self._lock:
            waiting = number in self._calls and self.problem is None
        if waiting:
            self._watch(number)
            self._write({"op": "cancel", "id": number})

    def kill(self) -> None:
        """Ends the process now; calls under way get `lost`."""
        self._process.kill()

    def _watch(self, number: int) -> None:
        watch = Timer(CANCEL_SECONDS, self._kill_if_it_hangs, (number, self._arrived))
        watch.daemon = True
        watch.start()

    def _kill_if_it_hangs(self, number: int, arrived: int) -> None:
        with self._lock:
            is_over = number not in self._calls
            is_alive = self._arrived != arrived
        if is_over:
            return
        if is_alive:
            self._watch(number)
        else:
            self.kill()

    def _write(self, message: Message) -> None:
        assert self._process.stdin is not None
        line = json.dumps(message).encode() + b"\n"
        try:
            with self._write_lock:
                self._process.stdin.write(line)
                self._process.stdin.flush()
        except (OSError, ValueError):
            pass  # it is dying: the reader sees the end and tells every call

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
            elif message["op"] == "unusable":
                unusable = message["message"]
            else:
                self._deliver(message)
        code = self._process.wait()
        with self._lock:
            self.problem = unusable or _ending(code)
            calls, self._calls = self._calls, {}
        for arrivals in calls.values():
            arrivals.put({"op": "lost"})
        self.ready.set()

    def _deliver(self, message: Message) -> None:
        last = message["op"] in ("done", "error", "cancelled", "count", "facts", "request")
        with self._lock:
            self._arrived += 1
            arrivals = self._calls.pop(message["id"], None) if last else self._calls.get(message["id"])
        if arrivals is not None:
            arrivals.put(message)

    def _read_stderr(self) -> None:
        assert self._process.stderr is not None
        while line := self._process.stderr.readline(STDERR_LINE):
            self._said.append(line.decode("utf-8", "replace").rstrip("\n"))


def _ending(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"


def relevant(environment: Mapping[str, str]) -> dict[str, str]:
    """Drop the variables that change without meaning anything to a provider."""
    return {name: value for name, value in environment.items() if name not in _RESTLESS}


_children: dict[bool, Child] = {}
_lock = threading.Lock()


def child_for(environment: Mapping[str, str], keyless: bool) -> Child:
    """The running child, told of changes in the environment, or a new one; `keyless` calls have one of their own."""
    with _lock:
        child = _children.get(keyless)
        if child is None or child.problem is not None:
            _children[keyless] = child = Child(environment)
        else:
            child.adopt(environment)
        return child


def is_running(keyless: bool = False) -> bool:
    """Return whether a child has been started that can take calls now."""
    with _lock:
        child = _children.get(keyless)
    return child is not None and child.problem is None and child.ready.is_set()


def shut_down() -> None:
    """Ends every child at once. The next call starts a new one."""
    with _lock:
        for child in _children.values():
            child.kill()
        _children.clear()


atexit.register(shut_down)
