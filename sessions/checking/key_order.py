"""Detect session files whose keys another program sorted, and restore the recorded order.

Key order is part of a prompt: an input `{"b": 1, "a": 2}` is shown in that order. A formatter that sorts the keys of
JSON files therefore changes prompts, and the recordings are reordered too. The texts of the recorded messages still
have the old order.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from adapters.formats.base import Adapter
from adapters.late_dataclasses import replace
from sessions.checking import checking
from sessions.checking.verdicts import KEYS_SORTED, Drift
from sessions.model.session import Recording, Session

MEND = "`workbench check {path} --restore-order` puts the order of the recording back"
LOOKS = 2_000
"""The maximum number of positions in recorded messages that are tried for each value."""


def were_sorted(text: str) -> bool:
    """Return whether all JSON objects have sorted keys, unlike files the workbench writes."""
    unsorted = 0
    several = 0

    def look(pairs: list[tuple[str, Any]]) -> None:
        nonlocal unsorted, several
        names = [name for name, _ in pairs]
        several += len(names) > 1
        unsorted += names != sorted(names)

    try:
        json.loads(text, object_pairs_hook=look)
    except (ValueError, RecursionError):
        return False
    return several > 2 and not unsorted


def drift(path: str) -> Drift:
    """Return the drift for a fixture that changed only because keys were sorted."""
    return Drift("render", "keys", f"{KEYS_SORTED}; {MEND.format(path=path)}")


def restored(session: Session, adapters: Mapping[str, Adapter] | None = None) -> Session:
    """Restore the key order that the recordings show; no value changes.

    Values that no recorded message shows keep their order.
    """
    cases = []
    for case in session.cases:
        own = list(case.recordings.values())
        history = tuple([_ordered(turn, own) for turn in case.history])
        cases.append(replace(case, inputs=_ordered(case.inputs, own), history=history))
    shown = [recording for case in session.cases for recording in case.recordings.values()]
    demos = tuple([replace(one, values=_ordered(one.values, shown)) for one in session.demos])
    made = replace(session, cases=tuple(cases), demos=demos)
    updated = checking.update(made, adapters=adapters)
    for case, today in zip(made.cases, updated.cases, strict=True):
        recordings = {}
        for id, old in case.recordings.items():
            parts = {name: getattr(today.recordings[id], name) for name in ("messages", "request", "attempts")}
            changed = {name: part for name, part in parts.items() if _is_equal(getattr(old, name), part)}
            recordings[id] = replace(old, **changed)  # equal except for the order of keys
        made = made.replace_case(replace(case, recordings=recordings))
    return made


def _ordered(values: Mapping[str, object], shown: list[Recording]) -> dict[str, Any]:
    """Give each value the key order of the recorded message that shows it."""
    return {name: _shown_name(value, shown) if _has_order(value) else value for name, value in values.items()}


def _has_order(value: object) -> bool:
    if isinstance(value, dict):
        return len(value) > 1 or any(map(_has_order, value.values()))
    return isinstance(value, list) and any(map(_has_order, value))


def _shown_name(value: object, shown: list[Recording]) -> Any:
    opening = "{" if isinstance(value, dict) else "["
    decoder = json.JSONDecoder()
    looks = 0
    contents = [message.get("content") for recording in shown for message in recording.messages]
    for text in [one for one in contents if isinstance(one, str)]:
        place = text.find(opening)
        while place >= 0 and looks < LOOKS:
            looks += 1
            try:
                found, _ = decoder.raw_decode(text, place)
            except (ValueError, RecursionError):
                found = None
            if found is not None and _is_equal(found, value):
                return found
            place = text.find(opening, place + 1)
    return value


def _is_equal(one: object, other: object) -> bool:
    """Return whether two JSON values are equal, ignoring key order. 1, 1.0 and true differ."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_is_equal(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_is_equal, one, other))
    return type(one) is type(other) and bool(one == other)
