"""How a class is held, as the command line says it."""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass
from pathlib import Path

from workbench.serving import DISK_MB, MEMORY_MB
from workbench.serving.orders import Orders

ANY = ("0.0.0.0", "::", "")
"""Not one address of this machine but all of them: browsers are given its name."""

PROJECTED_FONT_SIZE = 24
"""Pixels; a beamer of 1280 x 720 shows 88 columns of it."""


@dataclass(frozen=True)
class Setup:
    """`sessions` are what each visitor gets a copy of; the first is opened. `top` is where the folders of visitors are,
    which are removed unless `keeps`. `most` visitors come in; `idle_s` is in seconds. `public_url` is what browsers
    call the server, when that is not its own address. `is_projected`: the teacher's page is what the room looks at. The
    rest is as in `Orders`.
    """

    sessions: tuple[Path, ...] = ()
    top: Path = Path()
    keeps: bool = False
    host: str = "127.0.0.1"
    port: int = 8000
    public_url: str | None = None
    most: int = 30
    idle_s: float = 3600.0
    font_size: int = 16
    lesson: int | None = None
    models: tuple[str, ...] = ()
    memory_mb: int = MEMORY_MB
    disk_mb: int = DISK_MB
    is_projected: bool = False

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def url(self, port: int) -> str:
        """What a browser is given, without a slash at its end; `port` is the one that is listened on."""
        if self.public_url is not None:
            return self.public_url.rstrip("/")
        name = socket.gethostname() if self.host in ANY else self.host
        host = f"[{name}]" if ":" in name else name
        return f"http://{host}:{port}"

    def orders(self, folder: Path, leads: bool = False) -> Orders:
        """For the program of the visitor whose folder it is, or of the teacher, who `leads`."""
        first = self.sessions[0].name if self.sessions else None
        is_projected = leads and self.is_projected
        limits = (self.memory_mb, self.disk_mb)
        return Orders(str(folder), first, self.lesson, self.models, *limits, leads, is_projected)

    def font_size_of(self, leads: bool) -> int:
        """Of a page, in pixels."""
        return max(self.font_size, PROJECTED_FONT_SIZE) if leads and self.is_projected else self.font_size
