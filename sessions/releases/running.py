"""The releases that columns ask: one warm process each for the whole program, started by the first question."""

from __future__ import annotations

import atexit
import threading

from sessions.releases import environments
from sessions.releases.release import Release, allow_children, end_every_child

_lock = threading.Lock()
_starting: dict[str, threading.Lock] = {}
"""By version who starts it: one does, and several versions start side by side."""
_running: dict[str, Release] = {}


def release_of(version: str) -> Release:
    """The release of that version, warm. Raises `ReleaseError`: of one that was not added with how to add it."""
    with _lock:
        starting = _starting.setdefault(version, threading.Lock())
    with starting:
        if version not in _running:
            _running[version] = environments.open_release(version)
        return _running[version]


def end() -> None:
    """Ends every process that was started, or is starting; who waits for one, or asks, gets an error from now on.

    So nothing that is under way elsewhere keeps a program from ending. `begin` takes it back.
    """
    end_every_child()
    with _lock:
        known = list(_starting.items())
    for version, starting in known:
        with starting:
            release = _running.pop(version, None)
        if release is not None:
            release.close()


def begin() -> None:
    """Questions are answered, also after an `end`."""
    allow_children()


atexit.register(end)
