"""The teacher's place on its way to the visitors: told by his program alone, heard by everybody's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from workbench.serving.teachers_place import TeachersPlace

BETWEEN_S = 0.1
"""Seconds that a listener waits between two places: what came meanwhile is not heard, only where the teacher is."""


class Lead:
    """Holds one place, the latest: whoever listens slowly misses some, and holds up nobody."""

    def __init__(self) -> None:
        self.place: TeachersPlace | None = None
        """None: no teacher is there."""
        self._news = asyncio.Event()

    def tell(self, place: TeachersPlace | None) -> None:
        """The teacher is here now, or has left."""
        if place != self.place:
            self.place = place
            news, self._news = self._news, asyncio.Event()
            news.set()

    async def places(self) -> AsyncIterator[TeachersPlace | None]:
        """Where the teacher is, if he is there, then each time that he is elsewhere. Without end."""
        heard: TeachersPlace | None = None
        while True:
            news = self._news
            if self.place != heard:
                heard = self.place
                yield heard
                await asyncio.sleep(BETWEEN_S)
            else:
                await news.wait()
