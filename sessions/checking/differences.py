"""Compare a recording with the current prompt and parse result: differences, their places and origins."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

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
from sessions.model.session import Column, Recording
from sessions.running import recording
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
    if _is_same_in_parts(recorded, today):
        return []
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


def _is_same_in_parts(recorded: RecordedReading, today: RecordedReading) -> bool:
    """Compare two results without errors, which is faster than comparing their data."""
    is_plain = recorded.ok and today.ok and recorded.error is None and today.error is None and not recorded.extra
    return is_plain and list(recorded.keys or ()) == _KEYS and same(recorded.values, today.values)


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


def changed_versions(recorded: Recording, column: Column) -> str:
    """Name the versions that changed since the recording, such as `dspy 3.3.0 then, 3.4.1 now`."""
    now = recording.versions_of(column)
    both = [(name, recorded.versions[name], now[name]) for name in now if name in recorded.versions]
    return "; ".join([f"{name} {old} then, {new} now" for name, old, new in both if old != new])


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
            lines = prefixed("-" if dspy else "+", _shown(plain[index]))
            said = f"{turn}: the {message.role} message is new"
            said = f"{dspy} has no {message.role} message of {turn}" if dspy else said
            origins = () if dspy else _origins(message, [Change("insert", 0, len(message.text), "")])
            drifts.append(Drift(part, f"messages[{index}]", said, lines, origins))
        for index in range(start + paired, end):
            role, lines = before[index].get("role"), prefixed("+" if dspy else "-", _shown(before[index]))
            said = (
                f"{dspy} has one more {role} message" if dspy else f"the recorded message {index + 1} ({role}) is gone"
            )
            place = f"messages[{new_end}]" if dspy else f"recorded messages[{index}]"
            drifts.append(Drift(part, place, said, lines))
    return drifts


def _message_drift(index: int, before: Mapping[str, object], message: Message, plain: JSON, dspy: str) -> Drift:
    place, turn = f"messages[{index}]", turn_in_words(message.turn)
    old, new = _shown(before), _shown(plain)
    then, now = before.get("content"), plain.get("content")
    found: Sequence[Change] = ()
    if isinstance(then, str) and isinstance(now, str):
        found = changes(then, now)
    elif old != new:
        found = [Change("replace", 0, len(message.text), "")]
    words = ", ".join(_described(message, found, _VERBS_OF_ANOTHER if dspy else _VERBS)) or f"{turn} changed"
    origins = _origins(message, found)
    if dspy:
        return Drift("upstream", place, f"against {dspy}: {words}", line_diff(new, old), origins)
    if before.get("role") != message.role:
        words = f"{turn}: the role was {before.get('role')} and is {message.role}"
    edits = _edits(message, found, now) if isinstance(then, str) and isinstance(now, str) else ()
    if isinstance(then, str) and isinstance(now, str) and any(one.origin.kind == "schema" for one in edits):
        changed = list(class_changes(classes_in(then), classes_in(now), is_sorted=True))
        split = [(words_changed(one.before, one.after), one.said) for one in changed]
        parts = [(one, split if one.origin.kind == "schema" else []) for one in edits]
        edits = tuple(
            [each for one, of in parts for each in [Edit(one.origin, *ends, said) for ends, said in of] or [one]]
        )
    return Drift("render", place, words, line_diff(old, new), origins, edits=edits)


def values_drift(part: Any, place: str, before: Mapping[str, Any], after: Mapping[str, Any], what: str) -> list[Drift]:
    """Compare two JSON objects: one drift for each differing key."""
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
        diff = line_diff(_lines(old) if key in before else (), _lines(new) if key in after else ())
        drifts.append(Drift(part, f"{place}.{key}", said, diff, before=old, after=new))
    if not drifts and list(before) != list(after):
        said = f"the order of the {what}s has changed"
        drifts.append(Drift(part, place, said, before=list(before), after=list(after)))
    return drifts


def _edits(message: Message, changes: Sequence[Change], after: str) -> tuple[Edit, ...]:
    """Group changes by origin.

    A change over several pieces is assigned to each; its removed words to the first.
    """
    found: dict[Origin, tuple[list[str], list[str]]] = {}
    for _, start, end, removed in changes:
        left = removed
        for origin, at, to in _parts(message, start, end, removed):
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


def _parts(message: Message, start: int, end: int, removed: str = "") -> list[tuple[Origin, int, int]]:
    """Return the origins of a range of the message's text, each with its subrange; never empty.

    Text removed at the end of a type or a description belongs to that piece, not to the fixed text after it. Removed
    lines belong to the piece after them, like a whole field; lines removed before a reminder were a value.
    """
    found: list[tuple[Origin, int, int]] = []
    position = 0
    before: Segment | None = None
    for segment in message.segments:
        following = position + len(segment.text)
        removed_here = start == end and position <= start < following
        if removed_here and start == position and before is not None and _ended_by(before, segment, removed):
            segment, position, following = before, start, start
        if removed_here or (start < following and end > position):
            part = (max(start, position), min(end, following))
            is_value = removed_here and segment.kind == "reminder" and position == start and "\n" in removed.strip()
            kind, field = ("value", None) if is_value else (segment.kind, segment.field)
            found.append((Origin(message.turn, kind, field), *part))
        position, before = following, segment
        if removed_here:
            break
    if not found and message.segments:
        last = message.segments[-1]
        found.append((Origin(message.turn, last.kind, last.field), start, end))
    return found


_CONTENT = frozenset({"type", "description", "constraint", "schema", "value", "instructions"})
"""Kinds of text from the signature or from data; the adapter writes the others."""


def _ended_by(before: Segment, segment: Segment, removed: str) -> bool:
    return before.kind in _CONTENT and segment.kind not in _CONTENT and "\n" not in removed


class Change(NamedTuple):
    """A differing range: "insert", "delete" or "replace", its code points today, and the text it replaced."""

    tag: str
    start: int
    end: int
    removed: str


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
        tag, start, end, _ = change
        touched = _origins(message, [change])
        if any(one.kind == "reminder" for one in touched):
            touched = (Origin(message.turn, "reminder"),)
        for origin in touched:
            whole = tag == "insert" and all(start <= at and to <= end for at, to in _pieces(message, origin))
            verbs.setdefault(origin, set()).add(say["whole" if whole else tag])
    return [
        f"{origin.plain_words()} {verb.pop() if len(verb) == 1 else say['replace']}" for origin, verb in verbs.items()
    ]


def _pieces(message: Message, origin: Origin) -> Iterator[tuple[int, int]]:
    """Yield the ranges of an origin's pieces in the message's text."""
    position = 0
    for segment in message.segments:
        following = position + len(segment.text)
        if segment.kind == origin.kind and (origin.field is None or segment.field == origin.field):
            yield position, following
        position = following


def changes(before: str, after: str) -> list[Change]:
    """List the word-level differences of `after` from `before`. A removal has an empty range."""
    return [
        Change(tag, new_start, new_end, before[start:end])
        for tag, start, end, new_start, new_end in stretches(before, after)
    ]


def _origins(message: Message, changes: Iterable[Change]) -> tuple[Origin, ...]:
    parts = [_parts(message, one.start, one.end, one.removed) for one in changes]
    return tuple(dict.fromkeys([origin for found in parts for origin, _, _ in found]))


def _shown(message: Any) -> list[str]:
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
