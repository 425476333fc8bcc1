"""A cell of a table as a value of its field's type."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from adapters.annotations import name_of
from adapters.schema import type_adapter
from adapters.signature import MISSING, Field, allows_none


def value_of(cell: str, field: Field) -> Any:
    """The cell itself for a str field; else its JSON if the type takes that, else the text if the type takes text.

    An empty cell of a field that is no str is None where the type allows it, else `MISSING`. Raises ValueError.
    """
    if field.annotation is str:
        return cell
    if not cell.strip():
        return None if allows_none(field.annotation) else MISSING
    try:
        value = json.loads(cell, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        value = cell
    lowered = cell.strip().lower()
    if field.annotation is bool and lowered in ("true", "false"):
        return lowered == "true"
    for candidate in (value, cell):
        if takes(field.annotation, candidate):
            return candidate
    shown = repr(cell) if len(cell) <= 60 else f"{cell[:57]!r}…"
    raise ValueError(f"{shown} is no {name_of(field.annotation)}")


def takes(annotation: Any, value: Any) -> bool:
    try:
        type_adapter(annotation).validate_python(value)
    except (ValueError, TypeError, RecursionError):
        return False
    return True


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
