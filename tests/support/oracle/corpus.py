"""The stored cases, as dictionaries."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "parity" / "corpus"


@cache
def cases(name: str) -> tuple[Mapping[str, Any], ...]:
    """Every line of `NAME.jsonl.gz`."""
    with gzip.open(FOLDER / f"{name}.jsonl.gz", "rt", encoding="ascii") as lines:
        return tuple(json.loads(line) for line in lines)


@cache
def document(name: str) -> Any:
    """The one JSON document in `NAME.json.gz`."""
    with gzip.open(FOLDER / f"{name}.json.gz", "rt", encoding="ascii") as text:
        return json.load(text)
