"""Count prompt tokens exactly, with the provider's tokenizer or from its reported usage.

The child process that calls models does the counting. While the user types, it is asked only if it is running: nothing
is loaded for a count that nobody looks at.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.message import Message as AppMessage

if TYPE_CHECKING:
    from adapters.requests.request import Request
    from adapters.requests.token_ledger import Ledger
    from workbench.state.derived import RenderedColumn
    from workbench.tui.runs.runs import ColumnRun

REST_SECONDS = 0.5
"""Seconds a prompt must stay unchanged before its tokens are counted."""
LONGEST = 100_000
"""Characters of a prompt above which the estimate stays: passing on more would slow the keys."""

Told = Callable[[str, "Request", "Ledger"], object]


class TokensCounted(AppMessage):
    """The tokens of a column's request were counted."""

    def __init__(self, column_id: str, request: Request, ledger: Ledger) -> None:
        super().__init__()
        self.column_id = column_id
        self.request = request
        self.ledger = ledger


class ExactCounts:
    """Count resting prompts; `tell(column id, request, ledger)` is called from a thread for each count."""

    def __init__(self, tell: Told) -> None:
        self._tell = tell
        self._resting: dict[str, Request] = {}
        self._asked: dict[str, Request] = {}

    def is_latest(self, column_id: str, request: Request) -> bool:
        """Return whether this is the column's newest request to be counted; counts may overtake each other."""
        return self._asked.get(column_id) is request

    def look(self, columns: Sequence[RenderedColumn], is_wanted: bool = False) -> None:
        """Count each prompt that has not changed since the last look, once.

        `is_wanted` starts the child process if needed: the numbers are on screen.
        """
        before, self._resting = self._resting, {one.column.id: one.request for one in columns if one.request}
        child = sys.modules.get("adapters.lm.child")
        if not (is_wanted or (child is not None and child.is_running())):
            return
        for rendered in columns:
            request, id = rendered.request, rendered.column.id
            if request is None or rendered.stale or before.get(id) is not request or not _can_be_counted(request):
                continue
            asked = self._asked.get(id)
            if asked is None or not asked.counts_the_same(request):
                self._asked[id] = request
                threading.Thread(target=self._count, args=(id, request), daemon=True, name="count tokens").start()

    def _count(self, id: str, request: Request) -> None:
        from adapters import lm
        from adapters.lm.litellm_client import LitellmLM
        from adapters.requests.token_ledger import ledger_of, pieces_of

        model = lm.open(str(request.model))
        try:
            counts = model.count_tokens(pieces_of(request)) if isinstance(model, LitellmLM) else None
        except lm.ProviderError:
            return  # the child is gone: the estimate stays
        if counts is not None:
            self._tell(id, request, ledger_of(request, counts))


def told_by_provider(run: ColumnRun | None) -> int | None:
    """Return the prompt tokens that the provider reported for the first call of a finished run."""
    if run is None or run.run is None or not run.run.attempts:
        return None
    count = (run.run.attempts[0].usage or {}).get("prompt_tokens")
    return count if isinstance(count, int) else None


def _can_be_counted(request: Request) -> bool:
    model = str(request.model)
    if not model.startswith("openai/") and "/" in model:
        return False
    return sum([len(one.text) for one in request.messages]) <= LONGEST
