"""The user's state folder: copies of unsaved work, restore points and logs."""

from __future__ import annotations

import errno
import hashlib
import os
from contextlib import suppress
from pathlib import Path

from adapters.user_folders import user_folder
from sessions.errors import SessionError

PRIVATE = 0o700
"""The mode of all folders here; unsaved work, replies and tracebacks are private."""


def state_folder() -> Path:
    """Return `$XDG_STATE_HOME/adapter-workbench`, by default in `~/.local/state`; it may not exist yet.

    Raises `SessionError` without the variable and a home folder.
    """
    folder = user_folder("XDG_STATE_HOME", ".local/state")
    if folder is None:
        message = "there is no home folder to keep copies of unsaved work in"
        raise SessionError(None, "", message, "set XDG_STATE_HOME to a folder of yours")
    return folder


def private(folder: Path) -> Path:
    """Create a folder at or below the state folder, with its parents; only the user may access them.

    A public folder of an earlier release becomes private. Raises OSError and `SessionError`.
    """
    top = state_folder()
    top.parent.mkdir(parents=True, exist_ok=True)
    below = folder.relative_to(top).parts
    for depth in range(len(below) + 1):
        one = top.joinpath(*below[:depth])
        one.mkdir(exist_ok=True, mode=PRIVATE)
        if one.stat().st_mode & 0o077:
            with suppress(OSError):  # the folder belongs to another user
                one.chmod(PRIVATE)
    return folder


def in_plain_words(error: OSError | SessionError) -> str:
    """Return why nothing can be stored here, with a remedy, as the end of a sentence."""
    if isinstance(error, SessionError):
        if not isinstance(error.__cause__, OSError):
            return f"{error.message} ({error.hint})" if error.hint else error.message
        error = error.__cause__
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"the disk is full; free some space ({state_folder()})"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"the folder cannot be written; make it yours ({state_folder()})"
    if error.errno in (errno.EEXIST, errno.ENOTDIR):
        return f"no folder can be made there; remove the file of its name ({error.filename})"
    return f"{(error.strerror or type(error).__name__).lower()} ({state_folder()})"


def key_of(path: str | os.PathLike[str] | None) -> str:
    """Return a file's key in the state folder, the same for all spellings of its path; `unnamed` for None."""
    if path is None:
        return "unnamed"
    real = os.path.realpath(path)
    stem = "".join(letter if letter.isalnum() else "_" for letter in Path(real).stem[:40])
    return f"{stem}-{hashlib.sha256(os.fsencode(real)).hexdigest()[:16]}"
