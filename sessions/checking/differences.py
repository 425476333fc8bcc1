"""Compare a recording with the current prompt and parse result: differences, their places and origins."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from adapters.late_dataclasses import replace
from adapters.prompts.text import Message, Segment
from adapters.replies.reading import Reading, ReadingError
from adapters.requests.request import Request
from sessions.checking.class_changes import class_changes, classes_in, words_changed
from sessions.checking.verdicts import Drift, Edit, Origin, Part, turn_in_words
from sessions.file.file_format import as_data
from sessions.file.json_values import JSON
from sessions.file.typed_values import same
from sessions.model.replies import RecordedAttempt, RecordedReading, keys_of
from sessions.model.session import Recording
from sessions.running.recording import as_json
from sessions.text_diff import line_diff, opcodes, prefixed, stretches

LONGEST_REASON = 200
"""The maximum length of an error in a message."""


def request_drift(recorded: Recording, number: int, attempt: RecordedAttempt, today: Request) -> list[Drift]:
    """Compare the request of a recorded attempt (`number` from 0) with today's.

    The first attempt's request is stored in the recording itself. A later attempt without a request repeated it.
    """
    if attempt.request is None and number > 0:
        return []
    body = recorded.request if attempt.request is None else attempt.request
    messages = recorded.messages if attempt.request is None else attempt.request["messages"]
    drift: list[Drift] = []
    if not same_messages(messages, today):
        drift = messages_drift(messages, today.messages, as_json(today.prompt.as_dicts())) or [
            Drift("render", "messages", "the messages have changed")
        ]
    before = {key: value for key, value in body.items() if key != "messages"}
    after = parameters(today)
    if not same(before, after):
        drift.extend(values_drift("render", "request", before, after, "parameter"))
    if attempt.request is None:
        return drift
    place, said = f"attempts[{number}].", f"attempt {number + 1} ({attempt.adapter}): "
    return [replace(one, place=place + one.place, message=said + one.message) for one in drift]


def reading_drift(recorded: RecordedReading, today: RecordedReading, place: str, reading: Reading) -> list[Drift]:
    """Compare a recorded parse result with today's. `place` is its place in the recording."""
    is_plain = recorded.ok and today.ok and recorded.error is None and today.error is None and not recorded.extra
    if is_plain and list(recorded.keys or ()) == _KEYS and same(recorded.values, today.values):
        return []  # without making data of them, which takes longer
    before, after = as_data(recorded), as_data(today)
    if same(before, after):
        return []
    drift: list[Drift] = []
    if recorded.ok is not today.ok:
        why = f": {_why(reading.error)}" if reading.error is not None else ""
        said = "the reply no longer parses" if recorded.ok else "the reply parses now"
        drift.append(Drift("parse", f"{place}.ok", said + why, before=recorded.ok, after=today.ok))
    drift.extend(values_drift("parse", f"{place}.values", recorded.values, today.values, "value"))
    if not same(before.get("error"), after["error"]):
        drift.append(
            Drift("parse", f"{place}.error", "the error changed", before=before.get("error"), after=after["error"])
        )
    return drift or [Drift("parse", place, "the parse result changed", before=before, after=after)]


def _why(error: ReadingError) -> str:
    """Return dspy's exception, the field, and the first line, without the appended reply."""
    first = error.message.strip().partition("\n")[0].partition(" LM Response:")[0]
    field = f" at `{error.field}`" if error.field is not None else ""
    return f"{error.type}{field}: {first[:LONGEST_REASON]}" if first else f"{error.type}{field}"


_KEYS = list(keys_of(RecordedReading))


def same_messages(recorded: Iterable[Mapping[str, object]], request: Request) -> bool:
    """Return whether the recorded messages equal those of `request`, without copying texts."""
    messages = request.messages
    before = tuple(recorded)
    if len(before) != len(messages):
        return False
    for old, message in zip(before, messages, strict=True):
        content = message.content
        if isinstance(content, str) and not message.extra:
            if len(old) != 2 or old.get("role") != message.role or old.get("content") != content:
                return False
        elif not same(dict(old), as_json(message.as_dict())):
            return False
    return True


def parameters(request: Request) -> dict[str, JSON]:
    """Return the request without its messages, as recorded."""
    head = {"model": request.model} if request.model is not None else {}
    found: dict[str, JSON] = as_json({**head, **request.params})
    return found


def same_recording(one: Recording, other: Recording) -> bool:
    """Return whether two recordings have the same messages, request and attempts."""
    return same_requests(one, other) and same(
        [as_data(attempt) for attempt in one.attempts], [as_data(attempt) for attempt in other.attempts]
    )


def same_requests(one: Recording, other: Recording) -> bool:
    """Return whether two recordings have the same messages and parameters in every attempt."""
    return (
        same(list(one.messages), [dict(message) for message in other.messages])
        and same(dict(one.request), dict(other.request))
        and same([attempt.request for attempt in one.attempts], [attempt.request for attempt in other.attempts])
    )


