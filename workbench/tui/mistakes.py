"""Handle internal errors: report and log them, back up the work, and continue."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from adapters.late_dataclasses import dataclass, field
from sessions.file import autosave
from workbench.state import document
from workbench.tui.host import Host
from workbench.tui.widgets.text.plain import plain_notify

MOST = 20
"""The number of exceptions within `WITHIN_SECONDS` after which the app backs up the work and exits."""
WITHIN_SECONDS = 5.0


@dataclass(eq=False)
class Mistakes:
    """Reports exceptions; `end` exits the app with a traceback, as Textual does."""

    _host: Host
    _end: Callable[[Exception], None]
    seen: deque[tuple[float, Exception]] = field(default_factory=lambda: deque(maxlen=MOST))
    """The latest exceptions, each with its time on the monotonic clock."""

    def report(self, error: Exception) -> None:
        """Report and log an exception; exit only after `MOST` in quick succession, or before the first picture."""
        now = time.monotonic()
        self.seen.append((now, error))
        if not self._host.app.is_running or not self._host.main.is_mounted:
            self._end(error)
            return
        state, path = self._host.document.state, self._host.document.path
        if len(self.seen) == MOST and now - self.seen[0][0] < WITHIN_SECONDS:
            autosave.write(document.session_with_drafts(state), path)
            self._end(error)
            return
        if any(now - at < WITHIN_SECONDS and repr(one) == repr(error) for at, one in list(self.seen)[:-1]):
            return
        from workbench.output import crash_log

        log = crash_log.write(error)
        autosave.changed(document.session_with_drafts(state), path)
        said = f"{type(error).__name__}: {error}\nYour work is unchanged and a copy was saved. Details: {log}"
        plain_notify(self._host.app, said, title="Internal error", severity="error", timeout=15)
