"""The survival grid in signs and words, the same on the command line, in the app and on a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from workbench.output import display

if TYPE_CHECKING:
    from sessions.stress.grid import Cell, Survival, Verdict

SIGNS: Mapping[Verdict, str] = {"same": "✓", "refused": "✗", "flagged": "!", "silently_wrong": "≠"}
NOT_APPLICABLE = "·"
WORDS: Mapping[Verdict, str] = {
    "silently_wrong": "silently wrong",
    "flagged": "flagged",
    "refused": "refused",
    "same": "same values",
}
MEANINGS: Mapping[Verdict, str] = {
    "silently_wrong": "another value was read, and nothing tells",
    "flagged": "another value was read; a flag tells of it here, dspy alone does not",
    "refused": "an error was raised, so nobody takes a wrong value for right",
    "same": "every value is what the reply means",
}
"""In one line each; `sessions.stress.grid` has the whole definitions."""


SHOWN = 60
"""Characters of a value in a line of what differs."""


def differences(cell: Cell, shown: int = SHOWN) -> list[str]:
    """A line for each wrong field: what was meant and what was read, `shown` characters of each, not gated yet."""
    values = cell.reading.values
    lines = []
    for name in cell.wrong:
        meant, read = [display.value_text(one[name]) if name in one else "nothing" for one in (cell.meant, values)]
        lines.append(f"{name}: {_apart(meant, read, shown)}")
    return lines


def _apart(meant: str, read: str, shown: int) -> str:
    """Both values, from a little before the place where they part."""
    same = next((index for index, (one, other) in enumerate(zip(meant, read, strict=False)) if one != other), None)
    start = max(0, (min(len(meant), len(read)) if same is None else same) - shown // 3)
    return f"{_from(meant, start, shown)} → {_from(read, start, shown)}"


def _from(text: str, start: int, shown: int) -> str:
    return ("…" if start else "") + text[start : start + shown] + ("…" if len(text) > start + shown else "")


def sources(columns: tuple[Survival, ...]) -> list[str]:
    """What was broken, by where it came from: `demo 1`, or `demo 1 (chat, json)` where columns differ in that."""
    found: dict[str, list[str]] = {}
    for column in columns:
        if column.good is not None:
            found.setdefault(column.good.source, []).append(column.id)
    return list(found) if len(found) == 1 else [f"{source} ({', '.join(ids)})" for source, ids in found.items()]


def passed_over(columns: tuple[Survival, ...]) -> list[str]:
    """What could not be broken though it would have come first, each with its reason once."""
    return list(dict.fromkeys(said for one in columns if one.good is not None for said in one.good.passed_over))
