"""Convert values to JSON: as in a session's inputs (`plain`), or typed, as in its recordings (`typed`).

`typed` equals `sessions.file.typed_values.typed`, which this program must not import; a test keeps them equal.
"""

from __future__ import annotations

import base64
import dataclasses
import datetime
import decimal
import enum
import json
import math
import sys
import uuid
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

DEPTH = 80
"""The maximum depth of a value; deeper parts become text."""


def dumps(value: Any) -> str:
    """Write `value` as the JSON that dspy puts into a prompt.

    Raises ValueError or RecursionError for a circular value.
    """
    try:
        return json.dumps(value, default=_plain_object, separators=(",", ":"))
    except TypeError:  # a key that is not a string
        return json.dumps(plain(value), default=_plain_object, separators=(",", ":"))


def plain(value: Any, depth: int = 0) -> Any:
    """Convert `value` to plain JSON, with any keys."""
    if depth > DEPTH:
        raise ValueError("nested too deep")
    if isinstance(value, dict):
        return {_key(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, depth + 1) for item in value]
    return value


def _key(key: Any) -> str:
    if isinstance(key, enum.Enum):
        return _key(key.value)
    if isinstance(key, str):
        return key
    return json.dumps(key) if isinstance(key, (bool, int, float)) or key is None else str(key)


def _plain_object(value: Any) -> Any:
    """Convert other values to JSON like `dspy.adapters.utils.serialize_for_json`.

    dspy's own types become objects by field name, from which they can be rebuilt.
    """
    if is_model(value):
        if any(one.__module__.partition(".")[0] == "dspy" for one in type(value).__mro__):
            return _dspy_value(value)
        return value.model_dump(mode="json", fallback=str)
    if isinstance(value, (AbstractSet, tuple)):
        return list(value)
    pydantic = sys.modules.get("pydantic")
    try:
        adapter = _ADAPTERS.get(type(value))
        if adapter is None:
            adapter = _ADAPTERS[type(value)] = pydantic.TypeAdapter(type(value))  # type: ignore[union-attr]
        return adapter.dump_python(value, mode="json", fallback=str)
    except Exception:  # as dspy does it
        return str(value)


_LARGE_INT_BITS = 2048
_ADAPTERS: dict[type, Any] = {}


def is_model(value: Any) -> bool:
    return hasattr(type(value), "model_fields") and hasattr(value, "model_dump")


def _dspy_value(value: Any) -> Any:
    if type(value).__name__ == "Tool":
        described = {"name": value.name, "desc": value.desc, "args": value.args}
        return {key: part for key, part in described.items() if part is not None}
    parts: dict[str, Any] = {}
    for name, info in type(value).model_fields.items():
        part = getattr(value, name, None)
        if part is not None or info.default is not None:
            parts[info.alias or name] = part
    return parts


def typed(value: Any, depth: int = 0) -> Any:
    """Convert `value` to plain JSON with types, as in a recording."""
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    if kind is int:
        return value if value.bit_length() <= _LARGE_INT_BITS else _tagged("int", hex(value))
    if kind is float:
        if math.isfinite(value):
            return value
        return _tagged("float", "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity")
    if depth >= DEPTH:
        return _tagged("nested deeper", kind.__qualname__)
    if kind is list:
        return [typed(item, depth + 1) for item in value]
    if kind is dict:
        if "$type" not in value and all(type(key) is str for key in value):
            return {key: typed(item, depth + 1) for key, item in value.items()}
        return _tagged("dict", [[typed(key, depth + 3), typed(item, depth + 3)] for key, item in value.items()])
    return _typed_object(value, kind, depth)


def _typed_object(value: Any, kind: type, depth: int) -> Any:
    # A class defined in a function is written into a session like one of the module.
    name = kind.__qualname__.rpartition("<locals>.")[2]
    if isinstance(value, enum.Enum):
        return _tagged("enum", typed(value.value, depth + 1), f"{name}.{value.name}")
    if is_model(value):
        members = {**value.__dict__, **(getattr(value, "model_extra", None) or {})}
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
        items = sorted((typed(item, depth + 2) for item in value), key=lambda one: json.dumps(one, ensure_ascii=False))
        return _tagged("frozenset" if isinstance(value, frozenset) else "set", items)
    for base in (str, int, float):
        if isinstance(value, base):
            return _tagged("subclass", typed(base(value), depth + 1), name)
    if isinstance(value, Mapping):
        return _tagged("mapping", typed(dict(value), depth + 1), name)
    if isinstance(value, list):
        return _tagged("list", typed(list(value), depth + 1), name)
    return _tagged("object", str(value), name)


_TEXTS: dict[type, Any] = {
    decimal.Decimal: str,
    datetime.datetime: datetime.datetime.isoformat,
    datetime.date: datetime.date.isoformat,
    datetime.time: datetime.time.isoformat,
    datetime.timedelta: lambda value: f"{value.days} d {value.seconds} s {value.microseconds} µs",
    uuid.UUID: str,
    bytes: lambda value: base64.b64encode(value).decode("ascii"),
}


def _tagged(tag: str, value: Any, name: str | None = None) -> dict[str, Any]:
    return {"$type": tag, "value": value} if name is None else {"$type": tag, "name": name, "value": value}
