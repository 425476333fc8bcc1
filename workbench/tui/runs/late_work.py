"""Complete slow columns, parse results and token counts without delaying keys."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from textual.dom import DOMNode

from adapters.late_dataclasses import dataclass, field
from workbench.state.document import RenderedColumn, SlowReading

if TYPE_CHECKING:
    from adapters.replies.reading import Reading
    from adapters.requests.request import Request
    from adapters.requests.token_ledger import Ledger
    from workbench.state.engine import Engine
    from workbench.tui.runs.runs import ColumnRun


REST_SECONDS = 0.5
"""Seconds that a prompt must stay unchanged before its tokens are counted."""
LONGEST = 100_000
"""Characters of a prompt above which the estimate is kept, because passing on more would delay keys."""

NEW_OBJECTS = 10_000
"""The number of new objects after which Python collects garbage; with many demos a collection takes milliseconds."""
LOOKS_BETWEEN = 3, 30
"""The thresholds of garbage collections: young ones before a middle one, middle ones before a full one.

With Python's 10 and 10, a middle collection delayed a key by 40 ms.
"""
SWITCH_SECONDS = 0.0005
"""The longest time, in seconds, that another thread delays a key; Python's default is ten times as long."""

Told = Callable[[str, "Request", "Ledger"], object]


def interrupt_keys_less() -> None:
    """Collect garbage seldom, none of it from the start, and switch threads often."""
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS, *LOOKS_BETWEEN)
    sys.setswitchinterval(SWITCH_SECONDS)


@dataclass(eq=False)
class ExactCounts:
    """Count prompts that stopped changing, calling `tell(column id, request, ledger)` from a thread for each."""

    _tell: Told
    _resting: dict[str, Request] = field(default_factory=dict)
    asked: dict[str, Request] = field(default_factory=dict)
    """The newest counted request of each column."""

    def look(self, columns: Sequence[RenderedColumn], is_wanted: bool = False) -> None:
        """Count each prompt that is unchanged since the last call, once.

        `is_wanted` starts the child process if needed, because the numbers are on screen.
        """
        before, self._resting = self._resting, {one.column.id: one.request for one in columns if one.request}
        # another thread may be importing the module, whose function is then not there yet
        is_running = getattr(sys.modules.get("adapters.lm.child"), "is_running", None)
        if not (is_wanted or (is_running is not None and is_running())):
            return
        for rendered in columns:
            request, id = rendered.request, rendered.column.id
            if request is None or rendered.stale or before.get(id) is not request:
                continue
            model = str(request.model)
            is_of_openai = model.startswith("openai/") or "/" not in model
            if not is_of_openai or sum([len(one.text) for one in request.messages]) > LONGEST:
                continue
            asked = self.asked.get(id)
            if asked is None or not asked.counts_the_same(request):
                self.asked[id] = request
                threading.Thread(target=self._count, args=(id, request), daemon=True, name="count tokens").start()

    def _count(self, id: str, request: Request) -> None:
        from adapters import lm
        from adapters.lm.litellm_client import LitellmLM
        from adapters.requests.token_ledger import ledger_of, pieces_of

        model = lm.open(str(request.model))
        try:
            counts = model.count_tokens(pieces_of(request)) if isinstance(model, LitellmLM) else None
        except lm.ProviderError:
            return  # the child process has ended: the estimate stays
        if counts is not None:
            self._tell(id, request, ledger_of(request, counts))


def told_by_provider(run: ColumnRun | None) -> int | None:
    """Return the prompt tokens that the provider reported for the first call of a finished run, or None."""
    if run is None or run.run is None or not run.run.attempts:
        return None
    count = (run.run.attempts[0].usage or {}).get("prompt_tokens")
    return count if isinstance(count, int) else None


@dataclass(eq=False)
class Late:
    """Work outside of the app's loop; `show` is called when some of it is done."""

    _node: DOMNode
    _show: Callable[[], None]
    _under_way: set[str] = field(default_factory=set)
    """The columns that are worked on."""


class LateColumns(Late):
    """Get columns rendered by other dspy releases, one question per column at a time.

    Text typed during a question becomes the next question.
    """

    _has_asked = False

    def look_after(self, rendered: RenderedColumn, engine: Engine) -> None:
        """Ask about a late column once the columns that need no other process are painted."""
        if rendered.late is not None and rendered.column.id not in self._under_way:
            if not self._has_asked:  # an earlier app in this process may have ended the release processes
                from sessions.releases import environments

                environments.begin()
                self._has_asked = True
            self._under_way.add(rendered.column.id)
            work = partial(self._follow, rendered.column.id, engine)
            self._node.call_after_refresh(self._node.run_worker, work, group="releases", exit_on_error=False)

    async def _follow(self, id: str, engine: Engine) -> None:
        from workbench.state.engine import make

        try:
            while (late := engine.late_of(id)) is not None:
                engine.take_late(id, late, await asyncio.to_thread(make, late))
                self._show()
        finally:
            self._under_way.discard(id)

    def close(self) -> None:
        """End the release processes: pending questions fail, and nothing delays the program's exit.

        A session without such columns never imports their modules.
        """
        if not self._has_asked:
            return
        from sessions.releases import environments

        environments.end()


class ModelAnswers(Late):
    """Ask the installed litellm about models it has not answered for yet.

    Until then, columns use the last known answers (`adapters.lm.litellm_answers`).
    """

    _is_asking = False

    def look_after(self, models: Iterable[str]) -> None:
        """Ask about these models if a column looked one up without success.

        Runs in a thread that never delays the exit.
        """
        from adapters.lm import litellm_answers

        wanted = set(models).intersection(litellm_answers.wanted())
        if wanted and not self._is_asking:
            self._is_asking = True
            threading.Thread(target=self._ask, args=(wanted,), daemon=True, name="ask litellm").start()

    def _ask(self, models: Iterable[str]) -> None:
        from adapters.lm import litellm_answers

        litellm_answers.ask(models)
        self._is_asking = False
        with suppress(RuntimeError):  # the app may have ended
            self._node.app.call_from_thread(self._show)


@dataclass(eq=False)
class SlowReadings(Late):
    """Parse slow replies one at a time.

    Two at once would share the interpreter with each other and the screen, so that neither would finish early.
    """

    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def look_after(self, rendered: RenderedColumn, engine: Engine) -> None:
        """Parse the reply of a column if it still has to be parsed."""
        if rendered.slow is not None and rendered.column.id not in self._under_way:
            self._under_way.add(rendered.column.id)
            self._node.run_worker(
                self._read(rendered.column.id, rendered.slow, engine), group="readings", exit_on_error=False
            )

    async def _read(self, id: str, slow: SlowReading, engine: Engine) -> None:
        try:
            async with self._turn:
                if engine.is_left(id, slow):
                    reading: Reading | Exception
                    try:
                        reading = await asyncio.to_thread(slow.read)
                    except Exception as error:  # a user's own adapter may raise anything
                        reading = error
                    engine.take(id, slow, reading)
        finally:
            self._under_way.discard(id)
        self._show()
