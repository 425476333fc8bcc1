"""Files that a visitor takes along: out of his own folder, by its name, to his own browser."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

MOST_BYTES = 20_000_000
"""Of one file."""


class NoDownloadError(Exception):
    """Why a file is not handed out, in words for whoever asked."""


def why_not(size: int) -> str:
    """Why a file of this many bytes is not handed out; "" when it is."""
    if size <= MOST_BYTES:
        return ""
    return f"it has {size:,} bytes, and a download at most {MOST_BYTES:,}: export a part of it"


def address(name: str) -> str:
    """What stands for a file behind `/download/`."""
    return quote(name, safe="", errors="replace")


def open_file(folder: Path, name: str) -> BinaryIO:
    """The file of this name in `folder` itself, to be read. Raises `NoDownloadError` for anything else there may be."""
    if Path(name).name != name or name in ("", ".", "..") or "\0" in name:
        raise NoDownloadError("a download is a file of your own folder, by its name alone")
    try:
        handle = os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (OSError, UnicodeError):
        raise NoDownloadError("there is no such file in your folder") from None
    opened = os.fdopen(handle, "rb") if stat.S_ISREG(os.fstat(handle).st_mode) else None
    if opened is None:
        os.close(handle)
        raise NoDownloadError("there is no such file in your folder")
    said = why_not(os.fstat(handle).st_size)
    if said:
        opened.close()
        raise NoDownloadError(said)
    return opened
