"""What a page is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sessions.session import Case, Column, Session
from workbench.live import LiveColumn
from workbench.runs import LiveRun


@dataclass(frozen=True)
class LookedAt:
    """One column of the case on screen, the other columns beside it, and the last run of each by column id."""

    session: Session
    case: Case
    live: LiveColumn
    columns: tuple[LiveColumn, ...]
    runs: Mapping[str, LiveRun] = field(default_factory=dict)

    @property
    def column(self) -> Column:
        return self.live.column

    @property
    def run(self) -> LiveRun | None:
        return self.runs.get(self.column.id)

    @property
    def model(self) -> str:
        return self.session.model_of(self.column)
