"""How the screen was left, for the next time: one small JSON file in the user's state folder, never in a session."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sessions.errors import SessionError
from sessions.file.state_folder import key_of, private, state_folder

NAME = "layout.json"
MOST_SESSIONS = 200
MOST_RECENT = 50
LARGEST = 1_000_000
"""Bytes; a file of that size is none of ours."""

Parts = Mapping[str, Any]


def _nothing() -> Parts:
    return MappingProxyType({})


@dataclass(frozen=True)
class Remembered:
    """`user` holds for every session, `sessions` by `key_of` their file; `recent` are files, the last opened first."""

    user: Parts = field(default_factory=_nothing)
    sessions: Mapping[str, Parts] = field(default_factory=_nothing)
    recent: tuple[str, ...] = ()

    def of(self, path: Path | None) -> Parts:
        """What holds for a session: its own over the user's."""
        own = self.sessions.get(key_of(path), {})
        return {**self.user, **own}

    def with_session(self, path: Path | None, user: Parts, own: Parts) -> Remembered:
        """What was left last counts for everything that has no layout of its own yet."""
        others = {key: one for key, one in self.sessions.items() if key != key_of(path)}
        kept = dict(list(others.items())[-(MOST_SESSIONS - 1) :])
        recent = self.recent
        if path is not None:
            name = os.path.realpath(path)
            recent = (name, *(one for one in recent if one != name))[:MOST_RECENT]
        return Remembered({**self.user, **user}, {**kept, key_of(path): dict(own)}, recent)


def load() -> Remembered:
    """What was remembered; nothing where there is no such file or it is no such file."""
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
    """Writes it in one step. Returns why that was not possible, else an empty text: a layout is nothing to stop for."""
    content = json.dumps(
        {"user": dict(remembered.user), "sessions": remembered.sessions, "recent": list(remembered.recent)},
        default=dict,
        indent=1,
    )
    written = ""
    try:
        folder = state_folder()
        private(folder)
        handle, written = tempfile.mkstemp(dir=folder, prefix=f"{NAME}.")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(content)
        os.replace(written, folder / NAME)
    except (OSError, SessionError) as error:
        if written:
            with suppress(OSError):
                os.unlink(written)
        return str(error)
    return ""


def number_in(parts: Parts, name: str, least: float, most: float) -> float | None:
    """A number of the file within its limits; None for anything else."""
    value = parts.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if least <= value <= most else None


def text_in(parts: Parts, name: str) -> str:
    value = parts.get(name)
    return value if isinstance(value, str) else ""


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
