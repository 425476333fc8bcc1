"""Models that leave their provider's API."""

from __future__ import annotations

from datetime import date

import pytest

from adapters.lm.model_list import retirement_of

TODAY = date(2026, 11, 22)


@pytest.mark.parametrize(
    ("model", "day"),
    [
        ("openai/o4-mini", "2026-10-23"),
        ("anthropic/claude-sonnet-4-5", "2026-11-30"),
        ("deepseek/deepseek-chat", "2026-07-24"),
    ],
)
def test_what_the_installed_table_says(model: str, day: str) -> None:
    found = retirement_of(model)
    assert found is not None
    assert found.day.isoformat() == day


@pytest.mark.parametrize(
    "model", ["openai/gpt-6-sol", "openai/gpt-5.4", "openai/gpt-4o", "offline/exact", "azure/our-deployment", "", "/"]
)
def test_nobody_has_said_when_these_leave(model: str) -> None:
    assert retirement_of(model) is None


def test_it_is_told_in_one_sentence_who_says_so_and_whether_it_is_over() -> None:
    gone, going = retirement_of("openai/o4-mini"), retirement_of("anthropic/claude-sonnet-4-5")
    assert gone is not None
    assert going is not None
    assert gone.sentence(TODAY).startswith("openai/o4-mini left its API on 2026-10-23 (litellm ")
    assert going.sentence(TODAY).startswith("anthropic/claude-sonnet-4-5 leaves its API on 2026-11-30 (litellm ")
    assert gone.is_near(TODAY)
    assert going.is_near(TODAY)
    assert not going.is_near(date(2026, 1, 1))
