"""A cause of drift: one thing that changed, a digest as its id, and the fixtures that share it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from sessions.checking import reports
from sessions.checking.verdicts import FixtureResult

CauseKind = Literal[
    "verdict",
    "values",
    "source",
    "fields",
    "instructions",
    "description",
    "type",
    "schema",
    "constraint",
    "demo",
    "history",
    "input",
    "model",
    "parameter",
    "capabilities",
    "dspy release",
    "json_repair or pydantic release",
    "engine",
    "adapter or its options",
    "key order",
    "reading",
    "expectation",
    "upstream",
    "live",
    "error",
]
ACCEPTABLE: frozenset[CauseKind] = frozenset(
    {
        *("fields", "instructions", "description", "type", "schema", "constraint", "demo", "history", "input", "model"),
        *("parameter", "capabilities", "dspy release", "json_repair or pydantic release", "engine"),
        *("adapter or its options", "reading", "key order", "verdict", "values"),
    }
)
"""What recording today's prompt or parse result settles; a source is pulled, expectations are edited."""
VERDICTS: frozenset[CauseKind] = frozenset({"verdict", "values"})
"""A reply parses no longer, parses again, or gives another value: accepted one by one, never with all others."""

MOST_LINES = 40
"""Lines of an example; the rest is counted."""
MOST_NAMED = 5


class Key(NamedTuple):
    """The identity of a cause: kind, name (a field, a parameter), old and new text."""

    kind: CauseKind
    name: str
    before: str
    after: str

    @property
    def id(self) -> str:
        """The first 10 digits of the key's SHA-256: the same for the same cause, in every run."""
        text = json.dumps(list(self), ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:10]


class FixtureName(NamedTuple):
    """The name of a fixture."""

    path: str
    case: str
    column: str

    def __str__(self) -> str:
        return f"{self.path}::{self.case}::{self.column}"


@dataclass(frozen=True)
class Cause:
    """A thing that changed, with its fixtures in the order in which they were checked; the first is the example."""

    key: Key
    words: str
    fixtures: tuple[FixtureName, ...]
    example: FixtureResult

    @property
    def id(self) -> str:
        return self.key.id

    @property
    def is_acceptable(self) -> bool:
        """Tell whether recording again settles it."""
        return self.key.kind in ACCEPTABLE

    @property
    def changes_verdict(self) -> bool:
        """Tell whether replies parse differently: such causes come first and are never accepted with all."""
        return self.key.kind in VERDICTS

    @property
    def rank(self) -> int:
        """Its place before others, however many fixtures they have: 0 for replies that stopped parsing."""
        order: dict[CauseKind, int] = {"verdict": 0, "values": 1, "expectation": 2}
        return order.get(self.key.kind, 3)

    @property
    def can_be_pulled(self) -> bool:
        """Tell whether the program differs, so that its text can be pulled."""
        return self.key.kind == "source" and self.example.verdicts.get("source") == "drift"

    def heading(self) -> str:
        """A line: the id, what changed, how many."""
        return f"{self.id}  {self.words}  ({counted(self.fixtures)})"

    def lines(self) -> Iterator[str]:
        """The fixtures and the example, as indented lines for people."""
        names = [str(one) for one in self.fixtures[:MOST_NAMED]]
        more = len(self.fixtures) - len(names)
        for name in names:
            yield f"  {name}"
        if more:
            yield f"  … and {more:,} more"
        lines = reports.details(self.example).split("\n")
        if len(self.fixtures) > 1:
            yield f"  for example {self.fixtures[0]}:"
        yield from lines[:MOST_LINES]
        if len(lines) > MOST_LINES:
            yield f"    … {len(lines) - MOST_LINES:,} more lines; --json has them"


def counted(fixtures: Sequence[FixtureName]) -> str:
    """Such as `3 fixtures` or `12 fixtures in 4 files`."""
    files = len({one.path for one in fixtures})
    said = f"{len(fixtures):,} fixture{'' if len(fixtures) == 1 else 's'}"
    return f"{said} in {files:,} files" if files > 1 else said


def advice(causes: Sequence[Cause], paths: Sequence[str]) -> str:
    """Suggest the next command, in a line; empty when nothing can be accepted."""
    if not any(one.is_acceptable or one.can_be_pulled for one in causes):
        return ""
    if all(one.key.kind == "source" for one in causes):
        return f"`workbench pull {' '.join(paths[:3])}` takes the program's text over, `workbench push` writes it back"
    named = " ".join(paths) if len(paths) <= 3 else f"{' '.join(paths[:3])} …"
    count = f"{len(causes)} cause{'' if len(causes) == 1 else 's'}"
    return f"{count}; `workbench review {named}` decides one after the other"


def verdict_lines(causes: Sequence[Cause]) -> list[str]:
    """Say in a line how many fixtures parse differently, and in further lines which; empty for none."""
    changed = [one for one in causes if one.changes_verdict]
    fixtures = dict.fromkeys(fixture for cause in changed for fixture in cause.fixtures)
    if not changed:
        return []
    many = f"{len(fixtures):,} fixture{'' if len(fixtures) == 1 else 's'}"
    lines = [f"{many} with a changed verdict or value:"]
    named = [f"  {fixture}  {cause.words}  [{cause.id}]" for cause in changed for fixture in cause.fixtures]
    lines += named[:MOST_NAMED]
    return [*lines, f"  … and {len(named) - MOST_NAMED:,} more"] if len(named) > MOST_NAMED else lines
