"""The texts of a session's parts as they were written last: a large session is written again in milliseconds."""

from __future__ import annotations

from collections.abc import Callable

from sessions.file.json_values import JSON, Written, written


class WrittenParts:
    """For writing states of one session one after another, in one thread at a time.

    A part's identity stands for its content, as demos and recordings promise; it is kept as long as its text is.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[object, Written]] = {}
        self._used: dict[int, tuple[object, Written]] = {}

    def text_of(self, part: object, make: Callable[[], JSON], level: int) -> Written:
        """The text of `part`, which stands `level` levels deep; what `make` raises is raised."""
        known = self._known.get(id(part)) or (part, written(make(), level))
        self._used[id(part)] = known
        return known[1]

    def forget_others(self) -> None:
        """Lets go of what was not asked for since the last time."""
        self._known, self._used = self._used, {}
