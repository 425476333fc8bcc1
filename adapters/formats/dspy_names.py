"""Helpers that custom adapters of dspy import from `dspy.adapters.utils`, with dspy's parameters."""

from __future__ import annotations

from typing import Any

from adapters.signatures.signature import Field
from adapters.values import value_text
from adapters.values.coercion import coerce


def parse_value(value: Any, annotation: Any) -> Any:
    """Raw text or a JSON value as a typed value; raises what `dspy.adapters.utils.parse_value` raises."""
    return coerce(value, annotation)


def format_field_value(field_info: Field, value: Any, assume_text: bool = True) -> str | dict[str, Any]:
    """A field's value as text, or without `assume_text` as a content part holding it."""
    text = value_text.write_value(field_info.annotation, value)
    return text if assume_text else {"type": "text", "text": text}
