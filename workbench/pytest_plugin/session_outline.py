"""What of a session file there is to check, read with nothing but the standard library and without judging it.

The pytest plugin collects tests in the process of somebody's test suite, where our `sessions` package may not be
imported. A file that cannot be understood here has no outline; whoever checks it says what is wrong.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SIZE_LIMIT = 64_000_000
"""Bytes, as `sessions.file.store` has it."""


@dataclass(frozen=True)
class Fixture:
    """One column of one case, and the verdicts that can be asked for: of render, parse, expect, source."""

    case: str
    column: str
    parts: tuple[str, ...]


def outline(file: Path) -> tuple[Fixture, ...] | None:
    """What is recorded or expected, in the order of the file; None for what is no session that can be understood."""
    try:
        if file.stat().st_size > SIZE_LIMIT:
            return None
        data = json.loads(file.read_text(encoding="utf-8-sig"))
        if "format" not in data:
            return None
        columns = [_text(one.get("id", one["adapter"])) for one in data.get("columns", ())]
        linked = ("source",) if data.get("signature", {}).get("source") is not None else ()
        return tuple(
            Fixture(one.case, one.column, (*one.parts, *linked))
            for case in data.get("cases", ())
            for one in _of_case(case, columns)
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _of_case(case: Mapping[str, Any], columns: list[str]) -> list[Fixture]:
    recordings = _object(case.get("recordings", {}))
    # A recording whose column is gone is checked too: passing it over would be a pass.
    known = dict.fromkeys([*columns, *recordings])
    found = [Fixture(_text(case["name"]), one, _parts(case, one, recordings.get(one))) for one in known]
    return [one for one in found if one.parts]


def _parts(case: Mapping[str, Any], column: str, recording: Mapping[str, Any] | None) -> tuple[str, ...]:
    parts: list[str] = []
    if recording is not None:
        parts.append("render")
        if any(_has_reading(attempt) for attempt in recording.get("attempts", ())):
            parts.append("parse")
    expect = case.get("expect", {})
    if _object(expect.get("columns", {})).get(column, {key: item for key, item in expect.items() if key != "columns"}):
        parts.append("expect")
    return tuple(parts)


def _has_reading(attempt: Mapping[str, Any]) -> bool:
    return any(one.get("reading") is not None for one in attempt.get("completions", ()))


def _object(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """An object as the file writes it: as it is, or in pairs where a key is in pieces itself."""
    if set(value) == {"$dict"}:
        return {_text(key): item for key, item in value["$dict"]}
    return value


def _text(value: Any) -> str:
    """A text as the file writes it: as it is, or in lines or pieces. Raises TypeError for anything else."""
    if isinstance(value, dict) and len(value) == 1:
        for tag, separator in (("$lines", "\n"), ("$text", "")):
            if tag in value:
                return separator.join([_text(piece) for piece in value[tag]])
    if not isinstance(value, str):
        raise TypeError("no text")
    return value
