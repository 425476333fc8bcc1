"""Divide a column's height between prompt and reply."""

from __future__ import annotations

from typing import NamedTuple

from adapters.late_dataclasses import dataclass, field

SMALLEST_SHARE, LARGEST_SHARE = 0.15, 0.85
"""Limits of the prompts' share that the user can set."""
LEAST_PROMPT, LEAST_REPLY, EVEN_SHARE = 0.35, 0.25, 0.5
"""Minimum shares of prompt and reply, and the share before their rows are known."""
ROWS_THAT_MOVE = LEAST_ROWS_OF_REPLY = 3


class Held(NamedTuple):
    """Rows that a prompt and its reply need."""

    prompt: int = 0
    reply: int = 0


@dataclass(eq=False)
class HeightShares:
    """The share of each column's prompt, set by the user or else divided by need."""

    said: float | None = None
    """The prompts' share set by the user; None divides by need."""
    has_replies: bool = False
    """True if any column has a reply or an active run."""
    _rows: dict[str, Held] = field(default_factory=dict)

    def say(self, share: float | None) -> None:
        self.said = None if share is None else min(LARGEST_SHARE, max(SMALLEST_SHARE, share))

    def take(self, rows: dict[str, Held]) -> bool:
        """Store the rows that each column needs; return False if they changed too little to move a line."""
        moves = rows.keys() != self._rows.keys()
        for id, before in self._rows.items() if not moves else ():
            is_other = any(abs(one - other) >= ROWS_THAT_MOVE for one, other in zip(rows[id], before, strict=True))
            moves |= is_other or rows[id].reply > before.reply  # a longer reply always moves it
        if moves:
            self._rows = rows
        return moves

    def of(self, column: str, height: int) -> float:
        """Return a prompt's share of `height` rows: the user's, else what the reply leaves.

        Without replies, prompts get all they can fill, equally in every column.
        """
        if height <= 0 or not self._rows:
            return EVEN_SHARE
        if not self.has_replies:
            # Include rows that can be added before the line moves, or the last rows would be cut off.
            full = max(one.prompt for one in self._rows.values()) + ROWS_THAT_MOVE - 1
            replied = max(LEAST_ROWS_OF_REPLY, *[one.reply for one in self._rows.values()])
            return min(1 - (replied + 1) / height, max(EVEN_SHARE, full / height))
        if self.said is not None:
            return self.said
        held = self._rows.get(column, Held())
        if not held.reply:
            return EVEN_SHARE
        return min(1 - LEAST_REPLY, max(min(LEAST_PROMPT, held.prompt / height), 1 - (held.reply + 1) / height))
