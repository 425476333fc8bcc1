"""Prompts of numbered markdown sections: what they give and which keys of a JSON block they ask for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

INSTRUCTION = "Reply with one fenced block of JSON, opened by ```json"
ARRAY = "The JSON is an array"


@dataclass(frozen=True)
class Key:
    """One key that is asked for; `note` is what the prompt says of its value, after `the value you produce `."""

    name: str
    type_text: str
    description: str
    note: str | None


def inputs_of(text: str) -> Mapping[str, str]:
    """The bodies of the sections between the task and the response format, by their titles as field names."""
    parts = re.split(r"^## \d+\. ([^\n]+)$", text, flags=re.MULTILINE)
    titles, bodies = parts[1::2], parts[2::2]
    return {
        title.lower().replace(" ", "_"): body.strip()
        for title, body in zip(titles, bodies, strict=True)
        if title not in ("Task", "Response Format")
    }


def keys_of(text: str) -> tuple[Key, ...]:
    """The keys listed in the response format."""
    listed = text[text.rfind(INSTRUCTION) :]
    found: list[Key] = []
    for item in re.split(r"\n(?=- `\w+` \()", listed)[1:]:
        match = re.match(r"- `(\w+)` \((.*?)\)(?=: |; |\n|$)(.*)", item.split("\n\nAdd no other keys.")[0], re.DOTALL)
        if match:
            name, type_text, rest = match.groups()
            note = re.search(r"; (must (?:adhere to|be|exactly match) .*)", rest, re.DOTALL)
            description = rest[: note.start()] if note else rest
            said = note.group(1).removesuffix("; may be left out") if note else None
            found.append(Key(name, type_text, description.removeprefix(": ").strip("; "), said))
    return tuple(found)
