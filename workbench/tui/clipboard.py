"""Copying: the system's clipboard, tmux's, and the terminal's (OSC 52), which also works over SSH."""

from __future__ import annotations

import os
import subprocess
import threading
from typing import Any

from textual.app import App

SECONDS_OF_TMUX = 5.0


def copy(app: App[Any], text: str, to_programs: bool = True) -> None:
    """Puts `text` on every clipboard there is. Never waits: finding the system's clipboard starts other programs,
    which are left alone without `to_programs`: then the terminal's is the only one.

    A lone surrogate cannot be written to a terminal or program; `?` goes in its place.
    """
    encodable = text.encode("utf-8", "replace").decode("utf-8")
    App.copy_to_clipboard(app, encodable)
    if to_programs and not app.is_headless:
        threading.Thread(target=_to_others, args=(encodable,), daemon=True, name="clipboard").start()


def _to_others(text: str) -> None:
    to_tmux(text)
    try:
        import pyperclip

        pyperclip.copy(text)
    except Exception:  # no clipboard on this machine; the terminal has been asked as well
        return


def to_tmux(text: str) -> bool:
    """Whether a tmux that this runs in has taken the text.

    As it is set up usually (`set-clipboard external`) tmux drops what a program in it sends to the terminal's
    clipboard, but hands on what it is asked for itself: `load-buffer -w`, before tmux 3.2 only to its own buffers.
    """
    if not os.environ.get("TMUX"):
        return False
    for options in (("-w",), ()):
        words = ["tmux", "load-buffer", *options, "-"]
        try:
            done = subprocess.run(words, input=text.encode(), capture_output=True, timeout=SECONDS_OF_TMUX, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return False
        if done.returncode == 0:
            return True
    return False
