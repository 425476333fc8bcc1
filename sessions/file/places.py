"""Where in a JSON text something stands, for error messages."""

from __future__ import annotations

import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]

from sessions.errors import step_into

_TOKEN = re.compile(r"[\[\]{},:]|\"|[^\s\[\]{},:\"]+")


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """1-based line and column of a code point."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def describe(text: str, offset: int) -> str:
    line, column = line_and_column(text, offset)
    return f"line {line}, column {column}"


def find_duplicate(text: str) -> tuple[str, int] | None:
    """Place and offset of the first key that its object says twice, in a text that is valid JSON."""
    containers: list[tuple[str, set[str] | int]] = []
    place, expects_key, position = "", False, 0
    while match := _TOKEN.search(text, position):
        token, position = match[0], match.end()
        if token in "{[":
            containers.append((place, set() if token == "{" else 0))
            expects_key = token == "{"
            place = place if token == "{" else step_into(place, 0)
        elif token in "}]":
            place, _ = containers.pop()
            expects_key = False
        elif token == ",":
            parent, seen = containers[-1]
            expects_key = isinstance(seen, set)
            if isinstance(seen, int):
                containers[-1] = (parent, seen + 1)
                place = step_into(parent, seen + 1)
        elif token == '"':
            string, position = scanstring(text, position, False)
            if expects_key:
                parent, seen = containers[-1]
                place, expects_key = step_into(parent, string), False
                if isinstance(seen, set):
                    if string in seen:
                        return place, match.start()
                    seen.add(string)
    return None


def describe_syntax_error(error: json.JSONDecodeError) -> tuple[str, str]:
    """Message and hint for broken JSON."""
    text, offset = error.doc, error.pos
    if offset >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        return "the file ends in the middle", "it was cut off: restore it from a backup or from version control"
    if text.startswith(("<<<<<<<", "=======", ">>>>>>>"), text.rfind("\n", 0, offset) + 1):
        return "a merge conflict is left in the file", "resolve it, then open the session again"
    return f"this is no JSON: {error.msg}", ""
