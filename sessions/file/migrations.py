"""Files of older formats as the newest: each step changes decoded JSON data from one format to the next.

A step only moves what stands where it should; what does not is left for the reader to refuse with its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

NEWEST = 1


def to_newest(data: dict[str, Any]) -> dict[str, Any]:
    """`data`, of a format from 0 to `NEWEST`, as the newest."""
    for version in range(data["format"], NEWEST):
        data = STEPS[version](data)
    return data


def from_0(data: dict[str, Any]) -> dict[str, Any]:
    """Format 1 keeps what was measured beside the recordings, not in them, since no check compares it."""
    cases = data.get("cases")
    if not isinstance(cases, list):
        return data
    return {**data, "format": 1, "cases": [_measured_apart(case) for case in cases]}


def _measured_apart(case: Any) -> Any:
    recordings = case.get("recordings") if isinstance(case, dict) else None
    if not isinstance(recordings, dict):
        return case
    measured: dict[str, Any] = {}
    kept: dict[str, Any] = {}
    for id, recording in recordings.items():
        kept[id] = recording
        if isinstance(recording, dict) and "measured" in recording:
            kept[id] = {key: value for key, value in recording.items() if key != "measured"}
            if recording["measured"]:
                measured[id] = recording["measured"]
    made = {**case, "recordings": kept}
    return {**made, "measured": measured} if measured else made


STEPS: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = MappingProxyType({0: from_0})
