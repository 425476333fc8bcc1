"""Load JSON as dspy does: with `json.loads`, else repaired. json_repair is imported on first use."""

from __future__ import annotations

import json
from typing import Any

from adapters.json_text.json_document import LONG, load_long_json
from adapters.json_text.json_document import NOT_JSON as NOT_JSON


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
