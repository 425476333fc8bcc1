"""Accept causes: record the fixtures again whose causes are all accepted. Others stay drift."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from adapters.formats.base import Adapter
from sessions.causes.cause import ACCEPTABLE
from sessions.causes.finding import causes_of
from sessions.checking import checking
from sessions.checking.verdicts import FixtureResult
from sessions.model.session import Session


@dataclass(frozen=True)
class Accepted:
    """A session after accepting, with the numbers of recorded fixtures and of those waiting for another cause.

    `settled` contains the ids of the causes for which a fixture was recorded.
    """

    session: Session
    recorded: int
    waiting: int
    settled: frozenset[str] = frozenset()


def accepted(
    session: Session,
    results: Sequence[FixtureResult],
    ids: Collection[str],
    adapters: Mapping[str, Adapter] | None = None,
) -> Accepted:
    """Accept the causes with these ids. `results` come from a current check of the session.

    A recording changed by two causes waits until both are accepted, so that neither is accepted unseen.
    """
    ready: set[tuple[str, str]] = set()
    settled: set[str] = set()
    waiting = 0
    for result in results:
        keys = [key for key in causes_of(result) if key.kind in ACCEPTABLE]
        taken = [key.id in ids for key in keys]
        if keys and all(taken):
            ready.add((result.case, result.column))
            settled.update(key.id for key in keys)
        else:
            waiting += any(taken)
    if not ready:
        return Accepted(session, 0, waiting)
    made = checking.update(session, adapters=adapters, wanted=lambda case, column: (case, column) in ready)
    return Accepted(made, len(ready), waiting, frozenset(settled))
