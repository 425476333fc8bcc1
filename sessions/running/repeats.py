"""The same request sent several times: which values came back how often, and how many replies could not be read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.running.runs import Run
from sessions.file.typed_values import typed


@dataclass(frozen=True)
class Counted:
    """A value, and how many of the runs gave it. 1, 1.0 and true are three values."""

    value: Any
    count: int


@dataclass(frozen=True)
class Repeats:
    """Several runs of a column.

    `answered` had a whole reply; of those, `parse_failures` were not read by the column's own adapter, whatever a
    fallback made of them. `values` are those of the runs that succeeded, `fields` the same field by field; the most
    frequent first.
    """

    runs: int
    answered: int
    parse_failures: int
    values: tuple[Counted, ...]
    fields: Mapping[str, tuple[Counted, ...]]
    errors: tuple[Counted, ...]
    """Of the runs that failed: what they said."""

    @property
    def parse_failure_rate(self) -> float | None:
        """Between 0 and 1; None when nothing was answered."""
        return self.parse_failures / self.answered if self.answered else None


def collapse(runs: Sequence[Run]) -> Repeats:
    """Summarise what the runs have in common and where they differ."""
    answered = [run for run in runs if run.error is None or run.error.phase == "response"]
    good = [run.values for run in runs if run.ok]
    names = list(dict.fromkeys(name for values in good for name in values))
    return Repeats(
        runs=len(runs),
        answered=len(answered),
        parse_failures=sum(1 for run in answered if is_misread(run)),
        values=_counted([dict(values) for values in good]),
        fields={name: _counted([values[name] for values in good if name in values]) for name in names},
        errors=_counted([run.error.message for run in runs if run.error is not None]),
    )


def is_misread(run: Run) -> bool:
    """Tell whether the column's own adapter failed to parse a reply, whatever a fallback did.

    Where the model was asked again with the error, its last reply counts.
    """
    if any(one.purpose == "again" for one in run.attempts):
        return not run.ok
    own = [one for one in run.attempts if one.purpose in ("first", "retry", "tools")]
    readings = [completion.reading for attempt in own for completion in attempt.completions]
    return not run.ok or any(reading is not None and not reading.ok for reading in readings)


def _counted(values: Iterable[object]) -> tuple[Counted, ...]:
    first: dict[str, Any] = {}
    counts: dict[str, int] = {}
    for value in values:
        key = json.dumps(typed(value), sort_keys=True, ensure_ascii=True, default=repr)
        first.setdefault(key, value)
        counts[key] = counts.get(key, 0) + 1
    found = [Counted(first[key], count) for key, count in counts.items()]
    return tuple(sorted(found, key=lambda one: -one.count))
