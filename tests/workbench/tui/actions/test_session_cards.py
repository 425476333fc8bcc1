"""A session is recognised before it is opened."""

import json
from pathlib import Path

import pytest

from workbench.tui.actions import browsing
from workbench.tui.actions.browsing import Card

SESSION = {
    "format": 1,
    "name": "Bills #urgent",
    "notes": ["for #billing, not &#39; and C#", "and #urgent again"],
    "signature": {"text": ["question -> answer"]},
    "columns": [{"id": "chat", "adapter": "chat"}, {"adapter": "json", "model": "offline/chatty"}, 3],
    "cases": [{"name": "[/x]", "recordings": {"chat": {}}}, {"name": 3}],
    "demos": [{}, {}],
    "model": "offline/exact",
}


def test_a_card_says_what_a_file_holds(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(SESSION), encoding="utf-8")
    card = browsing.read(path)
    assert (card.name, card.tags) == ("Bills #urgent", ("urgent", "billing"))
    assert card.columns == ("chat", "json → offline/chatty")
    assert card.cases == ("[/x]", "")
    assert (card.demos, card.recordings, card.signature) == (2, 1, "question -> answer")


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b'{"format": 1}', b"\xff", b"[" * 200_000, b'{"format": 1, "signature": 3, "columns": {"a": 1}}'],
)
def test_nothing_that_a_file_holds_is_too_odd_for_a_card(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    card = browsing.read(path)
    assert card.wrong or card == Card()
    assert browsing.read(tmp_path / "none.json").wrong
    assert browsing.read(tmp_path).wrong
