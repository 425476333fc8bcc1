"""Where a prompt differs from the recorded one: message by message, as a diff, with the origins of what differs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.prompt import Message
from sessions.json_values import JSON
from sessions.line_diff import line_diff, opcodes, prefixed
from sessions.typed_values import same
from sessions.verdicts import Drift, Origin, turn_in_words

_WORD = re.compile(r"\w+\s*|\s+|[^\w\s]")


def of_messages(before: Sequence[Mapping[str, Any]], after: Sequence[Message], plain: Sequence[JSON]) -> list[Drift]:
    """The differences between recorded messages and today's; `plain` are today's as plain JSON."""
    drifts: list[Drift] = []
    for start, end, new_start, new_end in _changed_messages(before, plain):
        paired = min(end - start, new_end - new_start)
        for offset in range(paired):
            old, index = before[start + offset], new_start + offset
            drifts.append(_of_message(index, old, after[index], plain[index]))
        for index in range(new_start + paired, new_end):
            message = after[index]
            lines = tuple([f"+{line}" for line in _shown(plain[index])])
            said = f"{turn_in_words(message.turn)}: the {message.role} message is new"
            drifts.append(
                Drift("render", f"messages[{index}]", said, lines, _origins(message, [(0, len(message.text))]))
            )
        for index in range(start + paired, end):
            lines = tuple([f"-{line}" for line in _shown(before[index])])
            said = f"the recorded message {index + 1} ({before[index].get('role')}) is gone"
            drifts.append(Drift("render", f"recorded messages[{index}]", said, lines))
    return drifts


def of_values(part: Any, place: str, before: Mapping[str, Any], after: Mapping[str, Any], what: str) -> list[Drift]:
    """The differences between two JSON objects, one drift a key."""
    drifts: list[Drift] = []
    for key in [*before, *(key for key in after if key not in before)]:
        if key not in after:
            said, old, new = f"{what} `{key}` is gone", before[key], None
        elif key not in before:
            said, old, new = f"{what} `{key}` is new", None, after[key]
        elif same(before[key], after[key]):
            continue
        else:
            said, old, new = f"{what} `{key}` has changed", before[key], after[key]
        removed = prefixed("-", _lines(old)) if key in before else ()
        added = prefixed("+", _lines(new)) if key in after else ()
        diff = line_diff(_lines(old), _lines(new)) if removed and added else (*removed, *added)
        drifts.append(Drift(part, f"{place}.{key}", said, tuple(diff), before=old, after=new))
    if not drifts and list(before) != list(after):
        said = f"the order of the {what}s has changed"
        drifts.append(Drift(part, place, said, before=list(before), after=list(after)))
    return drifts


def _changed_messages(before: Sequence[Any], after: Sequence[JSON]) -> Iterator[tuple[int, int, int, int]]:
    keys = [[json.dumps(one, ensure_ascii=False) for one in messages] for messages in (before, after)]
    for tag, *ends in opcodes(*keys):
        if tag != "equal":
            start, end, new_start, new_end = ends
            yield start, end, new_start, new_end


def _of_message(index: int, before: Mapping[str, Any], message: Message, plain: JSON) -> Drift:
    place = f"messages[{index}]"
    old, new = _shown(before), _shown(plain)
    diff = line_diff(old, new)
    changes = _changes_of(before, message, plain) if old != new else []
    origins = _origins(message, [(start, end) for _, start, end in changes])
    if before.get("role") != message.role:
        said = f"{turn_in_words(message.turn)}: the role was {before.get('role')} and is {message.role}"
    else:
        said = ", ".join(_in_words(message, changes)) or f"{turn_in_words(message.turn)} is another"
    return Drift("render", place, said, diff, origins)


def of_upstream(
    ours: Sequence[Message], plain: Sequence[JSON], theirs: Sequence[Mapping[str, Any]], dspy: str
) -> list[Drift]:
    """Where another dspy renders otherwise than the recording, which is what `ours` and `plain` are.

    In the diff "-" is recorded and "+" is what that dspy makes. `dspy` is its name with its version.
    """
    drifts: list[Drift] = []
    for start, end, new_start, new_end in _changed_messages(theirs, plain):
        paired = min(end - start, new_end - new_start)
        for offset in range(paired):
            old, index = theirs[start + offset], new_start + offset
            message = ours[index]
            changes = _changes_of(old, message, plain[index])
            words = ", ".join(_in_words(message, changes, _OVER_THERE)) or f"{turn_in_words(message.turn)} is another"
            diff = line_diff(_shown(plain[index]), _shown(old))
            origins = _origins(message, [(at, to) for _, at, to in changes])
            drifts.append(Drift("upstream", f"messages[{index}]", f"against {dspy}: {words}", diff, origins))
        for index in range(new_start + paired, new_end):
            lines = prefixed("-", _shown(plain[index]))
            said = f"{dspy} has no {plain[index]['role']} message of {turn_in_words(ours[index].turn)}"
            drifts.append(Drift("upstream", f"messages[{index}]", said, lines))
        for index in range(start + paired, end):
            lines = prefixed("+", _shown(theirs[index]))
            said = f"{dspy} has one more {theirs[index].get('role')} message"
            drifts.append(Drift("upstream", f"messages[{new_end}]", said, lines))
    return drifts


def _changes_of(before: Mapping[str, Any], message: Message, plain: JSON) -> list[tuple[str, int, int]]:
    content = before.get("content")
    if isinstance(content, str) and isinstance(plain.get("content"), str):
        return changes(content, plain["content"])
    return [("replace", 0, len(message.text))]


@dataclass(frozen=True)
class _Verbs:
    """How a sentence goes on behind the name of a piece of `after`, by what is there and not in `before`."""

    whole: str
    """The piece is in `after` alone."""
    more: str
    less: str
    other: str


_SINCE_THEN = _Verbs("was added", "changed", "lost text", "changed")
_OVER_THERE = _Verbs("is missing there", "has less text there", "has more text there", "is another there")
"""Of what another dspy makes: what it leaves out is in our messages alone."""


def _in_words(message: Message, changes: Sequence[tuple[str, int, int]], say: _Verbs = _SINCE_THEN) -> list[str]:
    """Each change as a sentence's part, such as "the reminder of history turn 1 was added"."""
    verbs: dict[Origin, set[str]] = {}
    for tag, start, end in changes:
        touched = _origins(message, [(start, end)])
        if any(one.kind == "reminder" for one in touched):
            touched = (Origin(message.turn, "reminder"),)
        for origin in touched:
            whole = tag == "insert" and all(start <= at and to <= end for at, to in _pieces(message, origin))
            one = {"delete": say.less, "insert": say.more}.get(tag, say.other)
            verbs.setdefault(origin, set()).add(say.whole if whole else one)
    return [f"{origin.in_words()} {verb.pop() if len(verb) == 1 else say.other}" for origin, verb in verbs.items()]


