"""Load JSON as dspy does: with `json.loads`, else repaired. json_repair is imported on first use."""

from __future__ import annotations

from typing import Any

from adapters.json_text.json_document import NOT_JSON as NOT_JSON
from adapters.json_text.json_document import load_valid_json as load_valid_json


def load_json(text: str) -> Any:
    """Load as `json_repair.loads(text)` does, within our limits: plain JSON first, else repaired.

    Raises ValueError (nesting; `TooLargeError`) and RecursionError as json_repair does.
    """
    valid = load_valid_json(text)
    if valid is not NOT_JSON:
        return valid
    from adapters.json_text.repaired_json import repair_json

    return repair_json(text)
