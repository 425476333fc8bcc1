"""Any value of a prompt, a reading or a run as plain JSON, for people and programs."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from enum import Enum
from typing import Any

JSON = Any
"""None, bool, int, float (finite), str, list or dict with str keys, and nothing else."""
LONGEST_INT_BITS = 14_000
"""Longer whole numbers stand as hexadecimal text: Python refuses to write them in decimal."""
DEEPEST = 900
"""Levels of lists and objects; Python's parsers and writers of JSON bear a few more."""


def plain(value: object) -> JSON:
    """`value` as strict JSON data: enums by value, models and dataclasses as objects of their fields, NaN and the
    infinities as "NaN", "Infinity" and "-Infinity". Lossy. Never raises: what is unknown becomes its text, and so does
    what is nested deeper than `DEEPEST`."""
    whole: list[JSON] = [None]
    waiting: list[tuple[object, Any, object, int]] = [(value, whole, 0, 0)]
    while waiting:
        one, holder, place, depth = waiting.pop()
        made = _unfolded(one)
        if isinstance(made, dict | list):
            if depth >= DEEPEST:
                made = f"<a {type(one).__name__} that is nested too deep>"
            else:
                places = list(made) if isinstance(made, dict) else range(len(made))
                waiting.extend([(made[inner], made, inner, depth + 1) for inner in places])
        holder[place] = made
    return whole[0]


def _unfolded(value: object) -> JSON:
    """Convert a value to JSON, but leave the items of a list or object as they were."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return _unfolded(value.value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value) if value.bit_length() <= LONGEST_INT_BITS else hex(value)
    if isinstance(value, float):
        return _number(float(value))
    if isinstance(value, Mapping):
        return {_key(key): item for key, item in value.items()}
    if isinstance(value, list | tuple | AbstractSet):
        return list(value)
    if isinstance(value, type):
        return value.__name__
    if dataclasses.is_dataclass(value):
        return {one.name: getattr(value, one.name, None) for one in dataclasses.fields(value)}
    fields = getattr(type(value), "model_fields", None)
    if isinstance(fields, Mapping):
        extra = getattr(value, "model_extra", None) or {}
        named = {name: getattr(value, name, None) for name in fields}
        return named | {str(name): item for name, item in extra.items()}
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    from adapters.values.value_text import serialize_for_json  # pydantic, for which the first picture does not wait

    serialized = serialize_for_json(value)
    return _unfolded(serialized) if isinstance(serialized, dict | list | str | int | float | None) else str(serialized)


def _number(value: float) -> float | str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def _key(key: object) -> str:
    found = plain(key)
    return found if isinstance(found, str) else json.dumps(found)
