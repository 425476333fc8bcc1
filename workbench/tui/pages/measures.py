"""Time, tokens and cost in words; what is not known is said to be unknown, never shown as nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def duration(milliseconds: float) -> str:
    return f"{milliseconds:,.0f} ms" if milliseconds < 10_000 else f"{milliseconds / 1000:,.1f} s"


def tokens_of(usage: Mapping[str, Any] | None) -> str:
    """`120 + 34 tokens`: those of the prompt and those of the reply."""
    given, made = (usage or {}).get("prompt_tokens"), (usage or {}).get("completion_tokens")
    if not isinstance(given, int) or not isinstance(made, int):
        return "tokens unknown"
    return f"{given:,} + {made:,} tokens"


def measured(milliseconds: float, usage: Mapping[str, Any] | None, cost: float | None) -> str:
    """Time, tokens and cost of one call on one line."""
    known = [duration(milliseconds), tokens_of(usage), cost_of(cost)]
    if known[1:] == ["tokens unknown", "cost unknown"]:
        known[1:] = ["tokens and cost unknown"]
    return " · ".join(known)


def cost_of(cost: float | None) -> str:
    """US dollars, to four significant digits."""
    if cost is None:
        return "cost unknown"
    return "free" if cost == 0 else f"${cost:.4g}"
