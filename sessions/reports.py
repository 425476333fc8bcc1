"""A check as text for people: what differs, where, and why."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from sessions.json_values import JSON
from sessions.line_diff import line_diff
from sessions.typed_values import plain
from sessions.verdicts import Drift, FixtureResult

_COUNTED = {"unasked": "not asked of dspy"}


def summary(counts: Mapping[str, int]) -> str:
    """One line of `totals`: how many fixtures passed, failed, and had nothing to check."""
    return ", ".join(
        f"{count} {_COUNTED.get(word, word)}" for word, count in counts.items() if count or word == "passed"
    )


def headline(result: FixtureResult) -> str:
    """One line: which fixture, and its three verdicts."""
    words = ", ".join(f"{part} {word}" for part, word in result.verdicts.items())
    return f"{result.path}::{result.case}::{result.column}  {words}"


def details(result: FixtureResult) -> str:
    """Everything that differs, as indented lines; empty when nothing does."""
    return "\n".join(line for drift in result.drift for line in _lines(drift))


def as_dict(result: FixtureResult) -> dict[str, JSON]:
    """The shape of `check --json`: the result's own, and the `text` of each difference as people read it."""
    shape = result.as_dict()
    for drift, one in zip(result.drift, shape["drift"], strict=True):
        one["text"] = "\n".join(_lines(drift))
    return shape


def _lines(drift: Drift) -> Iterable[str]:
    yield f"  {drift.part}: {drift.message}  [{drift.place}]"
    if drift.versions:
        yield f"    versions: {drift.versions}"
    if drift.diff:
        for line in drift.diff:
            yield f"    {line}"
    elif drift.part in ("expect", "live") and (drift.before is not None or drift.after is not None):
        yield f"    expected: {_short(drift.before)}"
        yield f"    found:    {_short(drift.after)}"
    elif drift.before is not None or drift.after is not None:
        for line in line_diff([_short(drift.before)], [_short(drift.after)]):
            yield f"    {line}"


def _short(value: object, length: int = 500) -> str:
    text = json.dumps(plain(value), ensure_ascii=False)
    return text if len(text) <= length else f"{text[:length]}… ({len(text):,} characters)"
