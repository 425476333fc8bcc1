"""The user's folder for what the workbench keeps beside their files: copies of unsaved work, restore points, logs."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from sessions.errors import SessionError

NAME = "adapter-workbench"


def state_folder() -> Path:
    """`$XDG_STATE_HOME/adapter-workbench`, by default below `~/.local/state`; it need not exist yet.

    Raises `SessionError` when there is neither the variable nor a home folder. A relative path in the variable is
    passed over, as the XDG base directory specification has it.
    """
    named = os.environ.get("XDG_STATE_HOME", "")
    if named and os.path.isabs(named):
        return Path(named) / NAME
    home = os.path.expanduser("~")
    if not os.path.isabs(home):
        message = "there is no home folder to keep copies of unsaved work in"
        raise SessionError(None, "", message, "set XDG_STATE_HOME to a folder of yours")
    return Path(home) / ".local" / "state" / NAME


def key_of(path: str | os.PathLike[str] | None) -> str:
    """What a file is called in the state folder, the same for every way to name it; `unnamed` for work without one."""
    if path is None:
        return "unnamed"
    real = os.path.realpath(path)
    stem = "".join(letter if letter.isalnum() else "_" for letter in Path(real).stem[:40])
    return f"{stem}-{hashlib.sha256(os.fsencode(real)).hexdigest()[:16]}"
