"""A stranger's pattern is found or not, and never holds up a check."""

from __future__ import annotations

import pytest

from sessions.checking import patterns
from sessions.checking.patterns import PatternError, matches


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [("EUR", "44 EUR", True), (r"\d+ EUR", "44 EUR", True), (r"^\d+$", "44 EUR", False), ("ü+", "Zürich", True)],
)
def test_a_pattern_is_searched_anywhere_in_the_text(pattern: str, text: str, found: bool) -> None:
    assert matches(pattern, text) is found


def test_a_pattern_that_never_ends_is_stopped_and_the_next_one_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "SECONDS", 0.3)
    with pytest.raises(PatternError, match="took more than"):
        matches(r"(a+)+$", "a" * 60 + "b")
    assert matches(r"a+", "aaa")


@pytest.mark.parametrize("pattern", ["(", "(a+", "[z-a]"])
def test_a_pattern_that_is_not_valid_says_so(pattern: str) -> None:
    with pytest.raises(PatternError, match="not valid"):
        matches(pattern, "a")


def test_patterns_and_texts_have_limits() -> None:
    with pytest.raises(PatternError, match="1,001 characters"):
        matches("a" * 1001, "a")
    with pytest.raises(PatternError, match="100,001 characters"):
        matches("a", "a" * 100_001)


def test_a_lone_surrogate_reaches_the_child_whole() -> None:
    assert matches("\ud800+", "x\ud800\ud800")
