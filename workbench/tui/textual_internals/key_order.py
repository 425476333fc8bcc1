"""Keys that arrive together are carried out in the order in which they were typed.

Textual hands a key to the focused widget at once, but carries out a binding only when the key has come back to the
app through every parent, by when the letters that followed are in the text already (Textual 8.2.8: `ctrl+u` and `ab`
in one write leave nothing). And a binding with priority overtakes letters that the widget has not seen yet. Here a key
that is no letter waits until the letters before it have arrived, and what follows waits until it is done.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

from textual import events
from textual.app import App

if TYPE_CHECKING:
    _Base = App[int]
else:
    _Base = object

PATIENCE_S = 1.0
"""Seconds after which keys no longer wait for one before them, which may have gone to a widget that is no more."""


class KeysInOrder(_Base):
    """To be put in front of an app's base class."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: deque[events.Key | events.Paste] = deque()
        self._is_busy = False
        self._letters_under_way = False
        self._task: asyncio.Task[None] | None = None

    @property
    def has_keys_waiting(self) -> bool:
        return self._is_busy

    async def on_event(self, event: events.Event) -> None:
        if not isinstance(event, (events.Key, events.Paste)) or event.is_forwarded:
            await super().on_event(event)
        elif self._is_busy:
            self._waiting.append(event)
        elif isinstance(event, events.Key) and event.is_printable:
            self._letters_under_way = True
            await super().on_event(event)
        else:
            self._is_busy = True
            self._task = asyncio.create_task(self._carry_out(event))

    async def _carry_out(self, event: events.Key | events.Paste) -> None:
        try:
            if self._letters_under_way:
                await self._settled()
            await super().on_event(event)
            await self._settled()
        except Exception as error:
            self._handle_exception(error)
        finally:
            self._letters_under_way = self._is_busy = False
            while self._waiting and not self._is_busy:
                await self.on_event(self._waiting.popleft())

    async def _settled(self) -> None:
        """Waits until what was handed to the focused widget has been handled there, by its parents, and by the app."""
        node = self.focused or self.screen
        for one in node.ancestors_with_self:
            done = asyncio.Event()
            if one.post_message(events.Callback(callback=done.set)):
                try:
                    await asyncio.wait_for(done.wait(), PATIENCE_S)
                except TimeoutError:
                    return
