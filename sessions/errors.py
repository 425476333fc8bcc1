"""The error for a session that cannot be read, written or checked; places and counts in messages."""

from __future__ import annotations

import os
from collections.abc import Sequence


class SessionError(ValueError):
    """A problem with a session: the message, its place, and a hint.

    `path` is the file (None for text without a file); `place` is a path into the JSON such as `cases[0].inputs`, for
    broken JSON `line 3, column 7`, or empty for the whole file; `hint` may be empty.
    """

    def __init__(self, path: str | os.PathLike[str] | None, place: str, message: str, hint: str = "") -> None:
        self.path = None if path is None else os.fspath(path)
        self.place = place
        self.message = message
        self.hint = hint
        parts = [part for part in (self.path, place, message) if part]
        super().__init__(": ".join(parts) + (f" ({hint})" if hint else ""))


def counted(number: int, one: str, many: str = "") -> str:
    """Return `1 message` or `1,200 messages`; `many` is the plural if it is not `one` plus s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def few(names: Sequence[str], most: int, between: str = ", ") -> str:
    """Join names; those beyond `most` are counted: `a, b and 3 more`."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return between.join(names[:most]) + more


def step_into(place: str, key: str | int) -> str:
    """Append a key to a path: `step_into("cases[0]", "inputs")` returns `cases[0].inputs`."""
    if isinstance(key, int):
        return f"{place}[{key}]"
    if not key.isidentifier():
        return f"{place}[{key!r}]"
    return f"{place}.{key}" if place else key
