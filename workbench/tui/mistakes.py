"""What happens when something in the app raises: it is said and logged, the work is kept, and the app goes on."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from sessions.file import autosave
from workbench.state import drafts
from workbench.tui.widgets.text.plain import plain_notify

if TYPE_CHECKING:
    from workbench.tui.host import Host

MOST = 20
"""Exceptions within `WITHIN_SECONDS` after which the app saves a copy and ends, as it cannot go on like this."""
WITHIN_SECONDS = 5.0


class Mistakes:
    """`end` ends the app with an exception, as Textual does."""

    def __init__(self, host: Host, end: Callable[[Exception], None]) -> None:
        self._host = host
        self._end = end
        self.seen: deque[tuple[float, Exception]] = deque(maxlen=MOST)
        """When each was raised, on the monotonic clock, and what it was."""

    def report(self, error: Exception) -> None:
        """Shows and logs an exception; only when there are more again and again, or no picture yet, the app ends."""
        now = time.monotonic()
        self.seen.append((now, error))
        if not self._host.app.is_running or not self._host.main.is_mounted:
            self._end(error)
            return
        state, path = self._host.document.state, self._host.document.path
        if len(self.seen) == MOST and now - self.seen[0][0] < WITHIN_SECONDS:
            autosave.write(drafts.with_drafts(state), path)
            self._end(error)
            return
        if any(now - at < WITHIN_SECONDS and repr(one) == repr(error) for at, one in list(self.seen)[:-1]):
            return
        from workbench.output import crash_log

        log = crash_log.write(error)
        autosave.changed(drafts.with_drafts(state), path)
        said = f"{type(error).__name__}: {error}\nYour work is as it was, and a copy is kept. Details: {log}"
        plain_notify(self._host.app, said, title="A mistake of ours", severity="error", timeout=15)