def messages_drift(
    before: Sequence[Mapping[str, object]], after: Sequence[Message], plain: Sequence[JSON], dspy: str = ""
) -> list[Drift]:
    """Compare recorded messages with today's, whose origins are known.

    `plain` contains today's messages as plain JSON. With `dspy`, the name of a release, `before` contains that
    release's messages and `after` the recorded ones: the diff goes from the recording to the release.
    """
    part: Part = "upstream" if dspy else "render"
    drifts: list[Drift] = []
    keys = [json.dumps(one, ensure_ascii=False) for one in before]
    for tag, start, end, new_start, new_end in opcodes(keys, [json.dumps(one, ensure_ascii=False) for one in plain]):
        if tag == "equal":
            continue
        paired = min(end - start, new_end - new_start)
        for offset in range(paired):
            index = new_start + offset
            drifts.append(_message_drift(index, before[start + offset], after[index], plain[index], dspy))
        for index in range(new_start + paired, new_end):
            message, turn = after[index], turn_in_words(after[index].turn)
            lines = prefixed("-" if dspy else "+", lines_of_message(plain[index]))
            said = f"{turn}: the {message.role} message is new"
            said = f"{dspy} has no {message.role} message of {turn}" if dspy else said
            origins = () if dspy else _origins([Change("insert", "", _pieces(message, 0, len(message.text)))])
            drifts.append(Drift(part, f"messages[{index}]", said, lines, origins))
        for index in range(start + paired, end):
            role, lines = before[index].get("role"), prefixed("+" if dspy else "-", lines_of_message(before[index]))
            said = (
                f"{dspy} has one more {role} message" if dspy else f"the recorded message {index + 1} ({role}) is gone"
            )
            place = f"messages[{new_end}]" if dspy else f"recorded messages[{index}]"
            drifts.append(Drift(part, place, said, lines))
    return drifts


class Piece(NamedTuple):
    """An origin, and its range in the message's text."""

    origin: Origin
    start: int
    end: int


class Change(NamedTuple):
    """A difference: "insert", "delete" or "replace", the removed text, and the pieces of today's message it touches."""

    tag: str
    removed: str
    pieces: Sequence[Piece]


def _message_drift(index: int, before: Mapping[str, object], message: Message, plain: JSON, dspy: str) -> Drift:
    place, turn = f"messages[{index}]", turn_in_words(message.turn)
    old, new = lines_of_message(before), lines_of_message(plain)
    then, now = before.get("content"), plain.get("content")
    found: list[Change] = []
    edits: tuple[Edit, ...] = ()
    if isinstance(then, str) and isinstance(now, str):
        for tag, start, end, new_start, new_end in stretches(then, now):
            found.append(Change(tag, then[start:end], _pieces(message, new_start, new_end, then[start:end])))
        edits = _edits(found, now)
    elif old != new:
        found = [Change("replace", "", _pieces(message, 0, len(message.text)))]
    words = ", ".join(_described(message, found, _VERBS_OF_ANOTHER if dspy else _VERBS)) or f"{turn} changed"
    origins = _origins(found)
    if dspy:
        return Drift("upstream", place, f"against {dspy}: {words}", line_diff(new, old), origins)
    if before.get("role") != message.role:
        words = f"{turn}: the role was {before.get('role')} and is {message.role}"
    if isinstance(then, str) and isinstance(now, str) and any(one.origin.kind == "schema" for one in edits):
        changed = list(class_changes(classes_in(then), classes_in(now), is_sorted=True))
        split: list[Edit] = []
        for one in edits:
            of = changed if one.origin.kind == "schema" else []
            said = [Edit(one.origin, *words_changed(each.before, each.after), each.said) for each in of]
            split += said or [one]
        edits = tuple(split)
    return Drift("render", place, words, line_diff(old, new), origins, edits=edits)


class ChangedValue(NamedTuple):
    """A value of an object that differs; a value that is not there is None."""

    name: str
    before: Any
    after: Any
    how: Literal["is gone", "is new", "has changed"]
    diff: tuple[str, ...]


