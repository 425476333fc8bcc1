"""A tool's result, and its text for the model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from dataclasses import fields as fields_of
from typing import Any

from adapters.values.value_text import serialize_for_json


@dataclass(frozen=True)
class ToolResult:
    """A tool's result: `message` for the model, and `value`; a failed result has no value."""

    message: str = ""
    value: Any = None
    success: bool = True
    exclude_value_from_context: bool = False

    @classmethod
    def failed(cls, message: str) -> ToolResult:
        return cls(message, success=False)


def text_of(result: ToolResult) -> str:
    """Return the message, an empty line and the value, without missing or excluded parts.

    A value with a `render` method renders itself. Objects become JSON (dataclasses without None), other lists their
    items separated by empty lines, bytes UTF-8, and anything else its `str`.
    """
    if result.exclude_value_from_context or result.value is None:
        return result.message
    value = _value_text(result.value)
    return f"{result.message}\n\n{value}" if result.message else value


def _value_text(value: object) -> str:
    render = getattr(value, "render", None)
    if callable(render) and not isinstance(value, type):
        return str(render())
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode("utf-8", "replace")
    if _is_object(value):
        return _json(value)
    if isinstance(value, Sequence):
        if not value:
            return "[]"
        return _json(value) if all(_is_object(item) for item in value) else "\n\n".join(map(_value_text, value))
    return str(value)


def _is_object(value: object) -> bool:
    return isinstance(value, Mapping) or (is_dataclass(value) and not isinstance(value, type))


def _json(value: object) -> str:
    return json.dumps(_plain(value), ensure_ascii=False)


def _plain(value: object) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        pairs = ((one.name, getattr(value, one.name)) for one in fields_of(value))
        return {name: _plain(item) for name, item in pairs if item is not None}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return serialize_for_json(value)
