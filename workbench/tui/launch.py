"""Start the app on a session."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from sessions.file import autosave, store
from sessions.model.session import Session
from workbench.tui.app import WorkbenchApp
from workbench.tui.textual_internals.terminal_writer import outlive_the_terminal


def run_app(path: str | None = None, session: Session | None = None, **options: Any) -> int:
    """Run the app on the session in `path`, by default on the first example, and return its exit code.

    `session` is a session without a file. Raises `sessions.errors.SessionError` when the file cannot be opened.
    """
    if session is not None:
        app = WorkbenchApp(session, None, **options)
    elif path is None:
        app = WorkbenchApp(*opened(None), **options)
    else:
        found = store.open_file(path)
        app = WorkbenchApp(found.session, Path(path), fingerprint=found.fingerprint, **options)
    app.preferences.use_config()
    outlive_the_terminal()
    code = app.run()
    autosave.close()
    return code if code is not None else (app.return_code or 0)


def opened(path: str | None) -> tuple[Session, Path | None]:
    """Return the session to start with, and its file if it has one."""
    from sessions import examples

    if path is None:
        return replace(examples.load(examples.FIRST), model="offline/exact"), None
    return store.load(path), Path(path)