def changed_values(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[ChangedValue]:
    """Yield the values that differ between two JSON objects."""
    for name in [*before, *(name for name in after if name not in before)]:
        if name not in after:
            yield ChangedValue(name, before[name], None, "is gone", prefixed("-", _lines(before[name])))
        elif name not in before:
            yield ChangedValue(name, None, after[name], "is new", prefixed("+", _lines(after[name])))
        elif not same(before[name], after[name]):
            diff = line_diff(_lines(before[name]), _lines(after[name]))
            yield ChangedValue(name, before[name], after[name], "has changed", diff)


def values_drift(part: Part, place: str, before: Mapping[str, Any], after: Mapping[str, Any], what: str) -> list[Drift]:
    """Compare two JSON objects: one drift for each differing key, or for their order."""
    drifts = [
        Drift(part, f"{place}.{name}", f"{what} `{name}` {how}", diff, before=old, after=new)
        for name, old, new, how, diff in changed_values(before, after)
    ]
    if not drifts and list(before) != list(after):
        said = f"the order of the {what}s has changed"
        drifts.append(Drift(part, place, said, before=list(before), after=list(after)))
    return drifts


def _edits(changes: Sequence[Change], after: str) -> tuple[Edit, ...]:
    """Group changes by origin.

    A change over several pieces is assigned to each; its removed words to the first.
    """
    found: dict[Origin, tuple[list[str], list[str]]] = {}
    for change in changes:
        left = change.removed
        for origin, at, to in change.pieces:
            old, new = found.setdefault(origin, ([], []))
            old.append(" ".join(left.split()))
            new.append(" ".join(after[at:to].split()))
            left = ""
    edits = tuple([Edit(origin, _joined(old), _joined(new)) for origin, (old, new) in found.items()])
    # Whitespace after a changed word may be a piece of its own. Keep it only if nothing else changed.
    return tuple([one for one in edits if one.before or one.after]) or edits


def _joined(words: Sequence[str]) -> str:
    """Join runs of words, each once.

    `, 'question'` and `; question` are the same member of a Literal in two spellings.
    """
    found: dict[str, str] = {}
    for one in words:
        member = _MEMBER.fullmatch(one)
        found.setdefault(member[2] if member is not None else one, one)
    return " … ".join([one for one in found.values() if one])


_MEMBER = re.compile(r"""(?:[,;|]|or\b)\s*(["']?)([^"'\[\]]+)\1""")


def _pieces(message: Message, start: int, end: int, removed: str = "") -> list[Piece]:
    """Return the pieces in a range of the message's text, each cut to it; never empty.

    Text removed at the end of a type or a description belongs to that piece, not to the fixed text after it. Removed
    lines belong to the piece after them, like a whole field; lines removed before a reminder were a value.
    """
    found: list[Piece] = []
    position = 0
    before: Segment | None = None
    for segment in message.segments:
        following = position + len(segment.text)
        removed_here = start == end and position <= start < following
        is_end = before is not None and before.kind in _CONTENT and segment.kind not in _CONTENT
        if removed_here and start == position and before is not None and is_end and "\n" not in removed:
            segment, position, following = before, start, start
        if removed_here or (start < following and end > position):
            part = (max(start, position), min(end, following))
            is_value = removed_here and segment.kind == "reminder" and position == start and "\n" in removed.strip()
            kind, field = ("value", None) if is_value else (segment.kind, segment.field)
            found.append(Piece(Origin(message.turn, kind, field), *part))
        position, before = following, segment
        if removed_here:
            break
    if not found and message.segments:
        last = message.segments[-1]
        found.append(Piece(Origin(message.turn, last.kind, last.field), start, end))
    return found


_CONTENT = frozenset({"type", "description", "constraint", "schema", "value", "instructions"})
"""Kinds of text from the signature or from data; the adapter writes the others."""

_VERBS = {"whole": "was added", "insert": "changed", "delete": "lost text", "replace": "changed"}
"""The predicates of a piece of today's message, by how it differs; `whole`: only today's has it."""
_VERBS_OF_ANOTHER = {
    "whole": "is missing there",
    "insert": "has less text there",
    "delete": "has more text there",
    "replace": "differs there",
}
"""The same for another dspy: a piece that it omits is only in our messages."""


def _described(message: Message, changes: Sequence[Change], say: Mapping[str, str]) -> list[str]:
    """Describe each change, such as "the reminder of history turn 1 was added"."""
    verbs: dict[Origin, set[str]] = {}
    for change in changes:
        touched = _origins([change])
        if any(one.kind == "reminder" for one in touched):
            touched = (Origin(message.turn, "reminder"),)
        for origin in touched:
            start, end = change.pieces[0].start, change.pieces[-1].end
            whole = change.tag == "insert" and _is_within(message, origin, start, end)
            verbs.setdefault(origin, set()).add(say["whole" if whole else change.tag])
    return [
        f"{origin.plain_words()} {verb.pop() if len(verb) == 1 else say['replace']}" for origin, verb in verbs.items()
    ]


def _is_within(message: Message, origin: Origin, start: int, end: int) -> bool:
    """Return whether all pieces of an origin are within a range of the message's text."""
    position = 0
    for segment in message.segments:
        following = position + len(segment.text)
        is_of_origin = segment.kind == origin.kind and (origin.field is None or segment.field == origin.field)
        if is_of_origin and (position < start or following > end):
            return False
        position = following
    return True


def _origins(changes: Iterable[Change]) -> tuple[Origin, ...]:
    return tuple(dict.fromkeys([piece.origin for one in changes for piece in one.pieces]))


def lines_of_message(message: Any) -> list[str]:
    """Return a message's text as lines, followed by its other content as JSON."""
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
