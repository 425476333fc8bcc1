"""Convert a cell of a table to a value of its field's type."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from adapters.signatures.signature import MISSING, Field, allows_none
from adapters.signatures.type_names import name_of
from adapters.types.recognition import type_adapter
from adapters.values.custom_types import build


def value_of(cell: str, field: Field) -> Any:
    """Convert a cell to the type of its field.

    A str field gets the text; other types get its JSON if valid, else the text if valid, and for an empty cell None if
    the type allows that, else `MISSING`. Raises ValueError.
    """
    if field.annotation is str:
        return cell
    if not cell.strip():
        return None if allows_none(field.annotation) else MISSING
    lowered = cell.strip().lower()
    if field.annotation is bool and lowered in ("true", "false"):
        return lowered == "true"
    return value_in(cell, field)


def value_in(text: str, field: Field) -> Any:
    """Return the JSON value of `text` if valid for the type, else `text` if valid. Raises ValueError."""
    try:
        value = strict_json(text)
    except (ValueError, RecursionError):
        value = text
    for candidate in (value, text):
        if takes(field.annotation, candidate):
            return candidate
    raise ValueError(f"{shown(text)} is not of type {name_of(field.annotation)}")


def strict_json(text: str) -> Any:
    """Parse a JSON text. Raises ValueError, also for NaN and infinities, and RecursionError."""
    return json.loads(text, parse_constant=_no_constant)


def shown(text: str) -> str:
    """Quote a text for an error message, cut to 60 characters."""
    return repr(text) if len(text) <= 60 else f"{text[:57]!r}…"


def takes(annotation: object, value: object) -> bool:
    """Return whether a type accepts `value`, or can be built from it (a URL)."""
    try:
        type_adapter(annotation).validate_python(build(annotation, value))
    except (ValueError, TypeError, RecursionError):
        return False
    return True


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
