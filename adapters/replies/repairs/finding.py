"""Output fields found in a reply whatever its format: under markers, as keys of an object, between tags."""

from __future__ import annotations

import json
import re
from typing import Any

from adapters.replies.repairs.guess import names_by_sound, sound
from adapters.signatures.signature import Signature

MARKER = re.compile(
    r"(?P<before>(?:[ \t]|[*_>`~•\-\ufeff\u200b]|\d{1,2}[.)]){0,12})"
    r"\[{1,3}[ \t]{0,4}#{1,4}[ \t]{0,4}(?P<name>\w[\w \-]{0,80}?)[ \t]{0,4}#{0,4}[ \t]{0,4}\]{1,3}"
    r"(?P<after>[*_`~:]{0,4})"
)
LABEL = re.compile(
    r"^[ \t]{0,8}(?:#{1,6}[ \t]{1,4}|[*_]{1,3}|[-•][ \t])?[*_`]{0,3}(?P<name>\w[\w \-]{0,60}?)[*_`]{0,3}"
    r"(?P<colon>[ \t]{0,2}:[*_]{0,3}|[ \t]*$)",
    re.MULTILINE,
)
MOST_OPENINGS = 20
DEEPEST = 3


def objects(text: str) -> list[dict[str, Any]]:
    """The valid JSON objects that stand in a text one behind the other; of a valid list, its objects."""
    found: list[dict[str, Any]] = []
    decode = json.JSONDecoder().raw_decode
    position = text.find("{")
    for _ in range(MOST_OPENINGS):
        if position < 0:
            break
        try:
            value, end = decode(text, position)
        except (ValueError, RecursionError):
            end = position + 1
        else:
            found.append(value)
        position = text.find("{", end)
    return found


def fields_within(value: Any, signature: Signature) -> dict[str, Any]:
    """The output fields of the first object, at most three levels down, that has any of them, by sound."""
    level = [value]
    for _ in range(DEEPEST):
        for one in level:
            if isinstance(one, dict) and (found := by_sound(one, signature)):
                return found
        level = [
            child
            for one in level
            for child in (one.values() if isinstance(one, dict) else one if isinstance(one, list) else ())
        ][:100]
    return {}


def by_sound(given: dict[str, Any], signature: Signature) -> dict[str, Any]:
    """The members of an object that are output fields, under the fields' own names."""
    names = names_by_sound(signature)
    found: dict[str, Any] = {}
    for key, value in given.items():
        name = names.get(sound(key))
        if name is not None and (name not in found or key == name):
            found[name] = value
    return found


def under_markers(text: str, signature: Signature) -> dict[str, str]:
    """The text under everything that looks like a marker of an output field, the first of each."""
    names = names_by_sound(signature)
    marks = [(match, names.get(sound(match["name"]))) for match in MARKER.finditer(text)]
    return _between(text, [(match.start(), match.end(), name) for match, name in marks])


def under_labels(text: str, signature: Signature) -> dict[str, str]:
    """The text under headings and labels (`## Answer`, `**Answer:**`, `Answer:`) with a field's name."""
    names = names_by_sound(signature)
    marks: list[tuple[int, int, str | None]] = []
    for match in LABEL.finditer(text):
        name = names.get(sound(match["name"]))
        decorated = match.group().strip(" \t") != match["name"]
        if name is not None and decorated:
            marks.append((match.start(), match.end(), name))
    return _between(text, marks)


def between_tags(text: str, signature: Signature) -> dict[str, str]:
    """The text between tags of an output field's name, in any case and wherever they stand."""
    found: dict[str, str] = {}
    lower = text.lower()
    for name in signature.output_fields:
        opening = re.compile(rf"<{re.escape(name)}(?:\s[^<>]{{0,500}})?>", re.IGNORECASE).search(text)
        if opening is None:
            continue
        end = lower.find(f"</{name.lower()}", opening.end())
        found[name] = text[opening.end() : end if end >= 0 else len(text)].strip()
    return found


def without_thinking(text: str) -> str | None:
    """The text behind the last `</think>`; None when there is none."""
    end = text.rfind("</think>")
    return text[end + len("</think>") :].strip() if end >= 0 else None


def without_fence(text: str) -> str | None:
    """The content of the fence around the whole text; None when there is none."""
    stripped = text.strip()
    if not stripped.startswith("```") or not stripped.endswith("```") or len(stripped) < 7:
        return None
    return stripped[:-3].partition("\n")[2].strip()


def _between(text: str, marks: list[tuple[int, int, str | None]]) -> dict[str, str]:
    found: dict[str, str] = {}
    following = [*[start for start, _, _ in marks][1:], len(text)]
    for (_, start, name), end in zip(marks, following, strict=False):
        if name is not None:
            found.setdefault(name, text[start:end].strip())
    return found
