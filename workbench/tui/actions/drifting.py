"""Mark columns of the case on screen that differ from their recording, while the user edits."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual.timer import Timer

from sessions.checking import checking
from sessions.model.session import Session

if TYPE_CHECKING:
    from workbench.tui.host import Host

REST_S = 0.3
"""Seconds without a change after which it is looked: what a key is waited for comes first."""


class DriftWatch:
    """Looks when the session has not changed for a moment, in a thread, and only where something is recorded."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._seen: tuple[Session, str] | None = None
        self._timer: Timer | None = None

    def look(self) -> None:
        """The panes show the document as it is now."""
        state = self._host.document.state
        seen = (state.session, state.case.name)
        if self._seen is not None and seen[0] is self._seen[0] and seen[1] == self._seen[1]:
            return
        is_another_case = self._seen is None or seen[1] != self._seen[1]
        self._seen = seen
        if self._timer is not None:
            self._timer.stop()
        if is_another_case or not state.case.recordings:
            self._host.main.mark_drifted(frozenset())
        if state.case.recordings:
            self._timer = self._host.app.set_timer(REST_S, self._judge)

    def _judge(self) -> None:
        if self._seen is not None:
            work = self._find(*self._seen)
            self._host.app.run_worker(work, group="drift", exclusive=True, exit_on_error=False)

    async def _find(self, session: Session, case: str) -> None:
        found = await asyncio.to_thread(drifted, session, case)
        if self._seen is not None and self._seen[0] is session and self._seen[1] == case:
            self._host.main.mark_drifted(found)


def drifted(session: Session, case: str) -> frozenset[str]:
    """Return the ids of the columns whose prompt, request or parse result differs from the recording, as in `check`."""
    results = checking.check(session, cases=[case])
    return frozenset([one.column for one in results if "drift" in (one.verdicts["render"], one.verdicts["parse"])])
