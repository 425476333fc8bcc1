"""Keys that arrive together are carried out in the order in which they were typed.

Textual hands a key to the focused widget at once, but carries out a binding only when the key has come back to the
app through every parent, by when the letters that followed are in the text already (Textual 8.2.8: `ctrl+u` and `ab`
in one write leave nothing). And a binding with priority overtakes letters that the widget has not seen yet. Here a key
that is no letter waits until the letters before it have arrived, and what follows waits until it is done.

A key that is no letter also waits until the first picture is `complete`: before, there is nothing that it could mean.

A letter with alt is a key and no text. Textual gives it its letter where the terminal sends it as ESC and the letter
(`XTermParser._sequence_to_key_events`), so an editor typed it and the binding was never looked for.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from textual import events
from textual.app import App

PATIENCE_S = 1.0
"""Seconds after which keys no longer wait for one before them, which may have gone to a widget that is no more."""
LONGEST_START_S = 10.0
"""Seconds after which keys no longer wait for the first picture."""


class KeyOrder:
    """Every event of the app comes here first; `deliver` is what Textual does with one, `report` hears what raises."""

    def __init__(
        self,
        app: App[Any],
        deliver: Callable[[events.Event], Awaitable[None]],
        report: Callable[[Exception], object],
        complete: asyncio.Event,
    ) -> None:
        self._app = app
        self._complete = complete
        self._deliver = deliver
        self._report = report
        self._waiting: deque[events.Key | events.Paste] = deque()
        self._is_busy = False
        self._letters_under_way = False
        self._task: asyncio.Task[None] | None = None

    @property
    def has_keys_waiting(self) -> bool:
        return self._is_busy

    async def take(self, event: events.Event) -> None:
        """Delivers an event, a key or a paste only once those before it have been carried out."""
        if isinstance(event, events.Key) and event.key.startswith("alt+"):
            event.character = None
        if not isinstance(event, (events.Key, events.Paste)) or event.is_forwarded:
            await self._deliver(event)
        elif self._is_busy:
            self._waiting.append(event)
        elif isinstance(event, events.Key) and event.is_printable:
            self._letters_under_way = True
            await self._deliver(event)
        else:
            self._is_busy = True
            self._task = asyncio.create_task(self._carry_out(event))

    async def _carry_out(self, event: events.Key | events.Paste) -> None:
        try:
            await self._begun()
            if self._letters_under_way:
                await self._settled()
            await self._deliver(event)
            await self._settled()
        except Exception as error:  # whatever a handler raises
            self._report(error)
        finally:
            self._letters_under_way = self._is_busy = False
            while self._waiting and not self._is_busy:
                await self.take(self._waiting.popleft())

    async def _begun(self) -> None:
        """Waits for the first picture, and no second time where it never came."""
        if not self._complete.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._complete.wait(), LONGEST_START_S)
            self._complete.set()

    async def _settled(self) -> None:
        """Waits until what was handed to the focused widget has been handled there, by its parents, and by the app."""
        node = self._app.focused or self._app.screen
        for one in node.ancestors_with_self:
            done = asyncio.Event()
            if one.post_message(events.Callback(callback=done.set)):
                try:
                    await asyncio.wait_for(done.wait(), PATIENCE_S)
                except TimeoutError:
                    return
