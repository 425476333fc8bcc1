"""Start the app on a session, or take a screenshot of it."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from adapters.late_dataclasses import replace
from sessions.errors import SessionError
from sessions.file import autosave, store
from sessions.model.session import Session
from workbench.sending.tool_answers import NamedHandler
from workbench.tui.app import WorkbenchApp
from workbench.tui.textual_internals.terminal import use_our_terminal

TITLE = "adapter workbench"


def take(
    session_path: str | None,
    size: tuple[int, int] = (160, 45),
    tool_handlers: Mapping[str, NamedHandler] | None = None,
    session: Session | None = None,
    is_projected: bool = False,
) -> str:
    """Make a screenshot of a session as SVG, `size` (columns, rows) in cells.

    Opens `session` if given, else the file `session_path`, else an example. Raises `sessions.errors.SessionError` if
    the session cannot be read.
    """
    shown = opened(session_path) if session is None else (session, None)
    app = WorkbenchApp(*shown, keep=False, tool_handlers=tool_handlers, is_projected=is_projected)
    return asyncio.run(_picture(app, size))


async def _picture(app: WorkbenchApp, size: tuple[int, int]) -> str:
    async with app.run_test(size=size, tooltips=True, notifications=True) as pilot:
        await pilot.pause()
        app.main.columns.set_quiet(True)  # as at a first start
        await pilot.pause()
        return app.export_screenshot(title=TITLE)


def run_app(path: str | None = None, session: Session | None = None, **options: Any) -> int:
    """Run the app and return its exit code.

    Opens `session`, which has no file, if given, else the file `path`, else the first example. Raises
    `sessions.errors.SessionError` if the file cannot be opened.
    """
    if session is not None:
        app = WorkbenchApp(session, None, **options)
    elif path is None:
        app = WorkbenchApp(*opened(None), **options)
    else:
        try:
            found = store.open_file(path)
        except SessionError:
            from sessions.imports.pasted_text import calls_at

            if not calls_at(path):
                raise
            hint = f"`workbench import {shlex.quote(str(path))} -o failure.session.json` makes a session from a call"
            raise SessionError(path, "", "it contains calls of dspy, not a session", hint) from None
        app = WorkbenchApp(found.session, Path(path), fingerprint=found.fingerprint, **options)
    return run(app)


def run(app: WorkbenchApp) -> int:
    """Run an app with the user's preferences and return its exit code."""
    app.preferences.use_config()
    use_our_terminal()
    code = app.run()
    autosave.close()
    return code if code is not None else (app.return_code or 0)


def opened(path: str | None) -> tuple[Session, Path | None]:
    """Load the session in `path`, or the first example; return it with its path, if any."""
    if path is not None:
        return store.load(path), Path(path)
    from sessions import examples

    return replace(examples.load(examples.FIRST), model="offline/exact"), None
