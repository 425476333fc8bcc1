"""One writer at a time in a folder: between looking at a session file and replacing it nobody else of us writes."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from sessions.errors import SessionError

PATIENCE_S = 20.0
"""A save takes milliseconds; who holds the lock for longer is stopped or hangs."""
PAUSE_S = 0.003


@contextmanager
def locked(path: str | os.PathLike[str]) -> Iterator[None]:
    """Holds the lock of the folder in which `path` really is, which needs no file of its own and ends with the process.

    Where the system or the file system knows no such locks, nothing is held: saves are then still whole, and a change
    that came between is still noticed by its fingerprint. Not reentrant. Raises `SessionError` when another process
    holds the lock for too long.
    """
    descriptor = _open_folder_of(path)
    if descriptor is None:
        yield
        return
    try:
        _wait_for(descriptor, os.fspath(path))
        yield
    finally:
        os.close(descriptor)


def _open_folder_of(path: str | os.PathLike[str]) -> int | None:
    if not hasattr(os, "O_DIRECTORY"):
        return None
    try:
        folder = os.path.dirname(os.path.realpath(path))
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except (OSError, ValueError):  # writing says what is wrong with it
        return None


def _wait_for(descriptor: int, path: str) -> None:
    import fcntl

    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= until:
                message = f"another process has been saving in this folder for {PATIENCE_S:.0f} s"
                raise SessionError(path, "", message, "end it, or save under another name") from None
        except OSError:  # a file system without such locks
            return
        time.sleep(PAUSE_S)
