"""Write typed values as exact plain JSON for recordings (for people: `adapters.values.plain_json`).

1, 1.0, true, Decimal("1"), an enum member and a model differ. Values without a JSON type are written
`{"$type": …, "value": …}` (with `"name"` if the type has its own name). Comparisons use this written form, so types are
never rebuilt from a file. A dict with the key "$type", or with keys that are not strings, is written
`{"$type": "dict", "value": [[key, value], …]}`.
"""

from __future__ import annotations

import binascii
import dataclasses
import datetime
import decimal
import enum
import fractions
import hashlib
import ipaddress
import json
import math
import pathlib
import re
import uuid
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Any

import pydantic

from sessions.file.json_values import JSON, LARGE_INT_BITS, float_name

DEPTH = 80
"""The deepest level of the written form; a hash of its `repr` replaces anything deeper."""


class Written:
    """A value known only by its written form, because another release of dspy parsed it."""

    written: JSON


_WRITTEN: Mapping[type, type] = {kind: type("Written", (Written, kind), {}) for kind in (str, int, float, list, dict)}
"""The kinds of `Written` values, by the type of their display."""


def shown_of(written: JSON) -> JSON:
    """Strip the types from a written value for display: an enum's value, a model's fields."""
    if isinstance(written, dict):
        if set(written) in ({"$type", "value"}, {"$type", "name", "value"}):
            return shown_of(written["value"])
        return {key: shown_of(item) for key, item in written.items()}
    return [shown_of(item) for item in written] if isinstance(written, list) else written


def read_back(written: JSON) -> Any:
    """Return a value whose `typed` is `written`, displayed without types. Types are never rebuilt."""
    shown = shown_of(written)
    if same(shown, written):
        return written
    kind = _WRITTEN.get(type(shown))
    made: Any = _WRITTEN[str](str(shown)) if kind is None else kind(shown)
    made.written = written
    return made


def typed(value: Any, depth: int = 0) -> JSON:
    """Write `value` with its types as strict JSON. Never raises; the same value always has the same form."""
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    if kind is int:
        return value if value.bit_length() <= LARGE_INT_BITS else _tagged("int", hex(value))
    if kind is float:
        return value if math.isfinite(value) else _tagged("float", float_name(value))
    if depth >= DEPTH:
        return _tagged("nested deeper", _hash(value))
    if kind is list:
        return [typed(item, depth + 1) for item in value]
    if kind is dict:
        if "$type" not in value and all(type(key) is str for key in value):
            return {key: typed(item, depth + 1) for key, item in value.items()}
        return _tagged("dict", [[typed(key, depth + 3), typed(item, depth + 3)] for key, item in value.items()])
    if isinstance(value, Written):
        return value.written
    name = kind.__qualname__
    if isinstance(value, enum.Enum):
        return _tagged("enum", typed(value.value, depth + 1), f"{name}.{value.name}")
    if isinstance(value, pydantic.BaseModel):
        members = {**value.__dict__, **(value.model_extra or {})}
        return _tagged("model", {key: typed(item, depth + 2) for key, item in members.items()}, name)
    if dataclasses.is_dataclass(value):
        members = {one.name: getattr(value, one.name, None) for one in dataclasses.fields(value)}
        return _tagged("dataclass", {key: typed(item, depth + 2) for key, item in members.items()}, name)
    if kind in _TEXTS:
        return _tagged(kind.__name__, _TEXTS[kind](value))
    if isinstance(value, tuple):
        items = [typed(item, depth + 2) for item in value]
        return _tagged("tuple", items, None if kind is tuple else name)
    if isinstance(value, AbstractSet):
        items = sorted([typed(item, depth + 2) for item in value], key=partial(json.dumps, ensure_ascii=False))
        return _tagged("frozenset" if isinstance(value, frozenset) else "set", items)
    if isinstance(value, str) and kind.__module__ == "adapters.prompts.text":
        return str(value)
    if isinstance(value, str | int | float):
        base: type = next(one for one in (str, int, float) if isinstance(value, one))
        return _tagged("subclass", typed(base(value), depth + 1), name)
    if isinstance(value, Mapping):
        return _tagged("mapping", typed(dict(value), depth + 1), name)
    if isinstance(value, list):
        return _tagged("list", typed(list(value), depth + 1), name)
    if isinstance(value, pathlib.PurePath):
        return _tagged("path", value.as_posix())
    return _tagged("object", _text_of(value), name)


def same(before: Any, after: Any) -> bool:
    """Return whether both are the same data: 1, 1.0 and true differ, and the order of keys matters.

    Compares plain JSON and parts of sessions.
    """
    if before is after:
        return True
    kind = type(before)
    if kind is not type(after):
        return False
    if kind is str or kind is int or kind is bool:
        return bool(before == after)
    if kind is float:
        return repr(before) == repr(after)
    if kind is list or kind is tuple:
        return len(before) == len(after) and all(map(same, before, after))
    if kind is dict or isinstance(before, Mapping):
        return list(before) == list(after) and all(map(same, before.values(), after.values()))
    if dataclasses.is_dataclass(before):
        return all(same(getattr(before, one.name), getattr(after, one.name)) for one in dataclasses.fields(before))
    return bool(before == after)


def _tagged(tag: str, value: JSON, name: str | None = None) -> JSON:
    return {"$type": tag, "value": value} if name is None else {"$type": tag, "name": name, "value": value}


_TEXTS: Mapping[type, Callable[[Any], str]] = {
    **dict.fromkeys((decimal.Decimal, fractions.Fraction, uuid.UUID), str),
    **dict.fromkeys((ipaddress.IPv4Address, ipaddress.IPv4Network), str),
    **dict.fromkeys((ipaddress.IPv6Address, ipaddress.IPv6Network), str),
    **dict.fromkeys((datetime.datetime, datetime.date, datetime.time), lambda value: value.isoformat()),
    complex: repr,
    datetime.timedelta: lambda value: f"{value.days} d {value.seconds} s {value.microseconds} µs",
    bytes: lambda value: binascii.b2a_base64(value, newline=False).decode("ascii"),
    re.Pattern: lambda value: f"{value.pattern!r} flags {value.flags}",
}


def _text_of(value: object) -> JSON:
    from adapters.values.value_text import serialize_for_json

    serialized = serialize_for_json(value)
    text = serialized if isinstance(serialized, str) else json.dumps(serialized, default=lambda one: type(one).__name__)
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)


def _hash(value: object) -> str:
    try:
        return hashlib.sha256(repr(value).encode("utf-8", "surrogatepass")).hexdigest()
    except (RecursionError, ValueError):
        return type(value).__qualname__
