"""Lock a folder against other workbench processes while saving a session file."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sessions.errors import SessionError

PATIENCE_S = 20.0
"""The longest wait for the lock. A save takes milliseconds; a process that holds it longer is stopped or hangs."""


@contextmanager
def locked(path: str | os.PathLike[str]) -> Iterator[None]:
    """Hold the lock of the folder that contains `path`, after resolving links. Not reentrant.

    The lock needs no lock file and ends with the process. On systems without such locks nothing is held; saves are
    still atomic, and fingerprints still detect changes in between. Raises `SessionError` if another process holds the
    lock for longer than `PATIENCE_S`.
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
    except (OSError, ValueError):  # writing will report the problem
        return None


def _wait_for(descriptor: int) -> bool:
    """Return True once the lock is held or locks are unsupported; on timeout the descriptor gets closed.

    The system queues blocking waiters in order, but polling could starve. So a thread blocks; it is abandoned after
    `PATIENCE_S`.
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
    """Return whether the lock was acquired; True on file systems without such locks."""
    try:
        lock()
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True
