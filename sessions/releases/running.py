"""The releases that columns ask: one warm process each for the whole program, started by the first question."""

from __future__ import annotations

import atexit
import threading

from sessions.releases import environments
from sessions.releases.release import Release, end_every_child

_lock = threading.Lock()
_running: dict[str, Release] = {}


def release_of(version: str) -> Release:
    """The release of that version, warm. Raises `ReleaseError`: of one that was not added with how to add it."""
    with _lock:
        if version not in _running:
            _running[version] = environments.open_release(version)
        return _running[version]


def close_all() -> None:
    """Ends every process that was started, or is starting: who waits for one gets an error. The next question starts
    one anew."""
    end_every_child()
    with _lock:
        while _running:
            _running.popitem()[1].close()


atexit.register(close_all)
