"""Copy to the clipboards of system, tmux and terminal (OSC 52, which works over SSH)."""

from __future__ import annotations

import os
import subprocess
import threading
from typing import Any

from textual.app import App

SECONDS_OF_TMUX = 5.0


def copy(app: App[Any], text: str, to_programs: bool = True) -> None:
    """Copy `text` to every clipboard, without waiting for the programs that this starts.

    Without `to_programs` only the terminal's clipboard is used. Unpaired surrogates become `?`.
    """
    encodable = text.encode("utf-8", "replace").decode("utf-8")
    App.copy_to_clipboard(app, encodable)
    if to_programs and not app.is_headless:
        threading.Thread(target=_copy_to_programs, args=(encodable,), daemon=True, name="clipboard").start()


def _copy_to_programs(text: str) -> None:
    copy_to_tmux(text)
    try:
        import pyperclip

        pyperclip.copy(text)
    except Exception:  # no clipboard on this machine; the terminal has been asked as well
        return


def copy_to_tmux(text: str) -> bool:
    """Copy through the surrounding tmux; return whether it accepted the text.

    By default (`set-clipboard external`) tmux drops OSC 52 from programs, but `load-buffer -w` passes the text on. tmux
    before 3.2 has no `-w`; there only tmux's own buffer gets the text.
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
