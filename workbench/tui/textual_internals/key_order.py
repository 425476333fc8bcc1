"""Handle keys that arrive together in the order they were typed.

Textual hands a key to the focused widget at once, but runs a binding only after the key has bubbled up to the app. By
then the letters typed after it are already in the text (Textual 8.2.8: `ctrl+u` and `ab` in one write leave nothing). A
priority binding also overtakes letters that the widget has not handled yet. Here, a key that is not a letter waits for
the letters before it, and later keys wait for that key.

Such a key also waits until the first screen is `complete`, because its binding may not exist before that.

A letter with alt is a key, not text. For terminals that send it as ESC and the letter, Textual sets its character
(`XTermParser._sequence_to_key_events`), so an editor would insert it and its binding would never run.
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
"""Seconds to wait for an earlier key, which may have been sent to a widget that no longer exists."""
LONGEST_START_S = 10.0
"""Seconds to wait for the first screen."""


class KeyOrder:
    """Deliver the app's events in order; `deliver` is Textual's handler, `report` receives exceptions."""

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
        """Deliver an event; keys and pastes wait for earlier ones."""
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
            if not self._complete.is_set():  # after a timeout, no key waits for the first screen again
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._complete.wait(), LONGEST_START_S)
                self._complete.set()
            if self._letters_under_way:
                await self._settled()
            await self._deliver(event)
            await self._settled()
        except Exception as error:  # a handler may raise anything
            self._report(error)
        finally:
            self._letters_under_way = self._is_busy = False
            while self._waiting and not self._is_busy:
                await self.take(self._waiting.popleft())

    async def _settled(self) -> None:
        """Wait until the focused widget, its parents and the app have handled their messages."""
        node = self._app.focused or self._app.screen
        for one in node.ancestors_with_self:
            done = asyncio.Event()
            if one.post_message(events.Callback(callback=done.set)):
                try:
                    await asyncio.wait_for(done.wait(), PATIENCE_S)
                except TimeoutError:
                    return
