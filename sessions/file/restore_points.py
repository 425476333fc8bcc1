"""Restore points: former contents of session files, kept in the user's state folder.

A replaced file leaves a restore point. The oldest are removed beyond a number per file and a total size.
"""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from adapters.late_dataclasses import dataclass
from sessions.errors import SessionError
from sessions.file import store
from sessions.file.whole_files import key_of, private, state_folder

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


def keep(path: str | os.PathLike[str]) -> str:
    """Keep the file's current content; return why that failed, or "" (also if there is nothing to keep)."""
    try:
        content = Path(path).read_bytes()
    except (OSError, ValueError):  # there is no file, or nothing that replacing it could lose
        return ""
    return keep_content(content, path)


def keep_content(content: bytes, path: str | os.PathLike[str] | None) -> str:
    """Keep `content` as a restore point of `path` (None: work without a file); return the same as `keep`."""
    try:
        folder = _folder() / key_of(path)
        there = points(path)
        if there and there[0].size == len(content) and there[0].place.read_bytes() == content:
            return ""
        private(folder)
        now = datetime.datetime.now(datetime.UTC)
        store.write_whole(folder / f"{now:%Y%m%dT%H%M%S.%fZ}.json", content)
    except (OSError, SessionError) as error:
        return f"no restore point was kept: {error}"
    _remove(point.place for point in points(path)[MOST_OF_A_FILE:])
    _keep_within_bounds()
    return ""


def points(path: str | os.PathLike[str] | None) -> tuple[RestorePoint, ...]:
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
                at = datetime.datetime.strptime(entry.name, "%Y%m%dT%H%M%S.%fZ.json")
                at = at.replace(tzinfo=datetime.UTC)
                found.append(RestorePoint(Path(entry.path), at, entry.stat().st_size))
    return tuple(sorted(found, key=lambda point: point.place.name, reverse=True))


def _keep_within_bounds() -> None:
    with suppress(OSError, SessionError):
        everything = [point for folder in _folder().iterdir() if folder.is_dir() for point in _points_in(folder)]
        everything.sort(key=lambda point: point.place.name, reverse=True)
        total = 0
        for number, point in enumerate(everything):
            total += point.size
            if total > MOST_BYTES and number:
                _remove([point.place])


def _remove(places: Iterable[Path]) -> None:
    for place in places:
        with suppress(OSError):
            place.unlink()
