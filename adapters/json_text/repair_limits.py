"""Limit the size of replies that are repaired; each number has its reason.

Valid JSON, plain text and XML have no limit of ours. json_repair copies the string it is building at every character,
recurses at every bracket, and at some quotes and brackets looks ahead to the end of the text, again and again: it is
asked only about text that it can finish within a second or two, and stopped where it looks at more characters.
"""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar

REPAIR_LENGTH = 2_000_000
"""Characters that json_repair is asked to read at all (it reads about 2 MB/s at its best)."""

REPAIR_STRETCH = 200_000
"""Characters without any bracket or brace: one string of that length takes json_repair about a second (quadratic)."""

REPAIR_STEPS = 2_000_000
"""Characters that json_repair may look at, those it looks at again included. It looks two or three times at each of an
ordinary broken text, a dozen times at one of quotes and colons. Two million take a second or so. A search to the next
quote counts as one, and as one more for each 64 characters (`adapters.json_text.repaired_json`)."""

QUICK_STEPS = 150_000
"""The same for who cannot wait, such as a screen between two keys: less than a tenth of a second."""

LITERAL_LENGTH = 1_000_000
"""Characters that `ast.literal_eval` is asked to read."""

_BRACKETS = re.compile(r"[\[\]{}()]")


class TooLargeError(ValueError):
    """A text that is not valid as it stands and too large to be repaired; the message gives the limit."""

    def __init__(self, what: str) -> None:
        super().__init__(f"too large to read: {what}")


class RepairSteps:
    """A budget of looks for json_repair, shared by all texts that are parsed `with` it."""

    __slots__ = ("_outer", "allowed", "left")

    def __init__(self, allowed: int) -> None:
        self.allowed = allowed
        self.left = allowed

    def __enter__(self) -> RepairSteps:
        self._outer = _steps.set(self)
        return self

    def __exit__(self, *raised: object) -> None:
        _steps.reset(self._outer)

    @property
    def ran_out(self) -> bool:
        """Return whether a parse stopped because the budget was spent: with more it could end differently."""
        return self.left < 0

    def take(self, count: int) -> None:
        """Raises `TooLargeError` when no more are left."""
        self.left -= count
        if self.left < 0:
            raise TooLargeError(
                f"repairing this broken JSON takes json_repair more than {self.allowed:,} looks at a character "
                "(it looks ahead at every quote and bracket)"
            )


_steps: ContextVar[RepairSteps | None] = ContextVar("repair steps", default=None)


def one_reading(taken: int = 0) -> AbstractContextManager[RepairSteps]:
    """All repairs inside share `REPAIR_STEPS`, of which the reading that is gone on with has `taken` some already.

    A reading inside of another (a near miss of it) has none of its own.
    """
    outer = _steps.get()
    if outer is not None:
        return nullcontext(outer)
    steps = RepairSteps(REPAIR_STEPS)
    steps.left = max(steps.left - taken, 0)
    return steps


def quick_reading() -> RepairSteps:
    """As `one_reading`, with no more than `QUICK_STEPS`; where they `ran_out`, what was read is no verdict."""
    return RepairSteps(QUICK_STEPS)


def steps_in_force() -> RepairSteps | None:
    """Those within which somebody reads now; None where nobody set any."""
    return _steps.get()


def repair_steps() -> RepairSteps:
    """Return the steps of the reading under way; outside of one, a reading's worth of them."""
    return _steps.get() or RepairSteps(REPAIR_STEPS)


def check_repairable(text: str) -> None:
    """Raises `TooLargeError` when json_repair could not read `text` within a second or two."""
    if len(text) > REPAIR_LENGTH:
        raise TooLargeError(f"{len(text):,} characters of broken JSON (the limit is {REPAIR_LENGTH:,})")
    if len(text) > REPAIR_STRETCH and max(map(len, _BRACKETS.split(text))) > REPAIR_STRETCH:
        raise TooLargeError(f"a stretch of more than {REPAIR_STRETCH:,} characters without a bracket in broken JSON")
