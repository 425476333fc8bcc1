"""Replace files atomically, lock their folders, and find the user's state folder.

After a crash, a kill or on a full disk a file has either its old content or the new. The state folder holds copies of
unsaved work, restore points and logs.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from adapters.errors import reason_of
from adapters.user_folders import user_folder
from sessions.errors import SessionError

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
        replace(target, [content], mode)
        return
    if not stat.S_ISREG(status.st_mode) or os.path.abspath(path).startswith(STREAMS):
        with open(path, "ab") as stream:  # append, as standard output may be a log
            stream.write(content)
    elif not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    else:
        replace(target, [content], stat.S_IMODE(status.st_mode))


def create(target: str, content: Iterable[bytes]) -> None:
    """Create the file `target`, whole or not at all. Raises OSError: `FileExistsError` if it is there by then."""
    replace(target, content, is_new=True)


def replace(target: str, content: Iterable[bytes], mode: int | None = None, *, is_new: bool = False) -> None:
    """Replace or create the regular file `target` with the pieces of `content`; `is_new`: only create it.

    Raises OSError like `write`.
    """
    import secrets  # only for writing

    folder = os.path.dirname(target) or "."
    temporary = os.path.join(folder, f".workbench-{secrets.token_hex(8)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(temporary, flags, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(descriptor, mode)
            file.writelines(content)
            file.flush()
            os.fsync(descriptor)
        if is_new:
            _name_new(temporary, target)
        else:
            os.replace(temporary, target)
    except BaseException:  # leave no partial file behind
        with suppress(OSError):
            os.unlink(temporary)
        raise
    _sync(folder)
    # Remove temporary files of killed saves; files younger than `STRAY_AGE_S` may belong to a running save
    with suppress(OSError):
        for entry in os.scandir(folder):
            if _TEMPORARY.fullmatch(entry.name) and time.time() - entry.stat().st_mtime > STRAY_AGE_S:
                os.unlink(entry.path)


def _name_new(temporary: str, target: str) -> None:
    """Rename a file unless there is one of that name, whoever made it. Raises OSError."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise
    except (AttributeError, OSError):  # no hard links here: two processes are kept apart by the folder's lock alone
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target) from None
        os.replace(temporary, target)
    else:
        os.unlink(temporary)


def explain(error: OSError) -> tuple[str, str]:
    """Return the system's message about a file, and a remedy ("": unknown)."""
    return reason_of(error), HINTS.get(error.errno or 0, "")


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
    import difflib  # only for the hint

    file = Path(path)
    with suppress(OSError, ValueError):
        stems = {one.name: one.name.lstrip(".").partition(".")[0] for one in file.parent.iterdir()}
        stem = file.name.lstrip(".").partition(".")[0]
        alike = difflib.get_close_matches(stem, stems.values())  # files share their endings
        others = [name for name in stems if stems[name] in alike and name != file.name]  # a link may lead nowhere
        near = difflib.get_close_matches(file.name, others, n=1, cutoff=0)
        if near:
            return f"did you mean {file.parent / near[0]}?"
    return ""


PATIENCE_S = 20.0
"""The longest wait for the lock. A save takes milliseconds; a process that holds it longer is stopped or hangs."""


@contextmanager
def locked(path: PathLike) -> Iterator[None]:
    """Hold the lock of the folder that contains `path`, after resolving links. Not reentrant.

    The lock needs no lock file and ends with the process. On systems without such locks nothing is held; saves are
    still atomic, and fingerprints still detect changes in between. Raises `SessionError` if another process holds the
    lock for longer than `PATIENCE_S`.
    """
    try:
        folder = os.path.dirname(os.path.realpath(path))
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except (AttributeError, OSError, ValueError):  # no folders can be opened here, or writing will report the problem
        yield
        return
    if not _wait_for(descriptor):
        message = f"another process has been saving in this folder for {PATIENCE_S:.0f} s"
        raise SessionError(path, "", message, "end it, or save under another name")
    try:
        yield
    finally:
        os.close(descriptor)


def _wait_for(descriptor: int) -> bool:
    """Return True once the lock is held or locks are unsupported; on timeout the descriptor gets closed.

    The system queues blocking waiters in order, but polling could starve. So a thread blocks; it is abandoned after
    `PATIENCE_S`.
    """
    if lock(descriptor):
        return True
    held, turn = threading.Event(), threading.Lock()
    gone = False

    def wait() -> None:
        lock(descriptor, waits=True)
        with turn:
            held.set()
            if gone:
                os.close(descriptor)

    threading.Thread(target=wait, daemon=True, name="folder lock").start()
    if held.wait(PATIENCE_S):
        return True
    with turn:
        gone = not held.is_set()
    return not gone


def lock(descriptor: int, *, waits: bool = False) -> bool:
    """Lock a file or folder until it is closed; return False if another process holds the lock.

    On systems without such locks it returns True.
    """
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        pass
    return True


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


def plain_reason(error: OSError | SessionError) -> str:
    """Return why nothing can be stored here, with a remedy, as the end of a sentence."""
    if isinstance(error, SessionError):
        if not isinstance(error.__cause__, OSError):
            return f"{error.message} ({error.hint})" if error.hint else error.message
        error = error.__cause__
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"the disk is full; free some space ({state_folder()})"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"the folder cannot be written; change its permissions or XDG_STATE_HOME ({state_folder()})"
    if error.errno in (errno.EEXIST, errno.ENOTDIR):
        return f"no folder can be made there; remove the file of its name ({error.filename})"
    return f"{reason_of(error)} ({state_folder()})"


def key_of(path: PathLike | None) -> str:
    """Return a file's key in the state folder, the same for all spellings of its path; `unnamed` for None."""
    if path is None:
        return "unnamed"
    real = os.path.realpath(path)
    stem = "".join(letter if letter.isalnum() else "_" for letter in Path(real).stem[:40])
    return f"{stem}-{hashlib.sha256(os.fsencode(real)).hexdigest()[:16]}"
