"""Lock a folder: while a session file is compared and replaced, no other process of ours writes there."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sessions.errors import SessionError

PATIENCE_S = 20.0
"""A save takes milliseconds; who holds the lock for longer is stopped or hangs."""


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
    if not _wait_for(descriptor):
        message = f"another process has been saving in this folder for {PATIENCE_S:.0f} s"
        raise SessionError(path, "", message, "end it, or save under another name")
    try:
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


def _wait_for(descriptor: int) -> bool:
    """Return True once the lock is held, or where there are no locks; else the descriptor gets closed.

    The system lets those who wait in one after the other, which who asks again and again would not be: so a thread
    waits there for as long as it takes, and is left to itself when that is too long.
    """
    import fcntl

    if _taken(lambda: fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)):
        return True
    held, turn = threading.Event(), threading.Lock()
    gone = False

    def wait() -> None:
        _taken(lambda: fcntl.flock(descriptor, fcntl.LOCK_EX))
        with turn:
            held.set()
            if gone:
                os.close(descriptor)

    threading.Thread(target=wait, daemon=True, name="folder lock").start()
    if held.wait(PATIENCE_S):
        return True
    with turn:
        gone = not held.is_set()
    return not gone


def _taken(lock: Callable[[], None]) -> bool:
    """Return whether nobody else holds it; a file system without such locks gives it to everybody."""
    try:
        lock()
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True
