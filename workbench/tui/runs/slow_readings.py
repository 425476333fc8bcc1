"""Replies that take more than a moment to read are read away from the keys."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.dom import DOMNode

from workbench.state.derived import RenderedColumn, SlowReading

if TYPE_CHECKING:
    from adapters.replies.reading import Reading
    from workbench.state.engine import Engine


class SlowReadings:
    """One after the other: what was typed meanwhile is looked at when that is over. `show` is called then.

    Two at once would share one interpreter with each other and the screen, and neither verdict come before the last.
    """

    def __init__(self, node: DOMNode, show: Callable[[], None]) -> None:
        self._node = node
        self._show = show
        self._under_way: set[str] = set()
        self._turn = asyncio.Lock()

    def look_after(self, rendered: RenderedColumn, engine: Engine) -> None:
        """Reads the reply of a column, if that is left to do."""
        if rendered.slow is not None and rendered.column.id not in self._under_way:
            self._under_way.add(rendered.column.id)
            self._node.run_worker(
                self._read(rendered.column.id, rendered.slow, engine), group="readings", exit_on_error=False
            )

    async def _read(self, id: str, slow: SlowReading, engine: Engine) -> None:
        try:
            async with self._turn:
                if engine.is_left(id, slow):
                    engine.take(id, slow, await _reading_or_error(slow))
        finally:
            self._under_way.discard(id)
        self._show()


async def _reading_or_error(slow: SlowReading) -> Reading | Exception:
    try:
        return await asyncio.to_thread(slow.read)
    except Exception as error:  # a user's own adapter may raise anything
        return error
