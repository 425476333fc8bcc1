"""Limit the size of replies that are repaired; each number has its reason.

Valid JSON, plain text and XML have no limit of ours. json_repair copies the string it is building at every character,
recurses at every bracket, and at some quotes and brackets looks ahead to the end of the text, repeatedly. It only gets
text that it can finish within a second or two, and is stopped if it looks at more characters.
"""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar

REPAIR_LENGTH = 2_000_000
"""Maximum length of text for json_repair, in characters (it reads about 2 MB/s at best)."""

REPAIR_STRETCH = 200_000
"""Maximum stretch without brackets or braces: json_repair needs about a second for such a string (quadratic time)."""

REPAIR_STEPS = 2_000_000
"""Maximum looks at a character by json_repair, repeated looks included. An ordinary broken text takes two or three per
character, a text of quotes and colons a dozen; two million take about a second. A search for the next quote counts as
one, plus one for each 64 characters (`adapters.json_text.repaired_json`)."""

QUICK_STEPS = 150_000
"""The same limit for callers that cannot wait, such as a screen between two keys: less than a tenth of a second."""

LITERAL_LENGTH = 1_000_000
"""Maximum length of text for `ast.literal_eval`, in characters."""

_BRACKETS = re.compile(r"[\[\]{}()]")


class TooLargeError(ValueError):
    """The invalid text is too large to be repaired; the message states the limit."""

    def __init__(self, what: str) -> None:
        super().__init__(f"too large to read: {what}")


class RepairSteps:
    """A budget of looks for json_repair, shared within its `with` block."""

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
        """Return whether a parse ran out of budget: with more it could end differently."""
        return self.left < 0

    def take(self, count: int) -> None:
        """Spend `count` looks. Raises `TooLargeError` if too few are left."""
        self.left -= count
        if self.left < 0:
            raise TooLargeError(
                f"repairing this broken JSON takes json_repair more than {self.allowed:,} looks at a character "
                "(it looks ahead at every quote and bracket)"
            )


_steps: ContextVar[RepairSteps | None] = ContextVar("repair steps", default=None)


def one_reading(taken: int = 0) -> AbstractContextManager[RepairSteps]:
    """Share `REPAIR_STEPS` among all repairs inside; `taken` steps are already spent.

    A nested parse (of a near miss) shares the outer budget.
    """
    outer = _steps.get()
    if outer is not None:
        return nullcontext(outer)
    steps = RepairSteps(REPAIR_STEPS)
    steps.left = max(steps.left - taken, 0)
    return steps


def quick_reading() -> RepairSteps:
    """Limit a parse to `QUICK_STEPS`; if they `ran_out`, its result is not a verdict."""
    return RepairSteps(QUICK_STEPS)


def steps_in_force() -> RepairSteps | None:
    """Return the budget of the current parse; None outside a parse."""
    return _steps.get()


def repair_steps() -> RepairSteps:
    """Return the budget of the current parse, or a new one outside a parse."""
    return _steps.get() or RepairSteps(REPAIR_STEPS)


def check_repairable(text: str) -> None:
    """Raise `TooLargeError` if json_repair would need more than a second or two for `text`."""
    if len(text) > REPAIR_LENGTH:
        raise TooLargeError(f"{len(text):,} characters of broken JSON (the limit is {REPAIR_LENGTH:,})")
    if len(text) > REPAIR_STRETCH and max(map(len, _BRACKETS.split(text))) > REPAIR_STRETCH:
        raise TooLargeError(f"a stretch of more than {REPAIR_STRETCH:,} characters without a bracket in broken JSON")
