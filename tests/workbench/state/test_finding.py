"""Finding a text: where it stands, and what stands around it."""

import pytest

from workbench.tui.actions import finding
from workbench.tui.actions.finding import MOST_HITS, Searched, find

TEXTS = [Searched("one", "a\nThe Urgent case\turgent [/x]"), Searched("two", "nothing"), Searched("three", "URGENT")]


def test_capitals_count_once_there_is_one() -> None:
    assert [(one.of.name, one.start) for one in find(TEXTS, "urgent")] == [("one", 6), ("one", 18), ("three", 0)]
    assert [(one.of.name, one.start) for one in find(TEXTS, "Urgent")] == [("one", 6)]
    assert find(TEXTS, "") == []
    assert len(find(TEXTS, "[/x]")) == 1


def test_a_pasted_page_that_is_longer_than_every_text_is_not_even_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(finding.re, "compile")
    assert find(TEXTS, "lorem ipsum" * 10) == []


def test_the_context_is_one_line_that_can_be_shown() -> None:
    hit = find([Searched("x", "before\n\x1b[2Jhere found\nbehind")], "found")[0]
    assert hit.context == ("␛[2Jhere ", "found", "")


def test_many_hits_are_cut() -> None:
    assert len(find([Searched("x", "a" * 5_000)], "a")) == MOST_HITS
