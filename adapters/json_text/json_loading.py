"""Load JSON as dspy does: with `json.loads`, else repaired. json_repair is imported on first use."""

from __future__ import annotations

import json
from typing import Any

NOT_JSON = object()
LONG = 2_000
"""Characters from which pydantic's parser is asked first; it takes half the time of Python's."""


def load_json(text: str) -> Any:
    """Load as `json_repair.loads(text)` does, within our limits: plain JSON first, else repaired.

    Raises ValueError (nesting; `TooLargeError`) and RecursionError as json_repair does.
    """
    valid = load_valid_json(text)
    if valid is not NOT_JSON:
        return valid
    from adapters.json_text.repaired_json import repair_json

    return repair_json(text)


def load_valid_json(text: str) -> Any:
    """Parse with `json.loads`, or return `NOT_JSON`. Raises RecursionError for deep nesting."""
    value = load_long_json(text) if len(text) >= LONG else NOT_JSON
    if value is not NOT_JSON:
        return value
    try:
        return json.loads(text)
    except ValueError:  # broken JSON, or a number with thousands of digits
        return NOT_JSON


def load_long_json(text: str) -> Any:
    """Parse a long text; `NOT_JSON` also where only `json.loads` accepts it (surrogates, deep nesting)."""
    from pydantic_core import from_json

    try:
        # Other texts as bytes: a string keeps the bytes that are made of it.
        return from_json(text if text.isascii() else text.encode(), cache_strings="keys")
    except ValueError:
        return NOT_JSON
