"""The app for one visitor of `workbench serve`, run as `python -P -m workbench.tui.launch_visitor ORDERS`.

What it may reach is settled before anything of the session is looked at: memory, the walls, and what the app refuses.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

from sessions import examples
from sessions.file import autosave, store
from sessions.file.store import Fingerprint
from sessions.model.session import Session
from workbench.config.confinement import Confinement
from workbench.serving import walls
from workbench.serving.orders import Orders
from workbench.tui.actions import looking
from workbench.tui.app import WorkbenchApp

LOG = "stderr.log"


class VisitorApp(WorkbenchApp):
    """The app in a visitor's folder; with a lesson it begins there."""

    def __init__(
        self, session: Session, path: Path | None, orders: Orders, fingerprint: Fingerprint | None = None
    ) -> None:
        confinement = Confinement(orders.files, orders.models)
        super().__init__(session, path, fingerprint=fingerprint, confinement=confinement)
        self._lesson = orders.lesson

    def on_main_screen_showed(self) -> None:
        super().on_main_screen_showed()
        if self._lesson is not None and self.main.columns.rendered:
            step, self._lesson = self._lesson, None
            looking.open_lesson(self, step - 1)


def visitor_app(orders: Orders) -> VisitorApp:
    """The app as its orders say. Raises `sessions.errors.SessionError` for a session that cannot be read."""
    if orders.session is None:
        return VisitorApp(replace(examples.load(examples.FIRST), model="offline/exact"), None, orders)
    path = orders.files / orders.session
    found = store.open_file(path)
    return VisitorApp(found.session, path, orders, found.fingerprint)


def main() -> int:
    """Runs the app until its visitor leaves, and returns its exit code."""
    orders = Orders.read(sys.argv[1])
    _limit(orders.memory_mb, orders.disk_mb)
    os.nice(5)  # thirty of them leave the server the time to answer
    log = os.open(orders.home / LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(log, 2)  # what Python says of a mistake is not for the terminal of the teacher
    walls.put_up(Path(orders.folder), orders.disk_mb * walls.MEGABYTE, calls_models=bool(orders.models))
    app = visitor_app(orders)
    app.preferences.use_config()
    code = app.run()
    autosave.close()
    return code if code is not None else (app.return_code or 0)


def _limit(memory_mb: int, disk_mb: int) -> None:
    """What the process and its children may each ask for, and how long a file may become; past it they are told."""
    import resource

    for what, megabytes in ((resource.RLIMIT_DATA, memory_mb), (resource.RLIMIT_FSIZE, disk_mb)):
        limit = megabytes * walls.MEGABYTE
        resource.setrlimit(what, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    sys.exit(main())
