"""Summarize an upgrade: deduplicated effects, counts, and notes on a new model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

from adapters.late_dataclasses import dataclass
from adapters.lm.model_list import ModelEntry, listed, retirement_of
from sessions.bench.conclusions import Pair
from sessions.causes import writing
from sessions.causes.cause import FixtureName, Key, fixture_count
from sessions.upgrades.comparing import Difference
from sessions.upgrades.sides import COUNTED, Compared


@dataclass(frozen=True)
class Found:
    """An effect of the change, with the affected fixtures and the shortest difference as its example."""

    key: Key
    fixtures: tuple[FixtureName, ...]
    adapters: tuple[str, ...]
    example: Difference
    example_of: FixtureName

    @property
    def words(self) -> str:
        """The change in a sentence."""
        return writing.plain_words(self.key)

    @property
    def is_reading(self) -> bool:
        """Tell whether the effect is on parse results, not on requests."""
        return self.example.part == "parse"

    @property
    def where(self) -> str:
        """The affected adapters and fixtures, such as `chat, xml; 3 fixtures`."""
        return f"{', '.join(self.adapters)}; {fixture_count(self.fixtures)}"


@dataclass(frozen=True)
class Upgrade:
    """The effects of another dspy, model or adapter on the compared fixtures."""

    before: str
    after: str
    fixtures: tuple[Compared, ...]
    found: tuple[Found, ...]
    """The effects: those on parse results first, then by number of fixtures."""
    notes: tuple[str, ...] = ()
    """Notes on the change itself, such as prices or a retired model."""
    live: tuple[Pair, ...] = ()
    """The conclusion for each column from new replies on both sides."""

    @property
    def compared(self) -> tuple[Compared, ...]:
        return tuple([one for one in self.fixtures if one.is_compared])

    @property
    def changed(self) -> tuple[Compared, ...]:
        return tuple([one for one in self.fixtures if one.differences])

    @property
    def counts(self) -> dict[str, int]:
        """The counts of fixtures, tokens (in compared fixtures) and replies."""
        compared = self.compared
        return {
            "fixtures": len(self.fixtures),
            "compared": len(compared),
            "changed": len(self.changed),
            "prompts": sum(any(one.part == "render" for one in each.differences) for each in compared),
            "tokens_before": sum(one.tokens[0] for one in compared),
            "tokens_after": sum(one.tokens[1] for one in compared),
            **{name: sum(one.counts[name] for one in compared) for name in ("replies", *COUNTED)},
        }

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON of `upgrade --json`."""
        return {
            "before": self.before,
            "after": self.after,
            "counts": self.counts,
            "notes": list(self.notes),
            "live": [
                {
                    "words": one.words,
                    "p": one.difference.p_adjusted,
                    "certain": one.difference.is_certain,
                    "before": [[share.successes, share.runs] for share in one.difference.first],
                    "after": [[share.successes, share.runs] for share in one.difference.second],
                }
                for one in self.live
            ],
            "changes": [
                {
                    "id": one.key.id,
                    "words": one.words,
                    "part": one.example.part,
                    "adapters": list(one.adapters),
                    "fixtures": [name._asdict() for name in one.fixtures],
                    "example": {**one.example_of._asdict(), "place": one.example.place, "diff": list(one.example.diff)},
                }
                for one in self.found
            ],
            "fixtures": [
                {
                    "path": one.path,
                    "case": one.case,
                    "column": one.column,
                    "adapter": one.adapter,
                    "changes": list(dict.fromkeys(each.key.id for each in one.differences)),
                    "tokens_before": one.tokens[0],
                    "tokens_after": one.tokens[1],
                    **one.counts,
                    "why_not": one.why_not,
                }
                for one in self.fixtures
            ],
        }


def upgrade(before: str, after: str, fixtures: Sequence[Compared], notes: Sequence[str] = ()) -> Upgrade:
    """Group the differences of fixtures by cause."""
    shown: dict[Key, list[tuple[Compared, Difference]]] = {}
    for fixture in fixtures:
        for difference in fixture.differences:
            shown.setdefault(difference.key, []).append((fixture, difference))
    found: list[Found] = []
    for key, places in shown.items():
        names = [FixtureName(one.path, one.case, one.column) for one, _ in places]
        adapters = sorted({one.adapter for one, _ in places})
        fixture, example = min(places, key=lambda one: sum(len(line) for line in one[1].diff))
        example_of = FixtureName(fixture.path, fixture.case, fixture.column)
        found.append(Found(key, tuple(dict.fromkeys(names)), tuple(adapters), example, example_of))
    found.sort(key=lambda one: (not one.is_reading, -len(one.fixtures)))
    return Upgrade(before, after, tuple(fixtures), tuple(found), tuple(notes))


def notes_of(before: Sequence[str], after: str, compared: Sequence[Compared], today: date) -> Iterator[str]:
    """Yield sentences on the current models (`before`) and the new model. Prices are litellm's list prices."""
    old = [one for one in dict.fromkeys(before) if one != after]
    for model in (*old, after):
        retirement = retirement_of(model)
        if retirement is not None:
            yield retirement.sentence(today)
        if listed(model) is None:
            yield f"no table lists {model}: its price and context window are unknown, and its capabilities are guessed"
    new = listed(after)
    for model in old:
        there = listed(model)
        if there is not None and new is not None:
            names = f"{there.name} → {new.name}"
            if (there.input_price, there.output_price) != (new.input_price, new.output_price):
                prices = [
                    f"{_price(one)} → {_price(other)} a million tokens {way}"
                    for one, other, way in (
                        (there.input_price, new.input_price, "in"),
                        (there.output_price, new.output_price, "out"),
                    )
                    if one != other
                ]
                yield f"{names}: {', '.join(prices)}"
            if there.context_tokens != new.context_tokens:
                yield f"{names}: {_context(there)} → {_context(new)} tokens of context"
    if new is None:
        return
    longest = max((one.tokens[1] for one in compared), default=0)
    if new.context_tokens is not None and longest > new.context_tokens:
        yield f"the longest prompt has ~{longest:,} tokens, more than {after} can take ({new.context_tokens:,})"


def _price(price: float | None) -> str:
    return "unknown" if price is None else f"${price:,.2f}"


def _context(entry: ModelEntry) -> str:
    return "?" if entry.context_tokens is None else f"{entry.context_tokens:,}"
