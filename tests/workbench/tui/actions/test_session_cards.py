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
    "columns": [{"id": "chat", "adapter": "chat"}, {"id": "json", "adapter": "json", "model": "offline/chatty"}],
    "cases": [{"name": "[/x]", "inputs": {}}, {"name": "other", "inputs": {}}],
    "demos": [{"values": {"question": "Why?"}}, {"values": {"question": "How?"}}],
    "model": "offline/exact",
}


def test_a_card_says_what_a_file_holds(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(SESSION), encoding="utf-8")
    card = browsing.read(path)
    assert isinstance(card, Card)
    head, counts, columns, _, signature = card.preview.plain.split("\n")
    assert head == "Bills #urgent  #urgent  #billing"
    assert counts == "2 cases · 2 demos · 0 recorded   offline/exact"
    assert (columns, signature) == ("chat, json → offline/chatty", "question -> answer")
    assert card.words == "bills #urgent #urgent #billing chat json → offline/chatty [/x] other"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "the file is empty"),
        pytest.param(b"[]", "", marks=pytest.mark.slow),
        (b'{"format": 1}', "signature"),
        pytest.param(b"\xff", "", marks=pytest.mark.slow),
        (b"[" * 200_000, ""),
        (b'{"format": 1, "signature": 3, "columns": {"a": 1}}', "signature"),
    ],
)
def test_what_is_no_session_has_a_reason_in_place_of_its_card(content: bytes, why: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    card = browsing.read(path)
    assert isinstance(card, str) and card and why in card
    assert isinstance(browsing.read(tmp_path / "none.json"), str)
    assert isinstance(browsing.read(tmp_path), str)


def test_a_file_too_large_for_a_preview_is_said_to_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(SESSION), encoding="utf-8")
    monkeypatch.setattr(browsing, "LARGEST", 10)
    card = browsing.read(path)
    assert isinstance(card, str) and card.endswith("too large for a preview; enter opens it")
