"""Convert marked content in a user message's text to content parts (after dspy's `_legacy_type_markers`).

The finished text is searched for markers, so markers in a user's own values are expanded too, as in dspy.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from adapters.json_text.json_loading import load_json
from adapters.prompts.text import DataPart, Segment, Text
from adapters.types.recognition import END, START

__all__ = ["END", "START", "expand"]

REPAIRED_LENGTH = 200_000
"""Limit on the characters of broken JSON that are repaired in a message; the rest stays text."""

UNREADABLE = object()


def expand(text: Text) -> tuple[tuple[Text | DataPart, ...], bool]:
    """Split a user message's text into parts; also return whether its content is sent as a list.

    It becomes a list if there is a start marker, even without an end marker. A part belongs to the field of the segment
    in which its marker starts. Invalid content of a marker never raises.
    """
    if START not in text:
        return (text,), False
    plain = str(text)
    parts: list[Text | DataPart] = []
    position = 0
    repairable = REPAIRED_LENGTH
    while True:
        start = plain.find(START, position)
        end = plain.find(END, start + len(START)) if start >= 0 else -1
        if end < 0:
            break
        if start > position:
            parts.append(text.slice(position, start))
        payload = plain[start + len(START) : end].strip()
        # Inside a list or dict the marked text is part of a JSON string, so its quotes are escaped twice.
        parsed = _first_result(payload, (json.loads, lambda text: json.loads(json.loads(f'"{text}"'))))
        if parsed is UNREADABLE and len(payload) <= repairable:
            repairable -= len(payload)
            parsed = _first_result(payload, (load_json,))
        field = text.slice(start, start + 1).segments[0].field
        for block in parsed if isinstance(parsed, list) else [payload]:
            if not isinstance(block, dict):
                parts.append(Text((Segment(str(block), "value", field),)))
            elif list(block) == ["type", "text"] and block["type"] == "text" and isinstance(block["text"], str):
                parts.append(Text((Segment(block["text"], "value", field),)))
            else:
                parts.append(DataPart(block, field))
        position = end + len(END)
    if position < len(plain):
        parts.append(text.slice(position, len(plain)))
    return tuple(parts), True


def _first_result(payload: str, parsers: tuple[Callable[[str], object], ...]) -> object:
    for parse in parsers:
        try:
            return parse(payload)
        except Exception:  # as dspy: try the next parser after any error, RecursionError included
            continue
    return UNREADABLE
