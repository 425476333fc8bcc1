"""Compare two requests by section (a message, or the parameters), then by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from adapters.late_dataclasses import dataclass
from adapters.requests.request import Request
from sessions.model.session import Recording
from sessions.text_diff import line_diff
from workbench.output import json_shapes


@dataclass(frozen=True)
class SectionDiff:
    """A section that differs; `before` or `after` is None if missing. `lines` is a diff by `sessions.text_diff`."""

    section: str
    before: str | None
    after: str | None
    lines: tuple[str, ...]


def compare(before: Request, after: Request) -> tuple[SectionDiff, ...]:
    """Return the sections that differ, in the order of `before`, then those only in `after`."""
    return compare_sections(sections(before), sections(after))


def compare_sections(left: Mapping[str, str], right: Mapping[str, str]) -> tuple[SectionDiff, ...]:
    """Compare sections that were already made, like `compare`."""
    found: list[SectionDiff] = []
    for name in {**left, **right}:
        before, after = left.get(name), right.get(name)
        if before != after:
            old, new = [[] if one is None else one.split("\n") for one in (before, after)]
            found.append(SectionDiff(name, before, after, line_diff(old, new)))
    return tuple(found)


def sections(request: Request) -> Mapping[str, str]:
    """Return the text of each section: `system`, `demo 1 · user`, …, and `parameters` as JSON."""
    found: dict[str, str] = {}
    seen: Counter[str] = Counter()
    for message in request.messages:
        name = message.turn if message.turn == message.role else f"{message.turn} · {message.role}"
        seen[name] += 1
        found[name if seen[name] == 1 else f"{name} {seen[name]}"] = _text_of(message.as_dict())
    parameters = {key: value for key, value in request.as_dict().items() if key != "messages"}
    found["parameters"] = json_shapes.dumps(parameters, ascii_only=False)
    return found


def sections_of_recording(recording: Recording, now: Request) -> Mapping[str, str]:
    """Return the sections of a recording, named like the messages at the same index in `now`.

    A recording does not store which message belongs to which demo; if the roles differ too, a message is named by its
    number.
    """
    found: dict[str, str] = {}
    names = [name for name in sections(now) if name != "parameters"]
    for index, message in enumerate(recording.messages):
        is_alike = index < len(names) and now.messages[index].role == message.get("role")
        found[names[index] if is_alike else f"message {index + 1} · {message.get('role')}"] = _text_of(message)
    found["parameters"] = json_shapes.dumps(dict(recording.request), ascii_only=False)
    return found


def _text_of(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str) and set(message) == {"role", "content"}:
        return content
    return json_shapes.dumps(dict(message), ascii_only=False)
