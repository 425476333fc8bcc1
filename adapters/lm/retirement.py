"""When a model leaves its provider's API, as litellm's table and the providers' own announcements have it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from adapters.lm import litellm_answers, model_list

ANNOUNCED: tuple[tuple[re.Pattern[str], date], ...] = (
    (re.compile(r"(openai/)?gpt-4(o|\.1)(-mini|-nano)?(-\d{4}-\d\d-\d\d)?"), date(2027, 1, 14)),
    (re.compile(r"(openai/)?(gpt-5|o3)(-\d{4}-\d\d-\d\d)?"), date(2026, 12, 11)),
)
"""Announced by providers and in no table yet: names as whole, and the day."""

SOON_DAYS = 60
"""Who chooses a model that is shut down within so many days is warned."""


@dataclass(frozen=True)
class Retirement:
    """The day on which a model leaves its provider's API, and who says so."""

    model: str
    day: date
    said_by: str

    def remark(self, today: date) -> str:
        """A few words: `left its API on 2026-10-23`."""
        return f"{'left' if self.day <= today else 'leaves'} its API on {self.day.isoformat()}"

    def sentence(self, today: date) -> str:
        return f"{self.model} {self.remark(today)} ({self.said_by})"

    def is_near(self, today: date) -> bool:
        """Return whether it has left, or leaves within `SOON_DAYS`."""
        return (self.day - today).days <= SOON_DAYS


def retirement_of(model: str) -> Retirement | None:
    """When the model of this name retires; None where nobody has said."""
    for pattern, day in ANNOUNCED:
        if pattern.fullmatch(model):
            return Retirement(model, day, "its provider's announcement")
    entry = None if model.startswith("offline/") else model_list.listed(model)
    if entry is None or entry.retires is None:
        return None
    return Retirement(model, entry.retires, f"litellm {litellm_answers.installed()}'s table")
