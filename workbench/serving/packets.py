"""What a browser may send: each message is read into one of these, or is none."""

from __future__ import annotations

import json
from dataclasses import dataclass

MOST_COLUMNS, MOST_ROWS = 500, 200
"""Of a visitor's terminal; a larger window is painted as this, and costs no more."""


@dataclass(frozen=True)
class Keys:
    """What was typed, pasted or pointed at, as a terminal gives it."""

    data: bytes


@dataclass(frozen=True)
class Resize:
    width: int
    height: int


@dataclass(frozen=True)
class Ping:
    """`said` is given back with the answer."""

    said: str


@dataclass(frozen=True)
class Focus:
    is_there: bool


Packet = Keys | Resize | Ping | Focus


class NoPacketError(ValueError):
    """A message that no page of ours sends."""


def read(text: str) -> Packet:
    """A message of the page: a JSON list of its kind and what belongs to it. Raises `NoPacketError`."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        raise NoPacketError("no JSON") from None
    match given:
        case ["stdin", str(typed)]:
            return Keys(typed.encode("utf-8", "replace"))
        case ["resize", {"width": int(width), "height": int(height)}]:
            return Resize(*size(width, height))
        case ["ping", str() | int() | float() | None as said]:
            return Ping(str(said)[:100])
        case ["focus", *_]:
            return Focus(True)
        case ["blur", *_]:
            return Focus(False)
    raise NoPacketError("no message of this page")


def size(width: int, height: int) -> tuple[int, int]:
    """A size that a terminal can have."""
    return max(1, min(MOST_COLUMNS, width)), max(1, min(MOST_ROWS, height))


def size_asked(width: str, height: str) -> tuple[int, int]:
    """The size in the address of a connection; 80 by 24 for what is no number."""
    columns, rows = [int(one) if one.isascii() and one.isdecimal() and len(one) < 6 else 0 for one in (width, height)]
    return size(columns or 80, rows or 24)
