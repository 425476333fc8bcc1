"""Write values as the text of a prompt: plain, JSON and XML (after `dspy.adapters.utils` and dspy's XMLAdapter)."""

from __future__ import annotations

import json
from functools import lru_cache
from math import isfinite
from typing import Any

from pydantic import TypeAdapter

from adapters.types.recognition import ByIdentity, type_adapter

_to_json = json.JSONEncoder(ensure_ascii=False).encode
_string_to_json = json.encoder.encode_basestring
_TEXT = frozenset((str,))


def _adapter_or_none(kind: type) -> TypeAdapter[object] | None:
    try:
        return type_adapter(kind)
    except Exception:  # pydantic's hooks on a user's type may raise anything; dspy then shows str(value)
        return None


_dumper: ByIdentity[TypeAdapter[object] | None] = ByIdentity(_adapter_or_none)


def serialize_for_json(value: Any) -> object:
    """Convert a value to its JSON-compatible form, or to `str(value)` if pydantic has none.

    Rule: `dspy.adapters.utils.serialize_for_json`, which builds a new `TypeAdapter` for every value.
    """
    kind = type(value)
    if kind is str or kind is bool or kind is int or value is None or (kind is float and isfinite(value)):
        return value
    # pydantic's first adapter takes as long as a fifth of a start
    if (kind is dict and _are_plain([*value, *value.values()])) or (kind is list and _are_plain(value)):
        return value.copy()
    dumper = _dumper(kind)
    if dumper is None:
        return str(value)
    try:
        return dumper.dump_python(value, mode="json", fallback=str)
    except Exception:  # as in dspy: whatever a user's serializer raises, the value is shown by str()
        return str(value)


def _are_plain(values: list[Any]) -> bool:
    """Return True for ASCII texts; other text may have surrogates, which pydantic rejects."""
    return _TEXT.issuperset(map(type, values)) and all(map(str.isascii, values))


def write_value(annotation: object, value: object) -> str:
    """Write a value as the text of a message.

    A list in a `str` field becomes numbered passages; as in dspy, items that are not text raise TypeError.
    Rule: `dspy.adapters.utils.format_field_value`.
    """
    if type(value) is str:
        return value
    if annotation is str and isinstance(value, list):
        if not value:
            return "N/A"
        if len(value) == 1:
            return _passage(value[0])
        return "\n".join([f"[{index}] {_passage(one)}" for index, one in enumerate(value, 1)])
    jsonable = serialize_for_json(value)
    if isinstance(jsonable, dict | list):
        return to_json(jsonable)
    return str(jsonable)


FEW = 24
"""Largest container that is written without json's encoder, whose setup takes as long as these."""


def to_json(value: Any) -> str:
    """Write a result of `serialize_for_json` like `json.dumps(value, ensure_ascii=False)`; all keys must be text."""
    kind = type(value)
    if kind is str:
        return _string_to_json(value)
    if kind is list and len(value) <= FEW:
        return "[" + ", ".join([to_json(child) for child in value]) + "]"
    if kind is dict and len(value) <= FEW:
        return "{" + ", ".join([f"{_string_to_json(key)}: {to_json(child)}" for key, child in value.items()]) + "}"
    return _scalar_to_json(value)


def _scalar_to_json(value: Any) -> str:
    if value is True:
        return "true"
    if value is False:
        return "false"
    if value is None:
        return "null"
    kind = type(value)
    if kind is int or (kind is float and isfinite(value)):
        return repr(value)
    return _to_json(value)


def indented_json(value: Any, line: str = "\n") -> str:
    """Write a result of `serialize_for_json` as JSON indented by two spaces.

    `line` is the line break with the current indentation. Equals `json.dumps(value, indent=2, ensure_ascii=False)`,
    which is written in Python and several times slower.
    """
    kind = type(value)
    if kind is str:
        return _string_to_json(value)
    if kind is dict:
        if not value:
            return "{}"
        inner = line + "  "
        members = [f"{_string_to_json(key)}: {indented_json(child, inner)}" for key, child in value.items()]
        return "{" + inner + ("," + inner).join(members) + line + "}"
    if kind is list:
        if not value:
            return "[]"
        inner = line + "  "
        return "[" + inner + ("," + inner).join([indented_json(child, inner) for child in value]) + line + "]"
    return _scalar_to_json(value)


def _passage(value: Any) -> str:
    if "\n" not in value and "«" not in value and "»" not in value:
        return f"«{value}»"
    indented = value.replace("\n", "\n    ")
    return f"«««\n    {indented}\n»»»"


def value_to_xml(value: object, tag: str, key: str | None = None) -> str:
    """Write a JSON value as nested tags; keys that are not valid tag names become `<entry key=…>`."""
    attributes = ""
    if key is not None:
        from xml.sax.saxutils import quoteattr  # loads HTTP modules, not needed to start

        attributes = f" key={quoteattr(key)}"
    if isinstance(value, list):
        children = "".join([value_to_xml(one, "item") for one in value])
        return f"<{tag}{attributes}>{children}</{tag}>" if children else f"<{tag}{attributes} />"
    if isinstance(value, dict):
        parts = []
        for name, child in value.items():
            text = str(name)
            parts.append(value_to_xml(child, text) if _is_tag(text) else value_to_xml(child, "entry", text))
        return f"<{tag}{attributes}>{''.join(parts)}</{tag}>"
    if value is None:
        return f"<{tag}{attributes} />"
    return f"<{tag}{attributes}>{str(value).replace('&', '&amp;').replace('<', '&lt;')}</{tag}>"


@lru_cache(maxsize=4096)
def _is_tag(name: str) -> bool:
    return (name[:1] + name[1:].replace("-", "_").replace(".", "_")).isidentifier()
