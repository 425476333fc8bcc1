"""What a page is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from adapters.requests.request import Request
from adapters.requests.token_ledger import Ledger
from sessions.model.session import Case, Column, Session
from workbench.state.derived import RenderedColumn
from workbench.tui.keys.key_words import USUAL, KeyWords
from workbench.tui.runs.runs import ColumnRun


@dataclass(frozen=True)
class LookedAt:
    """One column of the case on screen, the other columns beside it, and by column id the last run and last request.

    `requests` are those that were sent in this sitting.
    """

    session: Session
    case: Case
    rendered: RenderedColumn
    columns: tuple[RenderedColumn, ...]
    runs: Mapping[str, ColumnRun] = field(default_factory=dict)
    requests: Mapping[str, Request] = field(default_factory=dict)
    keys: KeyWords = USUAL
    counted: Mapping[str, tuple[Request, Ledger]] = field(default_factory=dict)
    """By column id the request whose tokens were counted last, and where they go."""

    @property
    def column(self) -> Column:
        return self.rendered.column

    @property
    def run(self) -> ColumnRun | None:
        return self.runs.get(self.column.id)

    @property
    def sent(self) -> Request | None:
        """What the column sent last."""
        return self.requests.get(self.column.id)

    @property
    def model(self) -> str:
        return self.session.model_of(self.column)
