"""What a session file holds, at a glance: enough to recognise it in a list, read without judging the file.

Opening a file says what is wrong with it; here a file that cannot be understood only says so.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LARGEST = 4_000_000
"""Bytes of a file that are read for a glance."""
LONGEST = 2_000
"""Characters of a text that are kept."""
_TAG = re.compile(r"(?<![\w#&])#([^\W\d]\w*)")


@dataclass(frozen=True)
class Card:
    """`tags` are the words behind a `#` in its name and notes; `wrong` says why there is nothing to tell."""

    name: str = ""
    tags: tuple[str, ...] = ()
    signature: str = ""
    columns: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    demos: int = 0
    recordings: int = 0
    model: str = ""
    notes: str = ""
    wrong: str = ""


def read(path: Path) -> Card:
    """The card of a file. Never raises."""
    try:
        size = path.stat().st_size
        if size > LARGEST:
            return Card(wrong=f"{size:,} bytes: too large for a glance, and can be opened")
        data = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        return Card(wrong=error.strerror or str(error))
    except (ValueError, RecursionError):
        return Card(wrong="no JSON that can be read")
    if not isinstance(data, dict) or "signature" not in data or "format" not in data:
        return Card(wrong="JSON, and no session")
    return card_of(data)


def card_of(data: dict[str, Any]) -> Card:
    """The card of a session's JSON; what is not of the shape it should have is left out."""
    signature = data["signature"]
    written = signature.get("text") if isinstance(signature, dict) else signature
    cases = _objects(data.get("cases"))
    columns = [
        _text(one.get("id", one.get("adapter"))) + (f" → {_text(one['model'])}" if one.get("model") else "")
        for one in _objects(data.get("columns"))
    ]
    name, notes = _text(data.get("name")), _text(data.get("notes"))
    return Card(
        name=name,
        tags=tuple(dict.fromkeys(_TAG.findall(f"{name}\n{notes}"))),
        signature=_text(written),
        columns=tuple(columns),
        cases=tuple(_text(one.get("name")) for one in cases),
        demos=len(_objects(data.get("demos"))),
        recordings=sum(len(one["recordings"]) for one in cases if isinstance(one.get("recordings"), dict)),
        model=_text(data.get("model")),
        notes=notes,
    )


def _objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _text(value: Any) -> str:
    """A text of the file, which writes long ones as lists of lines."""
    if isinstance(value, list):
        value = "\n".join(one for one in value[:LONGEST] if isinstance(one, str))
    return value[:LONGEST] if isinstance(value, str) else ""
