"""What a check says: one verdict each for rendering, parsing and expectations, and what differs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sessions.json_values import JSON
from sessions.typed_values import plain

Word = Literal["pass", "drift", "fail", "empty", "error"]
"""pass: as recorded, or as expected · drift: not as recorded · fail: not as expected · empty: nothing recorded, or
nothing expected · error: it could not be judged."""

Part = Literal["render", "parse", "expect", "upstream", "live"]
PARTS: tuple[Part, ...] = ("render", "parse", "expect")
"""The verdicts of every check; `upstream` and `live` are given when asked for."""


@dataclass(frozen=True)
class Origin:
    """What made a piece of a message: the `kind` of `adapters.text`, the field, the turn."""

    turn: str
    kind: str
    field: str | None = None

    def __str__(self) -> str:
        return f"{self.turn} · {self.kind}" + (f" of `{self.field}`" if self.field is not None else "")

    def in_words(self) -> str:
        """Such as "the description of `score` in the system message"."""
        what = _KINDS.get(self.kind, self.kind)
        if self.field is not None:
            return f"the {what} of `{self.field}` in {turn_in_words(self.turn)}"
        return f"the {what} of {turn_in_words(self.turn)}"


_KINDS = {"boilerplate": "fixed text", "custom": "adapter's own text"}


def turn_in_words(turn: str) -> str:
    """A message's `turn` as a person says it: "history turn 1", "the system message"."""
    if turn.startswith("history "):
        return "history turn " + turn.removeprefix("history ")
    return {"system": "the system message", "inputs": "the inputs"}.get(turn, turn)


@dataclass(frozen=True)
class Drift:
    """One difference: which verdict it belongs to, where, in words, and as a diff.

    `place` is a path (`messages[0]`, `request.temperature`, `attempts[0].completions[0].values.answer`,
    `fields.answer.equals`). `diff` holds lines that begin with "-", "+" or " ". `origins` say what made the pieces of
    today's message that differ. `before` and `after` are JSON, for differences that are no text. `versions` says which
    versions have changed since the recording, and is empty when none has.
    """

    part: Part
    place: str
    message: str
    diff: tuple[str, ...] = ()
    origins: tuple[Origin, ...] = ()
    before: JSON = None
    after: JSON = None
    versions: str = ""

    def as_dict(self) -> dict[str, JSON]:
        return {
            "verdict": self.part,
            "place": self.place,
            "message": self.message,
            "diff": list(self.diff),
            "origins": [{"turn": one.turn, "kind": one.kind, "field": one.field} for one in self.origins],
            "before": plain(self.before),
            "after": plain(self.after),
            "versions": self.versions,
        }


@dataclass(frozen=True)
class FixtureResult:
    """The verdicts on one column of one case of the session at `path`, by part."""

    path: str
    case: str
    column: str
    verdicts: Mapping[Part, Word]
    drift: tuple[Drift, ...] = ()
    notes: tuple[str, ...] = ()
    """What a person should know of the fixture although it is no drift, such as what could not be asked."""

    @property
    def passed(self) -> bool:
        """Something was checked, and all that was asked for held."""
        return not self.failed and not self.is_empty and not self.unasked

    @property
    def unasked(self) -> bool:
        """Another dspy was to judge and could not be asked; nothing else is wrong."""
        return self.verdicts.get("upstream") == "empty" and not self.failed and not self.is_empty

    @property
    def failed(self) -> bool:
        return any(word in ("drift", "fail", "error") for word in self.verdicts.values())

    @property
    def is_empty(self) -> bool:
        """Nothing is recorded and nothing expected: nothing was checked."""
        return all(word == "empty" for word in self.verdicts.values())

    def as_dict(self) -> dict[str, Any]:
        """The shape of `check --json`."""
        return {
            "path": self.path,
            "case": self.case,
            "column": self.column,
            "verdicts": dict(self.verdicts),
            "drift": [one.as_dict() for one in self.drift],
            "notes": list(self.notes),
        }


def totals(results: Iterable[FixtureResult]) -> dict[str, int]:
    """How many fixtures `passed`, `failed`, were `unasked` and `empty`; each counts once. No result is kept."""
    counts = {"passed": 0, "failed": 0, "unasked": 0, "empty": 0}
    for one in results:
        counts["passed"] += one.passed
        counts["failed"] += one.failed
        counts["unasked"] += one.unasked
        counts["empty"] += one.is_empty
    return counts
