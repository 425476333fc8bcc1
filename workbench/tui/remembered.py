"""The remembered layout: a small JSON file in the user's state folder."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sessions.errors import SessionError
from sessions.file import whole_files
from sessions.file.state_folder import key_of, private, state_folder

NAME = "layout.json"
MOST_SESSIONS = 200
MOST_RECENT = 50
LARGEST = 1_000_000
"""Bytes; a larger file is ignored."""

Parts = Mapping[str, Any]


def _nothing() -> Parts:
    return MappingProxyType({})


@dataclass(frozen=True)
class Remembered:
    """`user` applies to every session, `sessions` by the `key_of` of their file; `recent` files, newest first."""

    user: Parts = field(default_factory=_nothing)
    sessions: Mapping[str, Parts] = field(default_factory=_nothing)
    recent: tuple[str, ...] = ()

    def of(self, path: Path | None) -> Parts:
        """Return a session's layout, its own over the user's."""
        own = self.sessions.get(key_of(path), {})
        return {**self.user, **own}

    def with_session(self, path: Path | None, user: Parts, own: Parts) -> Remembered:
        """Return this with the layout of a session; it also becomes the default of new sessions."""
        others = {key: one for key, one in self.sessions.items() if key != key_of(path)}
        kept = dict(list(others.items())[-(MOST_SESSIONS - 1) :])
        recent = self.recent
        if path is not None:
            name = os.path.realpath(path)
            recent = (name, *(one for one in recent if one != name))[:MOST_RECENT]
        return Remembered({**self.user, **user}, {**kept, key_of(path): dict(own)}, recent)


def load() -> Remembered:
    """Load what was remembered; nothing where the file is missing or invalid."""
    try:
        place = state_folder() / NAME
        if place.stat().st_size > LARGEST:
            return Remembered()
        data = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError, SessionError):
        return Remembered()
    if not isinstance(data, dict):
        return Remembered()
    sessions = {key: one for key, one in _object(data.get("sessions")).items() if isinstance(one, dict)}
    recent = data.get("recent")
    names = tuple(one for one in recent if isinstance(one, str)) if isinstance(recent, list) else ()
    return Remembered(_object(data.get("user")), sessions, names)


def save(remembered: Remembered) -> str:
    """Write it atomically. Returns why that failed, else ""."""
    content = json.dumps(
        {"user": dict(remembered.user), "sessions": remembered.sessions, "recent": list(remembered.recent)},
        default=dict,
        indent=1,
    )
    try:
        folder = state_folder()
        private(folder)
        whole_files.replace(str(folder / NAME), content.encode("utf-8", "backslashreplace"), 0o600)
    except (OSError, SessionError) as error:
        return str(error)
    return ""


def number_in(parts: Parts, name: str, least: float, most: float) -> float | None:
    """Return a number within its limits, None for anything else."""
    value = parts.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if least <= value <= most else None


def text_in(parts: Parts, name: str) -> str:
    value = parts.get(name)
    return value if isinstance(value, str) else ""


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
