"""Manage the seats of a class: join codes, secrets, folders and downloads.

The whole class uses one code, shown on a projector or in a chat, so it is short enough to be typed. It stays safe
because it expires as soon as the class is full or the server stops. Each participant has a secret, which opens one
seat. When the class fills up, the code is replaced; only the teacher sees the new code, for seats that become free.

The teacher's seat has its own code, which works once; participants can follow whoever used it.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from hmac import compare_digest
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

from aiohttp import web

from adapters.late_dataclasses import dataclass, field
from sessions.errors import counted
from sessions.file import whole_files
from workbench.output import display
from workbench.serving.messages import FILES, HOME, Controls

SIGNS = "abcdefghjkmnpqrstuvwxyz23456789"
"""The characters of a code, without those that are easily confused on a projector."""
GROUPS, GROUP = 3, 4
LONGEST_CODE, LONGEST_NAME = 100, 40
TEACHERS_NUMBER = 0
PREFIX, LOCK = "workbench-class-", "class.lock"
KEPT_DAYS = 7
MARK = "# The top of this folder's project: a session in it is linked to nothing above.\n"
"""The content of a seat's `pyproject.toml`, which stops the upward search of `sessions.source.project`."""
MOST_BYTES = 20_000_000
"""The size limit of a download."""


NO_CONTROLS = Controls()


class JoinError(Exception):
    """A reason that a participant cannot join, as shown to them."""


class DownloadError(Exception):
    """A reason that a file cannot be downloaded, as shown to the participant."""


@dataclass
class Seat:
    """A taken seat; `called` is the participant's name, `address` the network address of the browser.

    `seen` is the time of the last activity, in seconds of `Seats.now`.
    """

    number: int
    folder: Path
    seen: float
    secret: str = field(repr=False)
    is_here: bool = False
    """True while the seat's program runs."""
    leads: bool = False
    """True if this is the teacher's seat, which does not count towards the class's seats."""
    called: str = ""
    address: str = ""
    shown: Controls = NO_CONTROLS
    """The buttons of its page, which include the lesson's step and whether it follows the teacher."""
    page: web.WebSocketResponse | None = None
    """Its open page, whose program may still have to start."""
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while the seat's program runs."""

    @property
    def name(self) -> str:
        if self.leads:
            return "the teacher"
        return f"{self.called} (participant {self.number})" if self.called else f"participant {self.number}"

    async def end(self, code: int) -> None:
        """Close the page with a WebSocket close code, and wait until the program has ended."""
        if self.page is not None:
            await self.page.close(code=code)
        async with self.turn:
            pass


def new_code() -> str:
    """Make a code of twelve characters in three groups, such as `k7mq-x2pf-9wtd` (59 bits)."""
    return "-".join("".join(secrets.choice(SIGNS) for _ in range(GROUP)) for _ in range(GROUPS))


def new_secret() -> str:
    """Make a secret that no one can guess, for a cookie."""
    return secrets.token_urlsafe(32)


def as_typed(code: str) -> str:
    """Normalize capitals, hyphens and spaces of a typed code."""
    signs = "".join(code[:LONGEST_CODE].lower().replace("-", " ").split())
    return "-".join(signs[at : at + GROUP] for at in range(0, len(signs), GROUP))


class Seats:
    """Up to `most` participants, with folders in `top`; a seat idle for `idle_s` seconds is released.

    `per_address` limits the seats of a network address; 0 means no limit.
    """

    def __init__(
        self, most: int, idle_s: float, top: Path, sessions: Sequence[Path] = (), per_address: int = 0
    ) -> None:
        self.most = most
        self.is_closed = False
        """True if newcomers are rejected, even with the right code."""
        self.now = time.monotonic
        self.code = new_code()
        self.teachers_code = new_code()
        """The teacher's code; "" while the teacher's seat is taken."""
        self._idle_s = idle_s
        self._top = top
        self._sessions = sessions
        self._per_address = per_address
        self._came = 0
        self._by_secret: dict[str, Seat] = {}

    @property
    def all(self) -> tuple[Seat, ...]:
        """All taken seats, including the teacher's."""
        return tuple(self._by_secret.values())

    @property
    def taken(self) -> int:
        """The number of taken seats, without the teacher's."""
        return sum(not one.leads for one in self._by_secret.values())

    @property
    def is_full(self) -> bool:
        return self.taken >= self.most

    def is_teachers(self, code: str) -> bool:
        """Return whether this is the teacher's code, while the teacher's seat is free."""
        return bool(self.teachers_code) and _is_same(code, self.teachers_code)

    def check(self, code: str, address: str = "") -> None:
        """Raise `JoinError` unless the code admits to a seat; `address` is "" if it identifies no single device."""
        if self.is_teachers(code):
            return
        if not _is_same(code, self.code):
            why = "The class is full, so its code is" if self.is_full else "This code is wrong or"
            raise JoinError(f"{why} no longer valid. Ask the teacher for the current code.")
        if self.is_closed:
            raise JoinError("The class is closed to newcomers. Ask the teacher to open it.")
        if self.is_full:
            raise JoinError("The class is full. Ask the teacher to free a seat.")
        here = sum(one.address == address and not one.leads for one in self.all)
        if address and self._per_address and here >= self._per_address:
            raise JoinError(
                "This device has a seat already, in another browser or a private window. Continue there, or ask the "
                "teacher to remove that seat."
            )

    def admit(self, code: str, called: str = "", address: str = "", secret: str = "") -> Seat:
        """Assign a seat, which `secret` or a new one opens.

        The code is replaced when the last seat is taken. Raises `JoinError` and OSError.
        """
        self.check(code, address)
        leads = self.is_teachers(code)
        number = TEACHERS_NUMBER if leads else self._came + 1
        folder = make_folder(self._top, number, self._sessions)
        seat = Seat(number, folder, self.now(), secret or new_secret(), leads=leads)
        seat.called, seat.address = display.one_line(called.strip()[: LONGEST_NAME + 1], LONGEST_NAME), address
        self._by_secret[seat.secret] = seat
        if leads:
            self.teachers_code = ""  # it works once
        else:
            self._came = number
            if self.is_full:
                self.renew()
        return seat

    def renew(self) -> None:
        """Replace the code; participants who have joined keep their seats."""
        self.code = new_code()

    def remove(self, number: int) -> Seat | None:
        """Remove a participant's seat and return it; None if there is no such participant."""
        seat = next((one for one in self.all if one.number == number and not one.leads), None)
        if seat is not None:
            del self._by_secret[seat.secret]
        return seat

    def holder(self, secret: str) -> Seat | None:
        """Return the seat that a secret opens; None for a wrong or expired secret."""
        return self._by_secret.get(secret)

    def touch(self, seat: Seat) -> None:
        """Note that the participant is active."""
        seat.seen = self.now()

    def idle(self) -> tuple[Seat, ...]:
        """Return the idle seats whose page is open."""
        return tuple(one for one in self.all if one.is_here and self._is_over(one))

    def release(self) -> tuple[Seat, ...]:
        """Free the idle seats whose page is closed, and return them."""
        gone = tuple(one for one in self.all if not one.is_here and self._is_over(one))
        for one in gone:
            del self._by_secret[one.secret]
            if one.leads:
                self.teachers_code = new_code()
        return gone

    def _is_over(self, seat: Seat) -> bool:
        return self.now() - seat.seen > self._idle_s


