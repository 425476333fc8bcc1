"""A cause of drift: one thing that changed, a digest as its id, and the fixtures that share it."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, get_args

from adapters.late_dataclasses import dataclass
from sessions.checking import reports
from sessions.checking.verdicts import FixtureResult
from sessions.errors import counted

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
ACCEPTABLE: frozenset[CauseKind] = frozenset(get_args(CauseKind)) - {
    "source",
    "expectation",
    "upstream",
    "live",
    "error",
}
"""The kinds that recording today's prompt or parse result settles. A changed source is pulled, an expectation
edited."""
VERDICTS: frozenset[CauseKind] = frozenset({"verdict", "values"})
"""The kinds that change verdicts or values: accepted one by one, never together with all others."""

MOST_LINES = 40
"""The maximum number of lines shown of an example; the others are counted."""
MOST_NAMED = 5


class Key(NamedTuple):
    """The identity of a cause: kind, name (of a field or a parameter), old and new text."""

    kind: CauseKind
    name: str
    before: str
    after: str

    @property
    def id(self) -> str:
        """Return the first 10 digits of the key's SHA-256, stable across runs."""
        text = json.dumps(list(self), ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:10]


class FixtureName(NamedTuple):
    """The name of a fixture: file, case and column."""

    path: str
    case: str
    column: str

    def __str__(self) -> str:
        return f"{self.path}::{self.case}::{self.column}"


@dataclass(frozen=True)
class Cause:
    """A change with the fixtures it affects, in the order of the check. The first is the example."""

    key: Key
    words: str
    fixtures: tuple[FixtureName, ...]
    example: FixtureResult

    @property
    def id(self) -> str:
        return self.key.id

    @property
    def is_acceptable(self) -> bool:
        """Return whether recording again settles the cause."""
        return self.key.kind in ACCEPTABLE

    @property
    def changes_verdict(self) -> bool:
        """Return whether replies parse differently: such causes come first and are accepted one by one."""
        return self.key.kind in VERDICTS

    @property
    def rank(self) -> int:
        """Return the sort rank, independent of the number of fixtures; 0 for changed verdicts."""
        order: dict[CauseKind, int] = {"verdict": 0, "values": 1, "expectation": 2}
        return order.get(self.key.kind, 3)

    @property
    def can_be_pulled(self) -> bool:
        """Return whether the program differs from the session, so that its text can be pulled."""
        return self.key.kind == "source" and self.example.verdicts.get("source") == "drift"

    def heading(self) -> str:
        """Return a line with id, description and number of fixtures."""
        return f"{self.id}  {self.words}  ({fixture_count(self.fixtures)})"

    def lines(self) -> Iterator[str]:
        """Yield the fixtures and the example as indented lines."""
        yield from listed([f"  {one}" for one in self.fixtures], MOST_NAMED, "  ")
        lines = reports.details(self.example).split("\n")
        if len(self.fixtures) > 1:
            yield f"  for example {self.fixtures[0]}:"
        yield from lines[:MOST_LINES]
        if len(lines) > MOST_LINES:
            yield f"    … {len(lines) - MOST_LINES:,} more lines; --json has them"


def listed(names: Sequence[str], most: int, indent: str = "") -> list[str]:
    """Return the names; those beyond `most` are counted."""
    more = [f"{indent}… and {len(names) - most:,} more"] if len(names) > most else []
    return [*names[:most], *more]


def fixture_count(fixtures: Sequence[FixtureName]) -> str:
    """Return a count such as `3 fixtures` or `12 fixtures in 4 files`."""
    files = len({one.path for one in fixtures})
    said = counted(len(fixtures), "fixture")
    return f"{said} in {files:,} files" if files > 1 else said


def advice(causes: Sequence[Cause], paths: Sequence[str]) -> str:
    """Suggest the next command in a line; empty if nothing can be accepted."""
    if not any(one.is_acceptable or one.can_be_pulled for one in causes):
        return ""
    if all(one.key.kind == "source" for one in causes):
        return f"`workbench pull {shlex.join(paths[:3])}` updates the session, `workbench push` the program"
    named = shlex.join(paths[:3]) + (" …" if len(paths) > 3 else "")
    return f"{counted(len(causes), 'cause')}; `workbench review {named}` decides one after the other"


def verdict_lines(causes: Sequence[Cause]) -> list[str]:
    """List the fixtures that parse differently, below a line with their number; empty if none."""
    changed = [one for one in causes if one.changes_verdict]
    fixtures = dict.fromkeys(fixture for cause in changed for fixture in cause.fixtures)
    if not changed:
        return []
    named = [f"  {fixture}  {cause.words}  [{cause.id}]" for cause in changed for fixture in cause.fixtures]
    return [f"{counted(len(fixtures), 'fixture')} with a changed verdict or value:", *listed(named, MOST_NAMED, "  ")]
