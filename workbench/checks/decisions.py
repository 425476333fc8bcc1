"""Decisions on causes of drift, with undo, kept in the state folder until the review ends."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from adapters.late_dataclasses import dataclass, field, replace
from sessions.causes.cause import Cause, FixtureName
from sessions.errors import SessionError
from sessions.file import store
from sessions.file.whole_files import key_of, plain_reason, private, state_folder

Decision = Literal["accept", "leave"]

NONE_YET: Mapping[str, Decision] = MappingProxyType({})


def can_be_accepted(cause: Cause) -> bool:
    """Return whether accepting settles a cause, by recording again or by pulling the program's text."""
    return cause.is_acceptable or cause.can_be_pulled


def is_accepted_with_all(cause: Cause) -> bool:
    """Return whether "accept all" includes a cause. Changed verdicts and values are reviewed one by one."""
    return can_be_accepted(cause) and not cause.changes_verdict


def why_not(cause: Cause) -> str:
    """Return why a cause cannot be accepted, and what settles it; "" if it can be."""
    if can_be_accepted(cause):
        return ""
    word = cause.example.verdicts.get("source")
    linked = "the session's own text" if word == "error" else "the link or the program"
    mends = {
        "expectation": "edit the expectation, or send again",
        "source": f"fix {linked} first",
        "upstream": "dspy itself differs: no recording changes that",
        "live": "the model's answer differs: no recording changes it",
    }
    return f"not settled by recording again; {mends.get(cause.key.kind, 'fix the error first')}"


@dataclass(frozen=True)
class Decisions:
    """The causes of a review with their decisions. `steps` are all states so far, the last is current."""

    causes: tuple[Cause, ...]
    steps: tuple[Mapping[str, Decision], ...] = field(default=(NONE_YET,))

    def of(self, cause: Cause) -> Decision | None:
        return self.steps[-1].get(cause.id)

    @property
    def open(self) -> tuple[Cause, ...]:
        """Return the undecided causes."""
        return tuple([one for one in self.causes if one.id not in self.steps[-1]])

    @property
    def accepted(self) -> frozenset[str]:
        """Return the ids of the accepted causes."""
        known = {one.id for one in self.causes}
        return frozenset([id for id, said in self.steps[-1].items() if said == "accept" and id in known])

    @property
    def settled(self) -> frozenset[FixtureName]:
        """Return the fixtures whose causes are all accepted; others wait."""
        ids = self.accepted
        return frozenset(
            fixture
            for cause in self.causes
            if cause.id in ids
            for fixture in cause.fixtures
            if all(other.id in ids for other in self.others_of(cause, fixture))
        )

    @property
    def can_be_undone(self) -> bool:
        return len(self.steps) > 1

    def decided(self, causes: Iterable[Cause], decision: Decision) -> Decisions:
        """Add a step with this decision for these causes. Skips causes that cannot be accepted."""
        return self.add_step({one.id: decision for one in causes})

    def add_step(self, said: Mapping[str, Decision]) -> Decisions:
        """Add a step with decisions by cause id; unknown ids are ignored."""
        known = [one for one in self.causes if one.id in said]
        meant = [one for one in known if said[one.id] == "leave" or can_be_accepted(one)]
        state = {**self.steps[-1], **{one.id: said[one.id] for one in meant}}
        return self if state == self.steps[-1] else replace(self, steps=(*self.steps, MappingProxyType(state)))

    def rest(self, decision: Decision) -> tuple[Cause, ...]:
        """List the undecided causes for a decision on all. Accepting excludes changed verdicts."""
        return tuple([one for one in self.open if decision == "leave" or is_accepted_with_all(one)])

    @property
    def left_out(self) -> tuple[Cause, ...]:
        """Return the undecided causes that are accepted one by one: replies that parse differently."""
        return tuple([one for one in self.open if one.changes_verdict])

    def undone(self) -> Decisions:
        """Undo the last step."""
        return replace(self, steps=self.steps[:-1]) if self.can_be_undone else self

    def over(self, causes: Sequence[Cause]) -> Decisions:
        """Apply the decisions to the causes of a new check of the same fixtures."""
        return replace(self, causes=tuple(causes))

    def others_of(self, cause: Cause, fixture: FixtureName) -> tuple[Cause, ...]:
        """List the causes to accept before a fixture is recorded, or before its program's text is pulled."""
        others = [one for one in self.causes if one.id != cause.id and fixture in one.fixtures]
        if cause.key.kind == "source":
            return tuple([one for one in others if one.key.kind == "source"])
        return tuple([one for one in others if one.is_acceptable])


MOST_REVIEWS = 50
"""The number of unfinished reviews kept; the oldest beyond it are deleted."""
LARGEST = 1_000_000
"""The maximum size in bytes; larger files are not ours."""


@dataclass(eq=False)
class KeptDecisions:
    """Persists the decisions of a review so that a crash does not lose them. `key` names the file."""

    _key: str

    def taken_up(self, decisions: Decisions) -> Decisions:
        """Restore the decisions of an interrupted review, as a step, for causes that are unchanged."""
        try:
            place = _folder() / f"{self._key}.json"
            data = json.loads(place.read_text(encoding="utf-8")) if place.stat().st_size <= LARGEST else None
        except (OSError, ValueError, RecursionError):
            return decisions
        said = data.get("decisions") if isinstance(data, dict) else None
        valid = said.items() if isinstance(said, dict) else ()
        return decisions.add_step({id: one for id, one in valid if one in ("accept", "leave")})

    def keep(self, decisions: Decisions) -> str:
        """Save the current decisions to disk. Return the reason if that fails, else ""."""
        if not decisions.steps[-1]:
            self.remove()
            return ""
        content = json.dumps({"decisions": dict(decisions.steps[-1])}, indent=1)
        try:
            folder = private(_folder())
            store.write_whole(folder / f"{self._key}.json", content.encode())
            places = sorted(folder.glob("*.json"), key=lambda one: one.stat().st_mtime_ns, reverse=True)
            for place in places[MOST_REVIEWS:]:
                place.unlink(missing_ok=True)
        except (OSError, SessionError) as error:
            return plain_reason(error)
        return ""

    def remove(self) -> None:
        """Delete the decisions of a review that has ended."""
        with suppress(OSError, SessionError):
            (_folder() / f"{self._key}.json").unlink(missing_ok=True)


def decisions_on_files(paths: Sequence[str], chosen: Sequence[str]) -> KeptDecisions:
    """Open the decisions on these paths. `chosen` contains the options that select fixtures."""
    real = [os.path.realpath(path) for path in paths]
    text = json.dumps([real, list(chosen)])
    return KeptDecisions(f"{key_of(real[0])}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}")


def _folder() -> Path:
    return state_folder() / "decisions"