def _is_same(code: str, ours: str) -> bool:
    # in constant time, so that timing reveals nothing about the code
    return compare_digest(as_typed(code).encode("utf-8", "replace"), ours.encode())


# -- folders


def make_folder(top: Path, number: int, sessions: Sequence[Path]) -> Path:
    """Make a private folder below `top` with a copy of each session; on OSError the folder is removed again."""
    folder = top / f"seat-{number:02}"
    while True:
        try:
            folder.mkdir(mode=0o700, parents=True)
            break
        except FileExistsError:  # kept from an earlier class
            number += 1
            folder = top / f"seat-{number:02}"
    try:
        files = folder / FILES
        files.mkdir(mode=0o700)
        os.makedirs(folder / HOME / "tmp", mode=0o700)
        (files / "pyproject.toml").write_text(MARK, "utf-8")
        for one in sessions:
            shutil.copyfile(one, files / one.name)
    except OSError:
        remove_folder(folder)
        raise
    return folder


def remove_folder(folder: Path) -> str:
    """Remove a folder with its content; return a message if that failed, else ""."""
    left: list[str] = []
    shutil.rmtree(folder, onerror=lambda _, path, __: left.append(str(path)))
    return f"{left[-1]} could not be removed" if left else ""


@contextmanager
def class_folder() -> Iterator[Path]:
    """Make a temporary folder for a class; if this process is killed, `abandoned` finds the folder."""
    with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as top:
        with open(Path(top) / LOCK, "wb") as lock:
            whole_files.lock(lock.fileno())
            yield Path(top)


def abandoned(now: float) -> list[str]:
    """Return a message for each class whose server was killed; remove its folder after `KEPT_DAYS`."""
    import fcntl

    found: list[str] = []
    for lock in sorted(Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{LOCK}")):
        top = lock.parent
        with suppress(OSError), ExitStack() as held:
            if top.is_symlink() or top.stat().st_uid != os.getuid():
                continue  # somebody else's, where `lock` may be a pipe that blocks
            opened = held.enter_context(open(lock, "rb"))
            about = os.fstat(opened.fileno())
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)  # an error if it is held, or if locks are unsupported
            count = sum(one.is_dir() for one in top.iterdir())
            if count and now - about.st_mtime < KEPT_DAYS * 86_400:
                began = time.strftime("%d %B, %H:%M", time.localtime(about.st_mtime))
                found.append(
                    f"the server of a class of {began} was killed; the files of {counted(count, 'seat')} "
                    f"are in {top}. Copy what you want to keep; they are removed {KEPT_DAYS} days after the class"
                )
            elif said := remove_folder(top):
                found.append(said)
    return found


# -- downloads


def download_error(size: int) -> str:
    """Return why a file of `size` bytes cannot be downloaded, or ""."""
    if size <= MOST_BYTES:
        return ""
    return f"it has {size:,} bytes, and a download at most {MOST_BYTES:,}: export a part of it"


def download_path(name: str) -> str:
    """Quote a file name for the URL path after `/download/`."""
    return quote(name, safe="", errors="replace")


def open_download(folder: Path, name: str) -> BinaryIO:
    """Open a regular file directly in `folder`. Raises `DownloadError` for paths, links, folders and large files."""
    if Path(name).name != name or name in ("", ".", "..") or "\0" in name:
        raise DownloadError("give the name of a file in your own folder, without a path")
    try:
        handle = os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (OSError, UnicodeError):
        raise DownloadError("there is no such file in your folder") from None
    status = os.fstat(handle)
    said = download_error(status.st_size) if stat.S_ISREG(status.st_mode) else "there is no such file in your folder"
    if said:
        os.close(handle)
        raise DownloadError(said)
    return os.fdopen(handle, "rb")
