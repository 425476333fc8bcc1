"""Reading JSON that a model or a marker holds: as it stands, else as json_repair reads it, within our limits."""

from __future__ import annotations

import json
from typing import Any

import json_repair

from adapters.limits import check_repairable


def loads(text: str) -> Any:
    """`json_repair.loads(text)`. Raises ValueError for nesting or size it does not manage, and RecursionError."""
    try:
        return json.loads(text)
    except ValueError:  # broken JSON, or a number of thousands of digits
        check_repairable(text)
        return json_repair.loads(text, skip_json_loads=True)
