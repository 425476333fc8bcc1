"""Copying: the system's clipboard where there is one, and the terminal's (OSC 52), which also works over SSH."""

from __future__ import annotations

import threading
from typing import Any

from textual.app import App


def copy(app: App[Any], text: str) -> None:
    """Puts `text` on both clipboards. Never waits: finding the system's clipboard starts other programs.

    A lone surrogate cannot be written to a terminal or program; `?` goes in its place.
    """
    encodable = text.encode("utf-8", "replace").decode("utf-8")
    App.copy_to_clipboard(app, encodable)
    threading.Thread(target=_to_system, args=(encodable,), daemon=True, name="clipboard").start()


def _to_system(text: str) -> None:
    try:
        import pyperclip

        pyperclip.copy(text)
    except Exception:  # no clipboard on this machine; the terminal has been asked as well
        return
