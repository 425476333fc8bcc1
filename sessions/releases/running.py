"""Share releases across the program: a warm process for each version, started on first use."""

from __future__ import annotations

import atexit
import threading

from sessions.releases import environments
from sessions.releases.release import Release, allow_children, end_every_child

_lock = threading.Lock()
_starting: dict[str, threading.Lock] = {}
"""A lock for each version, so that it is started once while other versions start in parallel."""
_running: dict[str, Release] = {}


def release_of(version: str) -> Release:
    """Return the warm release of a version. Raises `ReleaseError`; if it was not added, with how to add it."""
    with _lock:
        starting = _starting.setdefault(version, threading.Lock())
    with starting:
        if version not in _running:
            _running[version] = environments.open_release(version)
        return _running[version]


def end() -> None:
    """End all processes, also those still starting; pending and new questions raise an error.

    No pending work can then keep the program from exiting. `begin` allows questions again.
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
    """Answer questions again after `end`."""
    allow_children()


atexit.register(end)
