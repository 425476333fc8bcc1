"""List available models and their retirement dates, read from litellm's table without importing litellm."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from functools import lru_cache

from adapters.late_dataclasses import dataclass
from adapters.lm import fetched_table, litellm_answers
from adapters.lm.capabilities import split_model
from adapters.lm.protocol import Object

MODES = frozenset({"chat", "responses", "completion"})


@dataclass(frozen=True)
class ModelEntry:
    """A model in the list. Prices are in US dollars per million tokens; None is unknown."""

    name: str
    provider: str
    description: str = ""
    context_tokens: int | None = None
    input_price: float | None = None
    output_price: float | None = None
    retires: date | None = None
    """The day on which the model leaves its provider's API, if listed."""
    takes_sampling: bool = True
    """True if litellm sends `temperature`, `top_p` and `top_k` to the model."""


def offline_models() -> tuple[ModelEntry, ...]:
    """List the offline models, each described by the failure that it simulates."""
    from adapters.lm.offline import NAMES

    return tuple(ModelEntry(name, "offline", about, None, 0.0, 0.0) for name, about in NAMES.items())


@lru_cache(maxsize=1)
def litellm_models() -> tuple[ModelEntry, ...]:
    """List litellm's models that reply in text, by provider and name; empty if litellm is not installed."""
    entries = [
        _entry(name, facts)
        for name, facts in fetched_table.table().items()
        if name not in fetched_table.NO_MODELS and str(facts.get("mode")) in MODES
    ]
    by_name = {one.name: one for one in entries if one.name.isprintable()}
    return tuple(sorted(by_name.values(), key=lambda one: (one.provider, one.name)))


def is_read() -> bool:
    """Tell whether litellm's list has been read, so that `litellm_models` takes no time."""
    return litellm_models.cache_info().currsize > 0


def listed(model: str) -> ModelEntry | None:
    """Return the entry of exactly this model, None if unlisted."""
    return _by_name().get("/".join(split_model(model)))


@lru_cache(maxsize=1)
def _by_name() -> dict[str, ModelEntry]:
    return {one.name: one for one in (*offline_models(), *litellm_models())}


def _entry(name: str, facts: Object) -> ModelEntry:
    family = fetched_table.provider_of(facts)
    full = name if name.startswith(f"{family}/") or (family == "openai" and "/" in name) else f"{family}/{name}"
    context = facts.get("max_input_tokens") or facts.get("max_tokens")
    input_price, output_price = (
        round(price * 1e6, 6) if isinstance(price, int | float) and 0 < price < 1e9 else None
        for price in (facts.get("input_cost_per_token"), facts.get("output_cost_per_token"))
    )
    text = facts.get("deprecation_date")
    try:
        day = date.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        day = None
    return ModelEntry(
        full,
        family,
        "",
        context if isinstance(context, int) else None,
        input_price,
        output_price,
        day,
        facts.get("supports_sampling_params") is not False,
    )


LONGEST_QUERY = 200
"""Maximum characters of a query that are searched for, in case a whole page is pasted."""


def search(entries: Iterable[ModelEntry], query: str) -> tuple[ModelEntry, ...]:
    """Find entries whose name or description contains every word of `query`, best match first.

    A word also matches names that contain its letters in order (`cld` finds claude). Exact matches in the name come
    first, then those in the description; shorter names come before longer ones.
    """
    words = tuple(dict.fromkeys(query[:LONGEST_QUERY].lower().split()))
    ranked: list[tuple[tuple[int, int, str], ModelEntry]] = []
    for entry in entries:
        scores = [_score(word, entry) for word in words]
        if all(score is not None for score in scores):
            ranked.append(((sum(one or 0 for one in scores), len(entry.name), entry.name), entry))
    return tuple([entry for _, entry in sorted(ranked, key=lambda pair: pair[0])])


def _score(word: str, entry: ModelEntry) -> int | None:
    name = entry.name.lower()
    if word in name:
        return 0
    if word in entry.description.lower():
        return 1
    letters = iter(name)
    return 2 if all(letter in letters for letter in word) else None


SOON_DAYS = 60
"""Users are warned this many days before a model's retirement."""


@dataclass(frozen=True)
class Retirement:
    """The day on which a model leaves its provider's API, and the source of that date."""

    model: str
    day: date
    said_by: str

    def remark(self, today: date) -> str:
        """Return a short note such as `left its API on 2026-10-23`."""
        return f"{'left' if self.day <= today else 'leaves'} its API on {self.day.isoformat()}"

    def sentence(self, today: date) -> str:
        return f"{self.model} {self.remark(today)} ({self.said_by})"

    def is_near(self, today: date) -> bool:
        """Return whether the model has retired or retires within `SOON_DAYS`."""
        return (self.day - today).days <= SOON_DAYS


def retirement_of(model: str) -> Retirement | None:
    """Return when a model retires; None if unknown."""
    entry = None if model.startswith("offline/") else listed(model)
    if entry is None or entry.retires is None:
        return None
    return Retirement(model, entry.retires, litellm_answers.table_name())
