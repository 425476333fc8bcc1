"""The columns of other releases of dspy follow what is typed as fast as their processes answer, never the keys."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.dom import DOMNode

from workbench.state.derived import RenderedColumn

if TYPE_CHECKING:
    from workbench.state.engine import Engine


class LateColumns:
    """One question a column at a time: what was typed meanwhile is the next one. `show` is called after each."""

    def __init__(self, node: DOMNode, show: Callable[[], None]) -> None:
        self._node = node
        self._show = show
        self._under_way: set[str] = set()
        self._has_asked = False

    def look_after(self, rendered: RenderedColumn, engine: Engine) -> None:
        """Asks for a column, if that is left to do, once the columns that need no other process are painted."""
        if rendered.late is not None and rendered.column.id not in self._under_way:
            self._allow_questions()
            self._under_way.add(rendered.column.id)
            self._node.call_after_refresh(self._start, rendered.column.id, engine)

    def _start(self, id: str, engine: Engine) -> None:
        self._node.run_worker(self._follow(id, engine), group="releases", exit_on_error=False)

    async def _follow(self, id: str, engine: Engine) -> None:
        from workbench.state import late_columns

        try:
            while (late := engine.late_of(id)) is not None:
                engine.take_late(id, late, await asyncio.to_thread(late_columns.make, late))
                self._show()
        finally:
            self._under_way.discard(id)

    def _allow_questions(self) -> None:
        """Whatever an app before this one has ended."""
        if not self._has_asked:
            from sessions.releases import running

            running.begin()
            self._has_asked = True

    def close(self) -> None:
        """Ends the processes: whoever waits for one or asks gets an error, and nothing keeps the program from ending.

        A session without such a column never loads what they take.
        """
        if not self._has_asked:
            return
        from sessions.releases import running

        running.end()
