"""Save a session, merged with others' changes to the file."""

from __future__ import annotations

import os

from adapters.late_dataclasses import dataclass
from sessions.errors import SessionError
from sessions.file import restore_points, store
from sessions.file.both_changes import CollisionError, Merged, Winner, merge
from sessions.file.json_values import WrittenParts
from sessions.file.store import Fingerprint
from sessions.file.whole_files import locked
from sessions.model.session import Session

ATTEMPTS = 5
"""Attempts at saving; editors ignore the lock and may write between reading and saving."""


@dataclass(frozen=True)
class Saved:
    """The file after saving.

    `taken` names changes of others. `not_kept` is why the replaced content has no restore point, or "".
    """

    session: Session
    fingerprint: Fingerprint
    taken: tuple[str, ...] = ()
    not_kept: str = ""


def save(
    base: Session,
    ours: Session,
    path: str | os.PathLike[str],
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


def keep_aside(session: Session, path: str | os.PathLike[str]) -> str:
    """Keep an unsaved session as a restore point of `path`; return its place as a clause."""
    why_not = restore_points.keep_content(store.dumps(session).encode("utf-8"), path)
    if why_not:
        return why_not
    return f"what was to be saved is kept in {restore_points.points(path)[0].place}"


def overwrite(session: Session, path: str | os.PathLike[str]) -> Saved:
    """Overwrite `path` with the session; the old content becomes a restore point. Raises `SessionError`."""
    with locked(path):
        not_kept = restore_points.keep(path)
        return Saved(session, store.save_locked(session, path), not_kept=not_kept)


def _save(
    base: Session, ours: Session, path: str, winner: Winner, since: Fingerprint | None, parts: WrittenParts | None
) -> Saved:
    with locked(path):
        merged = Merged(ours)
        if since is None or store.has_changed(path, since):
            try:
                there = store.open_file(path)
                since = there.fingerprint
                merged = merge(base, ours, there.session, winner)
            except CollisionError as error:
                raise CollisionError(path, error.places) from None
            except SessionError as error:
                if not isinstance(error.__cause__, FileNotFoundError):
                    raise
        not_kept = restore_points.keep(path)
        fingerprint = store.save_locked(merged.session, path, over=since, parts=parts)
        if parts is not None:
            parts.evict_unused()
        return Saved(merged.session, fingerprint, merged.taken, not_kept)