def _pieces(message: Message, origin: Origin) -> Iterator[tuple[int, int]]:
    """Where the pieces of an origin stand in the message's text."""
    position = 0
    for segment in message.segments:
        following = position + len(segment.text)
        if segment.kind == origin.kind and (origin.field is None or segment.field == origin.field):
            yield position, following
        position = following


def changes(before: str, after: str) -> list[tuple[str, int, int]]:
    """Where `after` is not as `before`, by words: "insert", "delete" or "replace", and code points of `after`, an empty
    range where something was removed."""
    start = _common_prefix(before, after)
    tail = _common_prefix(before[start:][::-1], after[start:][::-1])
    old, new = before[start : len(before) - tail], after[start : len(after) - tail]
    words, new_words = _WORD.findall(old), _WORD.findall(new)
    ends = [start]
    for word in new_words:
        ends.append(ends[-1] + len(word))
    return [
        (tag, ends[new_start], ends[new_end])
        for tag, _, _, new_start, new_end in opcodes(words, new_words)
        if tag != "equal"
    ]


def _common_prefix(one: str, other: str) -> int:
    if one == other:
        return len(one)
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _origins(message: Message, ranges: Sequence[tuple[int, int]]) -> tuple[Origin, ...]:
    found: dict[Origin, None] = {}
    position = 0
    for segment in message.segments:
        following = position + len(segment.text)
        for start, end in ranges:
            removed_here = start == end and position <= start < following
            if removed_here or (start < following and end > position):
                found[Origin(message.turn, segment.kind, segment.field)] = None
                break
        position = following
    if not found and ranges and message.segments:
        last = message.segments[-1]
        found[Origin(message.turn, last.kind, last.field)] = None
    return tuple(found)


def _shown(message: Any) -> list[str]:
    """A message as lines: its text, and what else it carries as JSON."""
    content = message.get("content")
    lines: list[str] = []
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            lines.extend(part.split("\n"))
        elif isinstance(part, Mapping) and part.get("type") == "text" and isinstance(part.get("text"), str):
            lines.extend(part["text"].split("\n"))
        elif part is not None:
            lines.append(json.dumps(part, ensure_ascii=False))
    lines.extend(
        f"{key}: {json.dumps(message[key], ensure_ascii=False)}" for key in message if key not in ("role", "content")
    )
    return lines


def _lines(value: JSON) -> list[str]:
    if isinstance(value, str):
        return value.split("\n")
    return json.dumps(value, ensure_ascii=False, indent=2).split("\n")
