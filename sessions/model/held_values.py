"""A cell of a table as a value of its field's type."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from adapters.signatures.signature import MISSING, Field, allows_none
from adapters.signatures.type_names import name_of
from adapters.types.pydantic_schema import type_adapter
from adapters.values.custom_types import build


def value_of(cell: str, field: Field) -> Any:
    """The cell itself for a str field; else its JSON if the type takes that, else the text if the type takes text.

    An empty cell of a field that is no str is None where the type allows it, else `MISSING`. Raises ValueError.
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
    """The JSON value that `text` is if the type takes it, else `text` if the type takes that. Raises ValueError."""
    try:
        value = strict_json(text)
    except (ValueError, RecursionError):
        value = text
    for candidate in (value, text):
        if takes(field.annotation, candidate):
            return candidate
    raise ValueError(f"{shown(text)} is no {name_of(field.annotation)}")


def strict_json(text: str) -> Any:
    """The value of a JSON text. Raises ValueError, also for NaN and the infinities, and RecursionError."""
    return json.loads(text, parse_constant=_no_constant)


def shown(text: str) -> str:
    """A text as an error quotes it."""
    return repr(text) if len(text) <= 60 else f"{text[:57]!r}…"


def takes(annotation: object, value: object) -> bool:
    """Return whether a session may hold `value` for that type, also as what a prompt builds it from (a URL)."""
    try:
        type_adapter(annotation).validate_python(build(annotation, value))
    except (ValueError, TypeError, RecursionError):
        return False
    return True


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
