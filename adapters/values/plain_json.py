"""Convert any value of a prompt, parse result or run to plain JSON; name the steps from raw text to a value."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from enum import Enum
from itertools import islice
from types import MappingProxyType
from typing import Any, NamedTuple

JSON = Any
"""Plain JSON: None, bool, int, finite float, str, list, or dict with str keys."""
LONGEST_INT_BITS = 14_000
"""Size of an integer above which it is written as hexadecimal text, as Python cannot write it in decimal."""
DEEPEST = 900
"""Limit on nested lists and objects, slightly below that of Python's JSON parsers and writers."""


def plain(value: object) -> JSON:
    """Convert a value to strict JSON data, with loss. Never raises.

    Enums become their values, models and dataclasses objects of their fields, NaN and infinities the texts "NaN",
    "Infinity" and "-Infinity". Other values, and those nested deeper than `DEEPEST`, become text.
    """
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
    """Convert a value to JSON, without converting the items of a list or object."""
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
    from adapters.values.value_text import serialize_for_json  # loads pydantic, not needed to start

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


class Step(NamedTuple):
    """A step from raw text to value. Its `before` is the `after` of the previous step.

    `adapters.values.coercion.apply` replays `rule`, except `threshold`, `cuts` and `weights`, which depend on a
    decision's settings (`adapters.requests.decisions`). If `after` is only a part of the whole document, `path` locates
    it (in JSON, the key). `note` is an explanation for people.
    """

    rule: str
    before: Any
    after: object
    path: str = ""
    note: str = ""


MOST_PARTS = 10_000
CONTAINER = (dict, list, tuple, MappingProxyType)
SEQUENCE = (list, tuple)


def parts_of(value: object) -> Iterator[Any]:
    """Yield a value and everything inside its lists and dicts, level by level, up to `MOST_PARTS` or a little more."""
    waiting = [value]
    for one in waiting:
        yield one
        if isinstance(one, CONTAINER) and len(waiting) < MOST_PARTS:
            waiting.extend(islice(one if isinstance(one, SEQUENCE) else one.values(), MOST_PARTS))
