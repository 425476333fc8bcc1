"""Label messages made elsewhere, by a release or in a recording, with the origins of ours."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from adapters.late_dataclasses import replace
from adapters.prompts.text import DataPart, Message, Segment, Text, prompt_of_dicts
from sessions.text_diff import opcodes, stretches

_SCHEMA = re.compile(r'\{\\*"(type|\$defs|properties|anyOf)')
"""The start of a JSON schema, possibly escaped in a JSON string."""
UNKNOWN = "another message"
"""The turn of a message without a counterpart in ours."""


def add_origins(
    theirs: Sequence[Mapping[str, object]], ours: Sequence[Message], unknown: str = UNKNOWN
) -> tuple[Message, ...]:
    """Convert `theirs`, plain messages as a provider gets them, with the origins of our corresponding messages.

    `unknown` is the turn of a message that corresponds to none of ours.
    """
    messages = prompt_of_dicts(theirs).messages
    beside = dict(_pairs(messages, ours))
    # Map each line of our messages to its longest piece, to find lines that moved.
    lines: dict[str, Segment] = {}
    for message in ours:
        text, position = message.text, 0
        for line in text.split("\n"):
            if line.strip():
                lines.setdefault(line.strip(), _longest(text.slice(position, position + len(line)).segments))
            position += len(line) + 1
    made: list[Message] = []
    for index, message in enumerate(messages):
        counterpart = beside.get(index)
        turn = unknown if counterpart is None else counterpart.turn
        made.append(replace(_one(message, counterpart, lines), turn=turn))
    return tuple(made)


def _pairs(theirs: Sequence[Message], ours: Sequence[Message]) -> Iterator[tuple[int, Message]]:
    if [one.role for one in theirs] == [one.role for one in ours]:
        yield from enumerate(ours)
        return
    before, after = [[f"{one.role}\n{one.text}" for one in messages] for messages in (theirs, ours)]
    for tag, start, end, new_start, new_end in opcodes(before, after):
        if tag in ("equal", "replace"):
            for index, message in zip(range(start, end), ours[new_start:new_end], strict=False):
                if theirs[index].role == message.role:
                    yield index, message


def _one(theirs: Message, ours: Message | None, lines: Mapping[str, Segment]) -> Message:
    text = _labelled(theirs.text, ours.text if ours is not None else Text(), lines)
    parts: list[Text | DataPart] = []
    position = 0
    for part in theirs.parts:
        end = position + len(part) if isinstance(part, Text) else position
        parts.append(text.slice(position, end) if isinstance(part, Text) else part)
        position = end
    return replace(theirs, parts=tuple(parts))


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
    """Label text that differs from ours: as the same line elsewhere in ours, else as the piece it replaces."""
    here = ours.slice(start, end).segments
    if here:
        near = _longest(here)
    else:  # the piece around the place, or before it; text next to a value counts as boilerplate
        before, after = ours.slice(0, start).segments[-1:], ours.slice(start, len(ours)).segments[:1]
        is_within = bool(before and after) and before[0][1:] == after[0][1:]
        near = before[0] if before and (is_within or before[0].kind != "value") else Segment("", "boilerplate")
    for line in text.splitlines(keepends=True):
        known = lines.get(line.strip(), near)
        is_schema = known.kind == "name" and _SCHEMA.search(line) is not None
        yield Segment(line, "schema" if is_schema else known.kind, known.field)
