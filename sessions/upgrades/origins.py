"""The messages of another dspy with the origins that ours have: what is alike is known, what differs stands in place.

An origin here tells which kind of piece changed, in a report; it is not shown as that dspy's own word for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from adapters.prompts.prompt import DataPart, Message
from adapters.prompts.text import Segment, Text
from sessions.fixtures.differences import stretches
from sessions.line_diff import opcodes

_SCHEMA = re.compile(r'\{\\*"(type|\$defs|properties|anyOf)')
"""How a JSON schema begins, also within a text in JSON."""
UNKNOWN = "unknown"
"""The turn of a message that none of ours stands beside."""


def with_origins(theirs: Sequence[Mapping[str, Any]], ours: Sequence[Message]) -> tuple[Message, ...]:
    """`theirs`, plain messages as a provider gets them, each beside the one of ours that has its place."""
    beside = dict(_pairs(theirs, ours))
    lines = _lines_of(ours)
    return tuple([_one(message, beside.get(index), lines) for index, message in enumerate(theirs)])


def _pairs(theirs: Sequence[Mapping[str, Any]], ours: Sequence[Message]) -> Iterator[tuple[int, Message]]:
    if [one.get("role") for one in theirs] == [one.role for one in ours]:
        yield from enumerate(ours)
        return
    keys = [_key(str(one.get("role")), _text(one.get("content"))) for one in theirs]
    for tag, start, end, new_start, new_end in opcodes(keys, [_key(one.role, one.text) for one in ours]):
        if tag in ("equal", "replace"):
            for index, message in zip(range(start, end), ours[new_start:new_end], strict=False):
                if theirs[index].get("role") == message.role:
                    yield index, message


def _key(role: str, text: str) -> str:
    return f"{role}\n{text}"


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [one.get("text") for one in parts if isinstance(one, Mapping) and one.get("type") == "text"]
    return "".join([one for one in texts if isinstance(one, str)])


def _one(theirs: Mapping[str, Any], ours: Message | None, lines: Mapping[str, Segment]) -> Message:
    role, content = str(theirs.get("role")), theirs.get("content")
    extra = {name: value for name, value in theirs.items() if name not in ("role", "content")}
    turn = ours.turn if ours is not None else UNKNOWN
    text = _labelled(_text(content), ours.text if ours is not None else Text(), lines)
    if not isinstance(content, list):
        return Message(role, turn, (text,) if content is not None else (), extra=extra)
    parts: list[Text | DataPart] = []
    position = 0
    for part in content:
        if isinstance(part, Mapping) and part.get("type") == "text" and isinstance(part.get("text"), str):
            parts.append(text.slice(position, position + len(part["text"])))
            position += len(part["text"])
        elif isinstance(part, Mapping):
            parts.append(DataPart(part))
    return Message(role, turn, tuple(parts), is_list=True, extra=extra)


def _lines_of(ours: Sequence[Message]) -> dict[str, Segment]:
    """What made each line of ours that has one piece alone, or one longest: for a line that stands elsewhere."""
    found: dict[str, Segment] = {}
    for message in ours:
        text, position = message.text, 0
        for line in text.split("\n"):
            if line.strip():
                found.setdefault(line.strip(), _longest(text.slice(position, position + len(line)).segments))
            position += len(line) + 1
    return found


def _longest(segments: Sequence[Segment]) -> Segment:
    return max(segments, key=lambda one: len(one.text), default=Segment("", "boilerplate"))


def _labelled(theirs: str, ours: Text, lines: Mapping[str, Segment]) -> Text:
    if theirs == ours:
        return ours
    segments: list[Segment] = []
    position = own = 0
    for _, start, end, new_start, new_end in stretches(str(ours), theirs):
        segments += ours.slice(own, start).segments
        if new_end > new_start:
            text = theirs[new_start:new_end]
            segments += _unlike(text, ours, start, end, lines)
        position, own = new_end, end
    segments += ours.slice(own, own + len(theirs) - position).segments
    return Text(segments)


def _unlike(text: str, ours: Text, start: int, end: int, lines: Mapping[str, Segment]) -> Iterator[Segment]:
    """A stretch that is not in ours at this place: by its own line elsewhere, else by what has its place in ours."""
    here = ours.slice(start, end).segments
    near = _longest(here) if here else _neighbour(ours, start)
    for line in text.splitlines(keepends=True):
        known = lines.get(line.strip(), near)
        is_schema = known.kind == "name" and _SCHEMA.search(line) is not None
        yield Segment(line, "schema" if is_schema else known.kind, known.field)


def _neighbour(ours: Text, place: int) -> Segment:
    """The piece around a place, or before it; beside a value, but not within it, fixed text stands."""
    before, after = ours.slice(0, place).segments[-1:], ours.slice(place, len(ours)).segments[:1]
    if before and after and before[0][1:] == after[0][1:]:
        return before[0]
    if not before or before[0].kind == "value":
        return Segment("", "boilerplate")
    return before[0]
