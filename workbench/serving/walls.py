"""Confine a seat's process to its folder, as a second barrier behind `Confinement`.

Python calls an audit hook before it opens a file, starts a program or connects; a hook cannot be removed. This hook
allows the process to read the files of Python and of this project, and to write only in the seat's folder, up to its
limit. It is not a sandbox for participants' code, which they cannot run here: it guards against bugs in this project.
"""

from __future__ import annotations

import errno
import mimetypes
import os
import site
import sys
import sysconfig
from collections.abc import Callable, Iterable
from pathlib import Path

import adapters
import sessions
import workbench
from adapters.lm import child
from sessions.checking import patterns

CHANGES = {
    **dict.fromkeys(
        (
            "os.chmod os.chown os.mkdir os.remove os.removexattr os.rmdir os.setxattr os.truncate os.utime "
            "shutil.rmtree"
        ).split(),
        1,
    ),
    **dict.fromkeys("os.link os.rename shutil.copyfile shutil.move".split(), 2),
}
"""Events that change files, and the number of their leading arguments that are paths."""
LISTINGS = frozenset({"os.listdir", "os.scandir"})
NEVER = frozenset(
    (
        "os.symlink os.system os.exec os.fork os.forkpty os.posix_spawn os.spawn os.startfile pty.spawn "
        "socket.bind socket.connect socket.sendto socket.sendmsg socket.getaddrinfo socket.gethostbyname "
        "socket.gethostbyaddr ctypes.dlopen webbrowser.open"
    ).split()
)
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
DEVICES = ("/dev/null", "/dev/urandom", "/dev/random")
SYSTEM_TABLES = ("/usr/share/zoneinfo", "/usr/share/locale", "/etc/localtime", "/etc/timezone")
"""Time zones and translations of the system, without anyone's private data."""
FLAGS = frozenset({"-I", "-P", "-S", "-X", "utf8"})
"""Options of Python that may precede its script."""
IN_MEMORY = ":memory:"
MEGABYTE = 1024 * 1024
BLOCK = 4096
CHECKS_PATTERNS, CALLS_MODELS = patterns.WORKER, child.WORKER
"""The scripts that the app may start: the first matches patterns, the second calls models."""


class WallError(PermissionError):
    """A forbidden action; a PermissionError, so that code that opens files can handle it."""

    def __init__(self, what: str) -> None:
        super().__init__(errno.EACCES, f"not from the process of a seat: {what}")


class FullError(OSError):
    """The folder of a seat has reached its limit."""

    def __init__(self, most: int) -> None:
        super().__init__(
            errno.EDQUOT,
            f"your folder here is full ({most // MEGABYTE:,} megabytes): download what you want to keep, and ask for "
            "a new seat",
        )


def put_up(folder: Path, most_bytes: int, *, calls_models: bool = False) -> None:
    """Confine this process to `folder` until it exits.

    The size limit `most_bytes` is checked when a file is opened for writing. With `calls_models` the process may start
    the program that calls models, which is not confined.
    """
    scripts = [CHECKS_PATTERNS, *([CALLS_MODELS] if calls_models else [])]
    sys.addaudithook(watcher(folder, scripts, most_bytes))


def watcher(folder: Path, scripts: Iterable[Path], most_bytes: int) -> Callable[[str, tuple[object, ...]], None]:
    """Make the audit hook.

    It raises `WallError` for paths outside of `folder` and for programs other than Python with one of `scripts`, and
    `FullError` when a file is opened for writing while `folder` has `most_bytes` or more.
    """
    top = os.path.realpath(folder)
    # The readable paths: Python, its packages, this project, and the system's tables.
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    folders = [sysconfig.get_path(name) for name in names]
    folders += [str(Path(one) / "lib") for one in (sys.prefix, sys.base_prefix)]
    folders += [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
    folders += [str(Path(str(one.__file__)).parent) for one in (adapters, sessions, workbench)]
    paths = (*folders, *DEVICES, *SYSTEM_TABLES, *mimetypes.knownfiles)
    readable = (top, *[os.path.realpath(one) for one in paths])
    listable = frozenset(os.path.realpath(one) for one in sys.path)
    startable = frozenset(str(one) for one in scripts)

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            if not isinstance(path, int) and path is not None:
                writes = isinstance(flags, int) and bool(flags & WRITES)
                _stay(path, (top, *DEVICES) if writes else readable)
                if writes and _real(path).startswith(top) and folder_size(top) >= most_bytes:
                    raise FullError(most_bytes)
        elif event in CHANGES:
            for path in arguments[: CHANGES[event]]:
                if not isinstance(path, int):
                    _stay(path, (top,))
        elif event in LISTINGS:
            path = arguments[0]
            if not isinstance(path, int) and _real("." if path is None else path) not in listable:
                _stay("." if path is None else path, readable)
        elif event == "sqlite3.connect":
            if arguments[0] != IN_MEMORY:  # SQLite opens its file itself, without the event `open`
                _stay(arguments[0], (top,))
                if folder_size(top) >= most_bytes:
                    raise FullError(most_bytes)
        elif event == "subprocess.Popen":
            program, words = arguments[:2]
            given = list(words) if isinstance(words, (list, tuple)) else [words]
            is_python = program == given[0] == sys.executable
            if not is_python or str(given[-1]) not in startable or not FLAGS.issuperset(given[1:-1]):
                raise WallError(f"the program {program!r}")
        elif event in NEVER:
            raise WallError(event)

    return watch


def folder_size(folder: str) -> int:
    """Sum the bytes of the files below a folder, at least a disk block for each."""
    found = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                found += max(BLOCK, os.lstat(os.path.join(place, name)).st_size)
            except OSError:
                continue  # removed in the meantime
    return found


def _real(path: object) -> str:
    try:
        return os.fsdecode(os.path.realpath(path))  # type: ignore[call-overload]
    except (OSError, ValueError, TypeError) as error:
        raise WallError(f"not a path ({type(error).__name__})") from None


def _stay(path: object, folders: tuple[str, ...]) -> None:
    real = _real(path)
    if not any(real == one or real.startswith(one + os.sep) for one in folders):
        raise WallError(real)
