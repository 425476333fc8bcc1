"""Copy unsaved work to the user's state folder, in case the app or the machine crashes.

Each process writes its own copies and holds a lock while it lives; a copy without a living owner is unsaved work. After
the user's decision a copy becomes a restore point, so that no choice loses anything.
"""

from __future__ import annotations

import datetime
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from adapters.late_dataclasses import dataclass, field
from sessions.errors import SessionError
from sessions.file import saving, store
from sessions.file.json_values import WrittenParts
from sessions.file.whole_files import key_of, plain_reason, private, state_folder
from sessions.model.session import Session

DELAY_S = 0.4
"""Seconds from a change to its copy; including the write, copies lag by at most a second."""
AGAIN_S = 10.0
"""Seconds until a failed copy is retried, even without another change."""
LOCK_ATTEMPTS = 20
"""Attempts at locking; another process that checks a lock briefly holds it."""
LOCK_AGE_S = 60.0
"""The age at which an unused lock file is removed; younger files may be about to be locked."""
MOST_COPIES = 50
"""The most copies of ended processes to keep; older copies are removed."""


@dataclass(frozen=True)
class LeftOver:
    """Unsaved work: the session, when its copy was last written (local time), and the copy's place."""

    session: Session
    at: datetime.datetime
    place: Path


@dataclass(eq=False)
class Autosave:
    """The copies of a process. Thread-safe."""

    delay_s: float = DELAY_S
    again_s: float = AGAIN_S
    _tell: Callable[[str], object] | None = None
    _why_not: str = ""
    _token: str = ""
    _lock_file: int | None = None
    _latest: tuple[Session, Path | None] | None = None
    _is_due: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None
    _parts: WrittenParts = field(default_factory=WrittenParts)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _writing: threading.Lock = field(default_factory=threading.Lock)

    def tell(self, listener: Callable[[str], object] | None) -> None:
        """Set the listener for problems with writing copies; None removes it.

        It is called from any thread, once for each new reason, and with "" when copies can be written again.
        """
        self._tell, self._why_not = listener, ""

    def changed(self, session: Session, path: Path | None) -> None:
        """Schedule a copy in a thread and return at once; of several changes within the delay the last is written."""
        with self._lock:
            self._latest = (session, path)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._write_when_due, daemon=True, name="autosave")
                self._thread.start()
        self._is_due.set()

    def write(self, session: Session, path: Path | None) -> str:
        """Write the copy now; return why that failed, or ""."""
        with self._lock:
            self._latest = None
        with self._writing:
            return self._write_copy(session, path)

    def discard(self, path: Path | None) -> None:
        """Delete the copy of work on `path` after it was saved or discarded."""
        with self._writing, suppress(OSError, SessionError):
            with self._lock:
                if self._latest is not None and self._latest[1] == path:
                    self._latest = None
            if self._token:
                self._place_of(path).unlink(missing_ok=True)

    def close(self) -> None:
        """Release and remove the process's lock at its end, unless copies remain.

        The lock's name is random, so no other process locks it to write. Copies are written while `_writing` is held;
        a copy written later gets another lock.
        """
        with self._writing, suppress(OSError, SessionError):
            if not self._token or any(name.endswith(f"-{self._token}.json") for name in os.listdir(_folder())):
                return
            lock, self._token = _folder() / f"{self._token}.lock", ""
            if self._lock_file is not None:
                os.close(self._lock_file)
                self._lock_file = None
            lock.unlink(missing_ok=True)

    def _write_when_due(self) -> None:
        failed = False
        while True:
            self._is_due.wait(self.again_s if failed else None)
            self._is_due.clear()
            threading.Event().wait(self.delay_s)
            with self._writing:
                with self._lock:
                    latest, self._latest = self._latest, None
                failed = latest is not None and bool(self._write_copy(*latest))
                with self._lock:
                    if failed and self._latest is None:
                        self._latest = latest

    def _write_copy(self, session: Session, path: Path | None) -> str:
        why_not = ""
        try:
            self._own()
            store.save(session, self._place_of(path), parts=self._parts)
            self._parts.evict_unused()
        except (OSError, SessionError) as error:
            why_not = plain_reason(error)
        except ValueError as error:
            why_not = str(error)
        before, self._why_not = self._why_not, why_not
        if why_not != before and self._tell is not None:
            self._tell(why_not)
        return why_not

    def _own(self) -> None:
        """Lock this process's copies, so that no other process treats them as left over."""
        import secrets  # only for writing

        folder = _folder()
        if self._token and (folder / f"{self._token}.lock").exists():
            return
        private(folder)
        if self._lock_file is not None:
            os.close(self._lock_file)
            self._lock_file = None
        for left in reversed(range(LOCK_ATTEMPTS)):
            token = secrets.token_hex(8)
            lock = folder / f"{token}.lock"
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
            # file systems without locks still keep copies
            if hold(descriptor) or not left:
                self._lock_file, self._token = descriptor, token
                return
            os.close(descriptor)
            lock.unlink(missing_ok=True)

    def _place_of(self, path: Path | None) -> Path:
        return _folder() / f"{key_of(path)}-{self._token}.json"


