"""How much of a column's height its prompt gets, and how much its reply."""

from __future__ import annotations

from typing import NamedTuple

SMALLEST_SHARE, LARGEST_SHARE = 0.15, 0.85
"""Of what the user may say that prompts get."""
LEAST_PROMPT, LEAST_REPLY, EVEN_SHARE = 0.35, 0.25, 0.5
"""Shares of the height that prompts and replies get at least, and before it is known what they hold."""
ROWS_THAT_MOVE = LEAST_ROWS_OF_REPLY = 3


class Held(NamedTuple):
    """The rows that a prompt and its reply hold."""

    prompt: int = 0
    reply: int = 0


class HeightShares:
    """Of all columns: the user's share, or else what follows from the rows they hold."""

    def __init__(self) -> None:
        self._said: float | None = None
        self._rows: dict[str, Held] = {}
        self.has_replies = False
        """Whether there is a reply in any column, or one is under way."""

    @property
    def said(self) -> float | None:
        """How much of the height the user gave to the prompts; None: they and the replies get what they need."""
        return self._said

    def say(self, share: float | None) -> None:
        self._said = None if share is None else min(LARGEST_SHARE, max(SMALLEST_SHARE, share))

    def expect_replies(self, has_replies: bool) -> bool:
        """Whether that is another state than before; the rows are to be taken anew then."""
        if has_replies == self.has_replies:
            return False
        self.has_replies = has_replies
        self._rows = {}
        return True

    def take(self, rows: dict[str, Held]) -> bool:
        """The rows of now by column; False when they moved so little that no line between prompt and reply does."""
        moves = rows.keys() != self._rows.keys() or any(_moves(rows[id], before) for id, before in self._rows.items())
        if moves:
            self._rows = rows
        return moves

    def of(self, column: str, height: int) -> float:
        """A prompt's share of `height` rows: the user's, else what the reply leaves, which gets what it holds.

        Until there are replies the prompts get all they can fill, and the same in every column.
        """
        if height <= 0 or not self._rows:
            return EVEN_SHARE
        if not self.has_replies:
            # what may be added before the line moves has room already, or the last rows would be cut off
            full = max(one.prompt for one in self._rows.values()) + ROWS_THAT_MOVE - 1
            replied = max(LEAST_ROWS_OF_REPLY, *[one.reply for one in self._rows.values()])
            return min(1 - (replied + 1) / height, max(EVEN_SHARE, full / height))
        if self._said is not None:
            return self._said
        held = self._rows.get(column, Held())
        if not held.reply:
            return EVEN_SHARE
        return min(1 - LEAST_REPLY, max(min(LEAST_PROMPT, held.prompt / height), 1 - (held.reply + 1) / height))


def _moves(rows: Held, before: Held) -> bool:
    """Whether a prompt or its reply has become so much longer or shorter that the line between them moves.

    A reply that has become longer at all would be cut off at its end.
    """
    is_other = any(abs(one - other) >= ROWS_THAT_MOVE for one, other in zip(rows, before, strict=True))
    return is_other or rows.reply > before.reply
