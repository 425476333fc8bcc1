"""Save a session, merged with others' changes to the file, and keep former contents as restore points.

Restore points are in the user's state folder."""

from __future__ import annotations

import datetime
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.late_dataclasses import dataclass
from sessions.errors import SessionError
from sessions.file import store
from sessions.file.json_values import WrittenParts
from sessions.file.store import Fingerprint
from sessions.file.whole_files import PathLike, key_of, locked, private, state_folder
from sessions.model.session import Session

if TYPE_CHECKING:
    from sessions.file.both_changes import Winner

MOST_OF_A_FILE = 30
MOST_BYTES = 200_000_000
"""The total size of the restore points of all files."""

_NAME = re.compile(r"\d{8}T\d{6}\.\d{6}Z\.json")


@dataclass(frozen=True)
class RestorePoint:
    """A former content of a session file: its place, when it was replaced (UTC), its size in bytes."""

    place: Path
    at: datetime.datetime
    size: int


def keep_restore_point(path: PathLike) -> str:
    """Keep the file's current content; return why that failed, or "" (also if there is nothing to keep)."""
    try:
        content = Path(path).read_bytes()
    except (OSError, ValueError):  # there is no file, or nothing that replacing it could lose
        return ""
    return keep_content(content, path)


def keep_content(content: bytes, path: PathLike | None) -> str:
    """Keep `content` as a restore point of `path` (None: work without a file); return why that failed."""
    try:
        folder = _folder() / key_of(path)
        there = restore_points(path)
        if there and there[0].size == len(content) and there[0].place.read_bytes() == content:
            return ""
        private(folder)
        now = datetime.datetime.now(datetime.UTC)
        store.write_whole(folder / f"{now:%Y%m%dT%H%M%S.%fZ}.json", content)
    except (OSError, SessionError) as error:
        return f"no restore point was kept: {error}"
    # Remove the oldest of this file, then of all files
    for point in restore_points(path)[MOST_OF_A_FILE:]:
        with suppress(OSError):
            point.place.unlink()
    with suppress(OSError, SessionError):
        everything = [point for folder in _folder().iterdir() if folder.is_dir() for point in _points_in(folder)]
        everything.sort(key=lambda point: point.place.name, reverse=True)
        total = 0
        for number, point in enumerate(everything):
            total += point.size
            if total > MOST_BYTES and number:
                with suppress(OSError):
                    point.place.unlink()
    return ""


def restore_points(path: PathLike | None) -> tuple[RestorePoint, ...]:
    """Return the restore points of a file, newest first; none without a state folder."""
    try:
        return _points_in(_folder() / key_of(path))
    except (OSError, SessionError):
        return ()


def _folder() -> Path:
    return state_folder() / "restore"


def _points_in(folder: Path) -> tuple[RestorePoint, ...]:
    found = []
    with suppress(FileNotFoundError):
        for entry in os.scandir(folder):
            if _NAME.fullmatch(entry.name):
                at = datetime.datetime.fromisoformat(entry.name.removesuffix(".json"))
                found.append(RestorePoint(Path(entry.path), at, entry.stat().st_size))
    return tuple(sorted(found, key=lambda point: point.place.name, reverse=True))


ATTEMPTS = 5
"""Attempts at saving; editors ignore the lock and may write between reading and saving."""


@dataclass(frozen=True)
class Saved:
    """The file after saving.

    `taken` names the merged changes of others. `not_kept` is why the replaced content has no restore point, or "".
    """

    session: Session
    fingerprint: Fingerprint
    taken: tuple[str, ...] = ()
    not_kept: str = ""


def save(
    base: Session,
    ours: Session,
    path: PathLike,
    winner: Winner = "nobody",
    *,
    since: Fingerprint | None = None,
    parts: WrittenParts | None = None,
) -> Saved:
    """Merge the changes from `base` to `ours` into the current content of `path`.

    The replaced content becomes a restore point. `winner` resolves collisions (see `both_changes`). A file with the
    fingerprint `since` is unchanged; a missing file is created. `parts` caches encoded parts between saves. Raises
    `CollisionError`, and `SessionError` for a file that cannot be read, parsed or written; the file is then unchanged.
    """
    for left in reversed(range(ATTEMPTS)):
        try:
            return _save(base, ours, os.fspath(path), winner, since, parts)
        except store.ChangedOnDiskError:
            if not left:
                raise
    raise AssertionError("the last attempt returns or raises")


def keep_aside(session: Session, path: PathLike) -> str:
    """Keep an unsaved session as a restore point of `path`; return its place as a clause."""
    why_not = keep_content(store.dumps(session).encode("utf-8"), path)
    if why_not:
        return why_not
    return f"what was to be saved is kept in {restore_points(path)[0].place}"


def overwrite(session: Session, path: PathLike) -> Saved:
    """Overwrite `path` with the session; the old content becomes a restore point. Raises `SessionError`."""
    with locked(path):
        not_kept = keep_restore_point(path)
        return Saved(session, store.save_locked(session, path), not_kept=not_kept)


def _save(
    base: Session, ours: Session, path: str, winner: Winner, since: Fingerprint | None, parts: WrittenParts | None
) -> Saved:
    with locked(path):
        session = ours
        taken: tuple[str, ...] = ()
        if since is None or store.has_changed(path, since):
            # Imported here because it needs pydantic, and the app starts without that.
            from sessions.file.both_changes import CollisionError, merge

            try:
                there = store.open_file(path)
                since = there.fingerprint
                merged = merge(base, ours, there.session, winner)
                session, taken = merged.session, merged.taken
            except CollisionError as error:
                raise CollisionError(path, error.places) from None
            except SessionError as error:
                if not isinstance(error.__cause__, FileNotFoundError):
                    raise
        not_kept = keep_restore_point(path)
        fingerprint = store.save_locked(session, path, over=since, parts=parts)
        if parts is not None:
            parts.evict_unused()
        return Saved(session, fingerprint, taken, not_kept)
