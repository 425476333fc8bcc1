"""Who may come in: the address that a teacher shows, and the secret that each visitor gets for it.

The address is for a whole class, on a projector or in a chat, so it must do for thirty people and be short enough to be
typed. What makes it safe is how it ends: the moment the class is full it is spent for good, as it is when the server
ends. Whoever came in holds a secret of his own, which opens his own place and no other. For places that come free
again there is a new token, which is told to the teacher alone.

The teacher's own place has an address of its own, good for one: whoever has it leads, and the others may follow.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from hmac import compare_digest
from pathlib import Path

SIGNS = "abcdefghjkmnpqrstuvwxyz23456789"
"""Of a token: none that is taken for another when it is read from a wall."""
GROUPS, GROUP = 3, 4
TEACHERS_NUMBER = 0


class RefusedError(Exception):
    """Why someone may not come in, in words for him."""


@dataclass
class Visitor:
    """One place that is taken. `seen` is when something was last heard of its visitor, in seconds of `Places.now`."""

    number: int
    folder: Path
    seen: float
    secret: str = field(repr=False)
    is_here: bool = False
    """Whether a page of his is open."""
    leads: bool = False
    """Whether it is the teacher, whose place is none of those of the class."""

    @property
    def name(self) -> str:
        return "the teacher" if self.leads else f"visitor {self.number}"


def new_token() -> str:
    """Twelve signs in three groups, 59 bits: `k7mq-x2pf-9wtd`."""
    return "-".join("".join(secrets.choice(SIGNS) for _ in range(GROUP)) for _ in range(GROUPS))


class Places:
    """`most` visitors at a time; who has not been heard of for `idle_s` seconds loses his place.

    `folder_of(number)` makes the folder of a visitor. Where it cannot, its OSError is raised, and no place is taken.
    """

    def __init__(
        self,
        most: int,
        idle_s: float,
        folder_of: Callable[[int], Path],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.most = most
        self.now = now
        self.token = new_token()
        self.teachers_token = new_token()
        """Empty while there is a teacher."""
        self._idle_s = idle_s
        self._folder_of = folder_of
        self._came = 0
        self._by_secret: dict[str, Visitor] = {}

    @property
    def visitors(self) -> tuple[Visitor, ...]:
        """Everybody, the teacher as well."""
        return tuple(self._by_secret.values())

    @property
    def taken(self) -> int:
        """How many places of the class are."""
        return sum(not one.leads for one in self._by_secret.values())

    @property
    def is_full(self) -> bool:
        return self.taken >= self.most

    def is_teachers(self, token: str) -> bool:
        """Whether it opens the teacher's place, which is free."""
        return bool(self.teachers_token) and _is_same(token, self.teachers_token)

    def check(self, token: str) -> None:
        """Raises `RefusedError` unless the token is good for a place."""
        if self.is_teachers(token):
            return
        if not _is_same(token, self.token):
            raise RefusedError("This address is not, or no longer, good. Ask for the one of today.")
        if self.is_full:
            raise RefusedError("All places are taken. Ask whether one can be made free.")

    def admit(self, token: str) -> Visitor:
        """A place for whoever has the token, which is spent with the last one. Raises `RefusedError` and OSError."""
        self.check(token)
        leads = self.is_teachers(token)
        number = TEACHERS_NUMBER if leads else self._came + 1
        visitor = Visitor(number, self._folder_of(number), self.now(), secrets.token_urlsafe(32), leads=leads)
        self._by_secret[visitor.secret] = visitor
        if leads:
            self.teachers_token = ""  # no second one leads
        else:
            self._came = number
            if self.is_full:
                self.token = new_token()
        return visitor

    def holder(self, secret: str | None) -> Visitor | None:
        """The visitor whose secret it is; None when it is nobody's, or no longer."""
        return self._by_secret.get(secret) if secret is not None else None

    def heard_of(self, visitor: Visitor) -> None:
        """Notes that the visitor is at work."""
        visitor.seen = self.now()

    def idle(self) -> tuple[Visitor, ...]:
        """Those who have a page open and have not touched it for too long."""
        return tuple(one for one in self.visitors if one.is_here and self._is_over(one))

    def leave(self) -> tuple[Visitor, ...]:
        """Takes the places of those who have been away for too long, and gives them back."""
        gone = tuple(one for one in self.visitors if not one.is_here and self._is_over(one))
        for one in gone:
            del self._by_secret[one.secret]
            if one.leads:
                self.teachers_token = new_token()
        return gone

    def _is_over(self, visitor: Visitor) -> bool:
        return self.now() - visitor.seen > self._idle_s


def _is_same(token: str, ours: str) -> bool:
    """Compared in a time that tells nothing of how much of it is right."""
    return compare_digest(token.lower().encode("utf-8", "replace"), ours.encode())
