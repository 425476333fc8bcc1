"""Causes as text for people: each with what it is, where it shows, and one example."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sessions.causes.cause import Cause
from sessions.fixtures import reports

MOST_LINES = 40
"""Lines of an example; the rest is counted."""
MOST_NAMED = 5


def lines_of(cause: Cause) -> Iterator[str]:
    """The fixtures of a cause and its example, as indented lines."""
    names = [str(one) for one in cause.fixtures[:MOST_NAMED]]
    more = len(cause.fixtures) - len(names)
    for name in names:
        yield f"  {name}"
    if more:
        yield f"  … and {more:,} more"
    lines = reports.details(cause.example).split("\n")
    if len(cause.fixtures) > 1:
        yield f"  for example {cause.fixtures[0]}:"
    yield from lines[:MOST_LINES]
    if len(lines) > MOST_LINES:
        yield f"    … {len(lines) - MOST_LINES:,} more lines; --json has them"


def advice(causes: Sequence[Cause], paths: Sequence[str]) -> str:
    """What to do next, in one line; empty when nothing can be accepted."""
    if not any(one.is_acceptable or one.can_be_pulled for one in causes):
        return ""
    if all(one.key.kind == "source" for one in causes):
        return f"`workbench pull {' '.join(paths[:3])}` takes the program's text over, `workbench push` writes it back"
    named = " ".join(paths) if len(paths) <= 3 else f"{' '.join(paths[:3])} …"
    count = f"{len(causes)} cause{'' if len(causes) == 1 else 's'}"
    return f"{count}; `workbench review {named}` decides one after the other"
