"""What is expected of replies, judged under both sides of an upgrade: each is sent, and so few say only so much."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sessions.bench import statistics
from sessions.bench.grid import Pair
from sessions.bench.statistics import Share
from sessions.model.session import Case, Column, Session
from sessions.upgrades.engines import Ours
from sessions.upgrades.sides import Change, Side
from workbench.checks import live_check
from workbench.sending.allowed_hosts import Allowed


@dataclass(frozen=True)
class Sent:
    """One case under one column, sent under both sides; a side without any reply has no share."""

    column: str
    before: Share | None
    after: Share | None
    errors: tuple[str, ...] = ()
    """Why runs have no reply, each reason once."""


def send(change: Change, session: Session, case: Case, column: Column, repeat: int, allowed: Allowed) -> Sent:
    """Sends the case `repeat` times under each side, and judges what it expects; that it parses, where nothing is."""
    errors: dict[str, None] = {}
    shares = [_share(side, session, case, column, repeat, allowed, errors) for side in (change.before, change.after)]
    return Sent(column.id, shares[0], shares[1], tuple(errors))


def _share(
    side: Side, session: Session, case: Case, column: Column, repeat: int, allowed: Allowed, errors: dict[str, None]
) -> Share | None:
    used = side.column_of(column)
    if not isinstance(side.engine, Ours):
        used = replace(used, adapter=f"{used.adapter}@{side.engine.version}")
    rounds = live_check.rounds(session, case, used, repeat, allowed)
    answered = [one for one in rounds if all(drift.place != "request" for drift in one)]
    errors |= dict.fromkeys(drift.message for one in rounds for drift in one if drift.place == "request")
    return Share(sum(not one for one in answered), len(answered)) if answered else None


def conclusions(change: Change, sent: Iterable[Sent]) -> tuple[Pair, ...]:
    """What may be concluded of each column from the cases that both sides answered, all columns told together."""
    by_column: dict[str, tuple[list[Share], list[Share]]] = {}
    for one in sent:
        before, after = by_column.setdefault(one.column, ([], []))
        if one.before is not None and one.after is not None:
            before.append(one.before)
            after.append(one.after)
    pairs: Sequence[tuple[list[Share], list[Share]]] = list(by_column.values())
    found = zip(by_column, statistics.compare(pairs), strict=True)
    return tuple(
        [
            Pair(f"{id} under {change.before.name}", f"{id} under {change.after.name}", "expected", one, len(pairs))
            for id, one in found
        ]
    )
