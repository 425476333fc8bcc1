"""The user's folder for what the workbench keeps beside their files: copies of unsaved work, restore points, logs."""

from __future__ import annotations

import errno
import hashlib
import os
from contextlib import suppress
from pathlib import Path

from adapters.user_folders import user_folder
from sessions.errors import SessionError

PRIVATE = 0o700
"""Mode of every folder here: unsaved work, replies and tracebacks are nobody else's."""


def state_folder() -> Path:
    """`$XDG_STATE_HOME/adapter-workbench`, by default below `~/.local/state`; it need not exist yet.

    Raises `SessionError` when there is neither the variable nor a home folder.
    """
    folder = user_folder("XDG_STATE_HOME", ".local/state")
    if folder is None:
        message = "there is no home folder to keep copies of unsaved work in"
        raise SessionError(None, "", message, "set XDG_STATE_HOME to a folder of yours")
    return folder


def private(folder: Path) -> Path:
    """Makes a folder at or below the state folder that the user alone can look into, as those above it within.

    One that an earlier release made for everybody's eyes becomes private too. Raises OSError and `SessionError`.
    """
    top = state_folder()
    top.parent.mkdir(parents=True, exist_ok=True)
    below = folder.relative_to(top).parts
    for depth in range(len(below) + 1):
        one = top.joinpath(*below[:depth])
        one.mkdir(exist_ok=True, mode=PRIVATE)
        if one.stat().st_mode & 0o077:
            with suppress(OSError):  # somebody else's, who lends it to us
                one.chmod(PRIVATE)
    return folder


def in_plain_words(error: OSError | SessionError) -> str:
    """Return why nothing can be stored here and what would help, as the end of a sentence."""
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
    """Return the name of a file in the state folder, whichever way it is spelt; `unnamed` without a file."""
    if path is None:
        return "unnamed"
    real = os.path.realpath(path)
    stem = "".join(letter if letter.isalnum() else "_" for letter in Path(real).stem[:40])
    return f"{stem}-{hashlib.sha256(os.fsencode(real)).hexdigest()[:16]}"
