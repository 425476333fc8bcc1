"""What is to be known of a change of model beside what it does to requests: prices, context, and when it retires."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from adapters.lm.model_list import ModelEntry, listed
from adapters.lm.retirement import retirement_of
from sessions.upgrades.sides import Compared


def notes_of(before: Sequence[str], after: str, compared: Sequence[Compared], today: date) -> Iterator[str]:
    """Sentences on the models that there are, `before`, and on the one to come. Prices are litellm's list prices."""
    old = [one for one in dict.fromkeys(before) if one != after]
    for model in (*old, after):
        retirement = retirement_of(model)
        if retirement is not None:
            yield retirement.sentence(today)
        if listed(model) is None:
            yield f"{model} is in no table: its price and its context are unknown, and what it can do is guessed"
    new = listed(after)
    for model in old:
        there = listed(model)
        if there is not None and new is not None:
            yield from _differences(there, new)
    if new is None:
        return
    longest = max((one.tokens[1] for one in compared), default=0)
    if new.context_tokens is not None and longest > new.context_tokens:
        yield f"the longest prompt has ~{longest:,} tokens, more than {after} can take ({new.context_tokens:,})"


def _differences(before: ModelEntry, after: ModelEntry) -> Iterator[str]:
    names = f"{before.name} → {after.name}"
    if (before.input_price, before.output_price) != (after.input_price, after.output_price):
        prices = [
            f"{_price(one)} → {_price(other)} a million tokens {way}"
            for one, other, way in (
                (before.input_price, after.input_price, "in"),
                (before.output_price, after.output_price, "out"),
            )
            if one != other
        ]
        yield f"{names}: {', '.join(prices)}"
    if before.context_tokens != after.context_tokens:
        yield f"{names}: {_context(before)} → {_context(after)} tokens of context"


def _price(price: float | None) -> str:
    return "unknown" if price is None else f"${price:,.2f}"


def _context(entry: ModelEntry) -> str:
    return "?" if entry.context_tokens is None else f"{entry.context_tokens:,}"
