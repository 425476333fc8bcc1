"""Replace files atomically, and suggest the nearest name for a missing file.

After a crash, a kill or on a full disk a file has either its old content or the new.
"""

from __future__ import annotations

import difflib
import errno
import os
import re
import secrets
import stat
import time
from contextlib import suppress
from pathlib import Path

STRAY_AGE_S = 600.0
STREAMS = ("/dev/std", "/dev/fd/", "/proc/")
"""Paths of the process's open files, which are written to, like pipes, and not replaced."""
_TEMPORARY = re.compile(r"\.workbench-[0-9a-f]{16}\.tmp")

PathLike = str | os.PathLike[str]


def write(path: PathLike, content: bytes, mode: int | None = None) -> None:
    """Write `content` to a file, pipe or device, following links; files are replaced atomically.

    `mode` sets the permissions of a new file (default: by the umask); an existing file keeps its own. Raises OSError;
    the file is then unchanged.
    """
    target = os.path.realpath(path)
    try:
        status = os.stat(path)
    except FileNotFoundError:
        replace(target, content, mode)
        return
    if not stat.S_ISREG(status.st_mode) or os.path.abspath(path).startswith(STREAMS):
        with open(path, "ab") as stream:  # append, as standard output may be a log
            stream.write(content)
    elif not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    else:
        replace(target, content, stat.S_IMODE(status.st_mode))


def replace(target: str, content: bytes, mode: int | None = None) -> None:
    """Replace or create the regular file `target`. Raises OSError like `write`."""
    folder = os.path.dirname(target) or "."
    temporary = os.path.join(folder, f".workbench-{secrets.token_hex(8)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(temporary, flags, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(descriptor, mode)
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        os.replace(temporary, target)
    except BaseException:  # leave no partial file behind
        with suppress(OSError):
            os.unlink(temporary)
        raise
    _sync(folder)
    _remove_strays(folder)


def explain(error: OSError) -> tuple[str, str]:
    """Return the system's message about a file, and a remedy ("": unknown)."""
    return (error.strerror or str(error) or type(error).__name__).lower(), HINTS.get(error.errno or 0, "")


HINTS = {
    errno.ENOSPC: "free some space; the file is as it was",
    errno.EFBIG: "the limit for file sizes is reached; the file is as it was",
    errno.EDQUOT: "your quota is used up; the file is as it was",
    errno.EACCES: "change the permissions, or choose another folder",
    errno.EPERM: "change the permissions, or choose another folder",
    errno.EROFS: "the file system is read-only; choose another folder",
    errno.ENOENT: "the folder does not exist",
    errno.ENAMETOOLONG: "choose a shorter name",
}


def _remove_strays(folder: str) -> None:
    """Remove temporary files of killed saves; files younger than `STRAY_AGE_S` may belong to a running save."""
    with suppress(OSError):
        for entry in os.scandir(folder):
            if _TEMPORARY.fullmatch(entry.name) and time.time() - entry.stat().st_mtime > STRAY_AGE_S:
                os.unlink(entry.path)


def _sync(folder: str) -> None:
    """Sync a folder, if supported, so that the new name survives a power cut."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    with suppress(OSError):  # the content is already in place; some file systems cannot sync folders
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def did_you_mean(path: str) -> str:
    """Suggest the nearest name in the same folder, as in `did you mean notes/demos.csv?`; else ""."""
    file = Path(path)
    with suppress(OSError, ValueError):
        near = difflib.get_close_matches(file.name, [one.name for one in file.parent.iterdir()], n=1)
        if near:
            return f"did you mean {file.parent / near[0]}?"
    return ""
