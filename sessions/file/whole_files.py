"""Files by their paths: replaced in a single step, and the nearest name where one is missing.

After a crash, a kill or on a full disk a file has its old content or the new one.
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
"""Where an open file of the process has a path: it is written to, as a pipe is, and not replaced."""
_TEMPORARY = re.compile(r"\.workbench-[0-9a-f]{16}\.tmp")

PathLike = str | os.PathLike[str]


def write(path: PathLike, content: bytes, mode: int | None = None) -> None:
    """Write `content` to a file, a pipe or a device, through links; a file is replaced in a single step.

    `mode` is the permissions of a new file (default: the umask decides); an old one keeps its own. Raises OSError; the
    file is then as it was.
    """
    target = os.path.realpath(path)
    try:
        status = os.stat(path)
    except FileNotFoundError:
        replace(target, content, mode)
        return
    if not stat.S_ISREG(status.st_mode) or os.path.abspath(path).startswith(STREAMS):
        with open(path, "ab") as stream:  # a log that standard output goes to keeps what it has
            stream.write(content)
    elif not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    else:
        replace(target, content, stat.S_IMODE(status.st_mode))


def replace(target: str, content: bytes, mode: int | None = None) -> None:
    """Put `content` in the place of the regular file `target`, or of no file. Raises OSError as `write`."""
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
    except BaseException:  # no half file is left, and it is raised again
        with suppress(OSError):
            os.unlink(temporary)
        raise
    _sync(folder)
    _remove_strays(folder)


def explain(error: OSError) -> tuple[str, str]:
    """Return what the system said of a file, and what would help ("": unknown)."""
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
    """Remove what killed saves left behind; a younger file may belong to a save that is going on."""
    with suppress(OSError):
        for entry in os.scandir(folder):
            if _TEMPORARY.fullmatch(entry.name) and time.time() - entry.stat().st_mtime > STRAY_AGE_S:
                os.unlink(entry.path)


def _sync(folder: str) -> None:
    """Make the new name survive a power cut, where the system can do that for folders."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    with suppress(OSError):  # the content is in place already; some file systems refuse this
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def did_you_mean(path: str) -> str:
    """`did you mean notes/demos.csv?` for the name nearest in the same folder; empty where none is near."""
    file = Path(path)
    with suppress(OSError, ValueError):
        near = difflib.get_close_matches(file.name, [one.name for one in file.parent.iterdir()], n=1)
        if near:
            return f"did you mean {file.parent / near[0]}?"
    return ""
