"""What a person decides about causes of drift, one after the other, with undo until the review is left."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from sessions.causes.cause import Cause, FixtureName

Decision = Literal["accept", "leave"]

NONE_YET: Mapping[str, Decision] = MappingProxyType({})


def can_be_accepted(cause: Cause) -> bool:
    """Whether accepting settles it: by recording anew, or, for a program that says otherwise, by taking its text."""
    return cause.is_acceptable or cause.can_be_pulled


def why_not(cause: Cause) -> str:
    """Why a cause cannot be accepted, and what would settle it; empty for one that can be."""
    if can_be_accepted(cause):
        return ""
    word = cause.example.verdicts.get("source")
    linked = "the session's own text" if word == "error" else "the link or the program"
    mends = {
        "expectation": "an expectation is yours to change, or the reply to be sent again",
        "source": f"{linked} has to be mended first",
        "upstream": "that dspy does otherwise: no recording changes it",
        "live": "the model answers otherwise: no recording changes it",
    }
    return f"not settled by recording anew; {mends.get(cause.key.kind, 'what is wrong has to be mended first')}"


@dataclass(frozen=True)
class Decisions:
    """The causes of a review, and what is decided of each; `steps` are all states since it began, the last in force."""

    causes: tuple[Cause, ...]
    steps: tuple[Mapping[str, Decision], ...] = field(default=(NONE_YET,))

    def of(self, cause: Cause) -> Decision | None:
        return self.steps[-1].get(cause.id)

    @property
    def open(self) -> tuple[Cause, ...]:
        """The causes of which nothing is decided yet."""
        return tuple([one for one in self.causes if one.id not in self.steps[-1]])

    @property
    def accepted(self) -> frozenset[str]:
        """The ids of the causes that are accepted."""
        known = {one.id for one in self.causes}
        return frozenset([id for id, said in self.steps[-1].items() if said == "accept" and id in known])

    @property
    def settled(self) -> frozenset[FixtureName]:
        """The fixtures that nothing but accepted causes has changed: what is accepted of others waits."""
        ids = self.accepted
        return frozenset(
            [
                fixture
                for cause in self.causes
                if cause.id in ids
                for fixture in cause.fixtures
                if all(other.id in ids for other in self.others_of(cause, fixture))
            ]
        )

    @property
    def can_be_undone(self) -> bool:
        return len(self.steps) > 1

    def decided(self, causes: Iterable[Cause], decision: Decision) -> Decisions:
        """One more step, in which these causes are decided so; what cannot be accepted never is."""
        return self.with_step({one.id: decision for one in causes})

    def with_step(self, said: Mapping[str, Decision]) -> Decisions:
        """The same for decisions by id; of causes that are not among these nothing is decided."""
        known = [one for one in self.causes if one.id in said]
        meant = [one for one in known if said[one.id] == "leave" or can_be_accepted(one)]
        state = {**self.steps[-1], **{one.id: said[one.id] for one in meant}}
        return self if state == self.steps[-1] else replace(self, steps=(*self.steps, MappingProxyType(state)))

    def rest(self, decision: Decision) -> tuple[Cause, ...]:
        """What "all that remain" means: undecided causes; to be accepted, those alone that can be one by one."""
        return tuple([one for one in self.open if decision == "leave" or can_be_accepted(one)])

    def undone(self) -> Decisions:
        """Without the last step."""
        return replace(self, steps=self.steps[:-1]) if self.can_be_undone else self

    def over(self, causes: Sequence[Cause]) -> Decisions:
        """The same decisions over the causes of a new look at the same fixtures."""
        return replace(self, causes=tuple(causes))

    def others_of(self, cause: Cause, fixture: FixtureName) -> tuple[Cause, ...]:
        """What has to be accepted too, before a fixture is recorded anew, or before its program's text is pulled."""
        others = [one for one in self.causes if one.id != cause.id and fixture in one.fixtures]
        if cause.key.kind == "source":
            return tuple([one for one in others if one.key.kind == "source"])
        return tuple([one for one in others if one.is_acceptable])
