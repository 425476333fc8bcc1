"""Finish slow columns and replies, and ask litellm about models, away from the keys."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from textual.dom import DOMNode

from workbench.state.derived import RenderedColumn, SlowReading

if TYPE_CHECKING:
    from adapters.replies.reading import Reading
    from workbench.state.engine import Engine


class LateColumns:
    """Follow the columns of other dspy releases: one question at a time for each, then `show`.

    Text typed during a question becomes the next question.
    """

    def __init__(self, node: DOMNode, show: Callable[[], None]) -> None:
        self._node = node
        self._show = show
        self._under_way: set[str] = set()
        self._has_asked = False

    def look_after(self, rendered: RenderedColumn, engine: Engine) -> None:
        """Ask for a late column after the columns that need no other process are painted."""
        if rendered.late is not None and rendered.column.id not in self._under_way:
            if not self._has_asked:  # an app before this one may have ended the processes
                from sessions.releases import running

                running.begin()
                self._has_asked = True
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

    def close(self) -> None:
        """End the processes: pending questions fail, and nothing delays the program's exit.

        A session without such columns never imports their modules.
        """
        if not self._has_asked:
            return
        from sessions.releases import running

        running.end()


class ModelAnswers:
    """Ask the installed litellm about models that it has not answered for yet; then call `show`.

    Until then the columns use the last known answers (`adapters.lm.litellm_answers`).
    """

    def __init__(self, node: DOMNode, show: Callable[[], None]) -> None:
        self._node = node
        self._show = show
        self._is_asking = False

    def look_after(self, models: Iterable[str]) -> None:
        """Ask about these models if a column has looked one up in vain. The thread never delays the exit."""
        from adapters.lm import litellm_answers

        wanted = set(models).intersection(litellm_answers.wanted())
        if wanted and not self._is_asking:
            self._is_asking = True
            threading.Thread(target=self._ask, args=(wanted,), daemon=True, name="ask litellm").start()

    def _ask(self, models: Iterable[str]) -> None:
        from adapters.lm import litellm_answers

        litellm_answers.ask(models)
        self._is_asking = False
        with suppress(RuntimeError):  # the app has ended
            self._node.app.call_from_thread(self._show)


class SlowReadings:
    """Parse slow replies one after the other; `show` is called after each.

    Two at once would share one interpreter with each other and the screen, so neither verdict would come before the
    last.
    """

    def __init__(self, node: DOMNode, show: Callable[[], None]) -> None:
        self._node = node
        self._show = show
        self._under_way: set[str] = set()
        self._turn = asyncio.Lock()

    def look_after(self, rendered: RenderedColumn, engine: Engine) -> None:
        """Parse the reply of a column if that is still to do."""
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
