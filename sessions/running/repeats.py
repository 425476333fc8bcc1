"""Summarise repeats of a request: the frequency of each value, and the number of parse errors; find copied demos."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import EnumType
from typing import Any

from adapters.late_dataclasses import dataclass
from adapters.replies.forms import leaves
from adapters.running.runs import Run
from adapters.signatures.type_names import walk
from adapters.values.plain_json import plain
from sessions.file.typed_values import typed
from sessions.model.session import Case, Session

MOST_WORDS, LONGEST_LABEL = 2, 24
"""The most words and characters of a text that may be a label."""


@dataclass(frozen=True)
class Counted:
    """A value with the number of runs that returned it. 1, 1.0 and true are different values."""

    value: Any
    count: int


@dataclass(frozen=True)
class Repeats:
    """A summary of several runs of a column.

    `answered` runs had a complete reply; the column's own adapter failed to parse `parse_failures` of them, whether or
    not a fallback succeeded. `values` are those of successful runs, `fields` the same by field, most frequent first.
    """

    runs: int
    answered: int
    parse_failures: int
    values: tuple[Counted, ...]
    fields: Mapping[str, tuple[Counted, ...]]
    errors: tuple[Counted, ...]
    """The error messages of failed runs."""

    @property
    def parse_failure_rate(self) -> float | None:
        """The share of answered runs that did not parse, from 0 to 1; None without an answer."""
        return self.parse_failures / self.answered if self.answered else None


def collapse(runs: Sequence[Run]) -> Repeats:
    """Count the distinct values, field values and errors of the runs."""
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
    """Return whether the column's own adapter failed to parse a reply, regardless of fallbacks.

    If the model was asked again with the error, its last reply counts.
    """
    if any(one.purpose == "again" for one in run.attempts):
        return not run.ok
    own = [one for one in run.attempts if one.purpose in ("first", "retry", "tools")]
    readings = [completion.reading for attempt in own for completion in attempt.completions]
    return not run.ok or any(reading is not None and not reading.ok for reading in readings)


def copied_demo(session: Session, case: Case, values: Mapping[str, Any]) -> int:
    """Return the number of the demo whose outputs are repeated for other inputs; 0 for none.

    Labels and numbers may be equal by right; a text of three words, or a second text, may not.
    """
    signature, given = session.signature.read(), plain(dict(values))
    outputs, inputs = signature.output_fields, {name: case.inputs.get(name) for name in signature.input_fields}
    demos = [(number, one.values) for number, one in enumerate(session.demos, 1) if one.enabled]
    alike = [one for one in demos if all(name in one[1] and one[1][name] == given.get(name) for name in outputs)]
    if not alike or any(all(one.get(name) == inputs[name] for name in inputs) for _, one in alike):
        return 0
    texts = 0
    for name, field in outputs.items():
        parts = list(walk(field.annotation))
        choices = {one.value for part in parts if isinstance(part, EnumType) for one in part}  # type: ignore[var-annotated]
        own = [one for one in leaves(given.get(name)) if isinstance(one, str) and one and one not in (*parts, *choices)]
        if any(len(one.split()) > MOST_WORDS or len(one) > LONGEST_LABEL for one in own):
            return alike[0][0]
        texts += 1 if own and isinstance(given.get(name), list) else len(own)
    return alike[0][0] if texts > 1 else 0


def _counted(values: Iterable[object]) -> tuple[Counted, ...]:
    first: dict[str, Any] = {}
    counts: Counter[str] = Counter()
    for value in values:
        key = json.dumps(typed(value), sort_keys=True, ensure_ascii=True, default=repr)
        first.setdefault(key, value)
        counts[key] += 1
    return tuple([Counted(first[key], count) for key, count in counts.most_common()])
