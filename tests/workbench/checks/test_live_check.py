"""Replies under both sides of an upgrade: each side sends as it says, whatever release a column is of."""

from __future__ import annotations

from typing import Any

import pytest

from sessions.bench.statistics import Share
from sessions.model.session import Case, Column, Session, SignatureText
from sessions.releases.engine import Call, Question, ReleaseError
from sessions.upgrades.sides import Change, Ours, Side
from workbench.checks import live_check
from workbench.sending.allowed_hosts import Allowed


class Older:
    """A release of dspy that nobody asks but by its version."""

    name = "dspy 2.6.27"
    version = "2.6.27"

    def call(self, question: Question) -> Call:
        raise ReleaseError("missing", "", "not asked here")

    def close(self) -> None:
        """There is nothing to close."""


@pytest.mark.parametrize(
    ("after", "sent_as"),
    [
        (Side("ours", Ours()), [("chat@2.6.27", "", {"a": 1}), ("chat", "", {"a": 1})]),
        (Side("xml", Ours(), adapter="xml"), [("chat@2.6.27", "", {"a": 1}), ("xml", "", {})]),
        (Side("m", Ours(), "offline/exact"), [("chat@2.6.27", "", {"a": 1}), ("chat", "offline/exact", {"a": 1})]),
    ],
)
def test_a_column_of_a_release_is_sent_by_the_dspy_of_each_side(
    monkeypatch: pytest.MonkeyPatch, after: Side, sent_as: list[tuple[str, str, dict[str, Any]]]
) -> None:
    sent: list[tuple[str, str, dict[str, Any]]] = []

    def rounds(ask: Any, case: Case, column: Column, repeat: int) -> list[list[Any]]:
        sent.append((column.adapter, column.model or "", dict(column.options)))
        return [[]] * repeat

    monkeypatch.setattr(live_check, "rounds", rounds)
    case, column = Case("one", {"question": "Why?"}), Column("old", "chat@3.0.4", {"a": 1})
    session = Session(SignatureText("question -> answer"), columns=(column,), cases=(case,))
    change = Change(Side("dspy 2.6.27", Older()), after, "dspy release")
    found = live_check.send(change, session, case, column, 2, Allowed())
    assert sent == sent_as
    assert (found.column, found.before, found.after) == ("old", Share(2, 2), Share(2, 2))
