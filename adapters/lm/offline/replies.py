"""Reads earlier replies, as a model sees them in its examples, back into the outputs they give."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def from_chat(text: str, names: Sequence[str]) -> dict[str, str]:
    """Sections under `[[ ## name ## ]]` lines."""
    parts = re.split(r"^\[\[ ## (\w+) ## \]\][ \t]*$", text, flags=re.MULTILINE)
    sections = {name: body.strip() for name, body in zip(parts[1::2], parts[2::2], strict=True)}
    return {name: sections[name] for name in names if name in sections}


def from_json(text: str, names: Sequence[str]) -> dict[str, Any]:
    """The keys of a JSON object."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return {name: value[name] for name in names if name in value} if isinstance(value, dict) else {}


def from_xml(text: str, names: Sequence[str]) -> dict[str, str]:
    """The elements of each name, tags and all where they hold further elements, their text otherwise."""
    found: dict[str, str] = {}
    for name in names:
        match = re.search(rf"<{re.escape(name)}>(.*?)</{re.escape(name)}>", text, re.DOTALL)
        if match:
            inner = match.group(1)
            nested = re.search(r"</\w+>|<\w+ ?/>", inner) is not None
            found[name] = match.group(0) if nested else unescaped(inner.strip())
    return found


def from_prose(text: str, names: Sequence[str]) -> dict[str, str]:
    """Paragraphs that begin with `name:`."""
    if not names:
        return {}
    label = re.compile(
        rf"^[*_#\s-]{{0,6}}({'|'.join(map(re.escape, names))})[*_]{{0,2}}:[*_]{{0,2}}[ \t]*", re.MULTILINE
    )
    places = list(label.finditer(text))
    ends = [*(place.start() for place in places[1:]), len(text)]
    found: dict[str, str] = {}
    for place, end in zip(places, ends, strict=False):
        found.setdefault(place.group(1), text[place.end() : end].strip())
    return found


def unescaped(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


READERS: Mapping[str, Callable[[str, Sequence[str]], Mapping[str, Any]]] = {
    "chat": from_chat,
    "json": from_json,
    "xml": from_xml,
    "prose": from_prose,
}