def why_not() -> str:
    """Return why no copies can be kept and a remedy, or ""."""
    try:
        private(_folder())
    except (OSError, SessionError) as error:
        return plain_reason(error)
    return ""


def left_over(path: Path | None) -> LeftOver | None:
    """Return the newest unsaved work on this file that differs from it (path None: work without a file)."""
    for place in _left_copies(path):
        try:
            session = store.load(place)
            at = datetime.datetime.fromtimestamp(place.stat().st_mtime)
        except (OSError, ValueError):
            continue
        found = LeftOver(session, at, place)
        is_saved = False
        with suppress(OSError, SessionError):
            is_saved = path is not None and place.read_bytes() == store.dumps(store.load(path)).encode("utf-8")
        if not is_saved:
            return found
        put_away(found, path)
    return None


def put_away(left: LeftOver, path: Path | None) -> None:
    """Move a copy and older copies of the same file to restore points, after the user's decision."""
    for place in reversed(_left_copies(path)):
        with suppress(OSError):
            if place.stat().st_mtime <= left.place.stat().st_mtime:
                content = place.read_bytes()
                if not saving.keep_content(content, path):
                    place.unlink()


def _folder() -> Path:
    return state_folder() / "autosave"


def _left_copies(path: Path | None) -> list[Path]:
    """Return copies of ended processes, newest first; remove their unused locks and excess copies."""
    times: dict[Path, float] = {}
    try:
        folder, key = _folder(), key_of(path)
        names = os.listdir(folder)
        gone = {name[:-5] for name in names if name.endswith(".lock") and not _is_held(folder / name)}
        alive = {name[:-5] for name in names if name.endswith(".lock")} - gone
        tokens = {name: name[:-5].rpartition("-")[2] for name in names if name.endswith(".json")}
        for name, token in tokens.items():
            if token not in alive:
                with suppress(FileNotFoundError):  # it was removed meanwhile
                    times[folder / name] = (folder / name).stat().st_mtime
    except (OSError, SessionError):
        return []
    for token in gone.difference(tokens.values()):
        lock = folder / f"{token}.lock"
        with suppress(OSError):
            if time.time() - lock.stat().st_mtime > LOCK_AGE_S:
                lock.unlink()
    copies = sorted(times, key=times.__getitem__, reverse=True)
    for place in copies[MOST_COPIES:]:
        with suppress(OSError):
            place.unlink()
    return [place for place in copies[:MOST_COPIES] if place.name.rpartition("-")[0] == key]


def _is_held(place: Path) -> bool:
    try:
        descriptor = os.open(place, os.O_RDWR)
    except OSError:
        return False
    try:
        return not hold(descriptor)
    finally:
        os.close(descriptor)


def hold(descriptor: int) -> bool:
    """Hold a file until it is closed; return False if another process does, or if it cannot be locked."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


_OURS = Autosave()
tell = _OURS.tell
changed = _OURS.changed
write = _OURS.write
discard = _OURS.discard
close = _OURS.close
