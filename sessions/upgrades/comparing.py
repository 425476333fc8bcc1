"""Compare the prompts, requests and parse results of both sides of an upgrade; each difference has a cause."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple

from adapters.late_dataclasses import dataclass
from adapters.prompts.text import Message, Segment
from adapters.signatures.signature import Signature
from adapters.values.plain_json import plain
from sessions.causes import writing
from sessions.causes.cause import CauseKind, Key
from sessions.checking.differences import changed_values, lines_of_message
from sessions.checking.verdicts import Edit, Origin, Part, turn_in_words
from sessions.errors import counted
from sessions.file.typed_values import same
from sessions.releases.engine import ReleaseReading
from sessions.text_diff import line_diff, prefixed, stretches

_WHOLE = ("name", "type", "description", "constraint", "schema", "value", "marker", "filler")
"""Kinds of segments that are compared whole if they belong to a field; in other text, only the changed words are."""
_Place = tuple[int, int, int, int]
"""The start and end of a change in the old text and in the new text, in code points."""
_NUMBERS = re.compile(r"\d+")


@dataclass(frozen=True)
class Made:
    """A side's prompt, request and parse results for a case and column."""

    messages: tuple[Message, ...]
    request: Mapping[str, Any]
    """The request without its messages and the model's name."""
    readings: tuple[ReleaseReading, ...] = ()
    """The parse results, one for each reply."""
    removed_fields: tuple[str, ...] = ()
    """Fields replaced by a native feature of the model."""


@dataclass(frozen=True)
class Difference:
    """A difference and its cause. `diff` shows its lines: "-" before, "+" after."""

    part: Part
    """`render` (the prompt and the request) or `parse` (the parse results)."""
    place: str
    key: Key
    diff: tuple[str, ...]


def differences(
    before: Made, after: Made, signature: Signature, replies: Sequence[str], by: CauseKind
) -> list[Difference]:
    """Compare both sides of a fixture.

    `replies` are the replies that both sides parse; `by` is the kind of change.
    """
    found = list(_message_differences(before, after, signature, by))
    found += _request_differences(before.request, after.request, by)
    for number, (old, new) in enumerate(zip(before.readings, after.readings, strict=True)):
        found += _reading_differences(number, old, new, replies[number], by)
    return found


def _message_differences(before: Made, after: Made, signature: Signature, by: CauseKind) -> Iterator[Difference]:
    pairs = list(_paired(before.messages, after.messages))
    changes = [
        _changes(old, new, signature) if old is not None and new is not None and old.as_dict() != new.as_dict() else []
        for old, new in pairs
    ]
    moves = _moves([one.edit for found in changes for one in found if not one.is_part], by)
    for number, (old, new) in enumerate(pairs):
        message = new if new is not None else old
        assert message is not None  # `_paired` yields at least one of them
        place = f"messages[{number}] ({turn_in_words(message.turn)})"
        if old is None or new is None:
            lines = prefixed("+" if old is None else "-", lines_of_message(message.as_dict()))
            ends = ("", "there") if old is None else ("there", "")
            what = f"a message of {writing.turns_of(message.turn)}"
            yield Difference("render", place, Key(by, what, *ends), lines)
            continue
        found: dict[Key, tuple[str, ...]] = {}
        if old.is_list is not new.is_list:
            forms = ["a list of parts" if one.is_list else "one text" for one in (old, new)]
            found[Key(by, writing.PARTS, *forms)] = _diff_of(old, new)
        for change in changes[number]:
            key = _native(change.edit, before, after, by) or moves.get(change.edit)
            if key is None and old.is_list is not new.is_list and change.edit.origin.kind == "value":
                continue
            found.setdefault(key or writing.key_of(change.edit, by, is_part=change.is_part), change.diff)
        if len(found) > 1:
            found.pop(Key(by, writing.BLANKS, "", ""), None)
        for key, diff in found.items():
            yield Difference("render", place, key, diff)


def _native(edit: Edit, before: Made, after: Made, by: CauseKind) -> Key | None:
    """Return the common cause of changes due to fields that a native feature replaces on one side only."""
    native = set(before.removed_fields) ^ set(after.removed_fields)
    is_of_another = edit.origin.field is not None and edit.origin.field not in native
    if not native or (is_of_another and edit.origin.kind in ("type", "description", "constraint", "value", "schema")):
        return None
    return Key(by, writing.FIELD, *(("", "native") if native & set(after.removed_fields) else ("native", "")))


def _paired(
    before: Sequence[Message], after: Sequence[Message]
) -> Iterator[tuple[Message, Message] | tuple[Message, None] | tuple[None, Message]]:
    """Pair messages of the same turn and role."""
    left = list(after)
    for old in before:
        beside = next((new for new in left if (new.turn, new.role) == (old.turn, old.role)), None)
        if beside is None:
            yield old, None
        else:
            left.remove(beside)
            yield old, beside
    for new in left:
        yield None, new


def _diff_of(before: Message, after: Message) -> tuple[str, ...]:
    return line_diff(lines_of_message(before.as_dict()), lines_of_message(after.as_dict()))


class _Change(NamedTuple):
    edit: Edit
    is_part: bool
    """True if the texts are changed words within pieces, not whole pieces."""
    diff: tuple[str, ...]


def _changes(before: Message, after: Message, signature: Signature) -> list[_Change]:
    """Group changes by the kind and field of the pieces they touch; at least one."""
    found: list[_Change] = []
    old_text, new_text = str(before.text), str(after.text)
    for (kind, field), places in _touched(before, after).items():
        origin = Origin(after.turn, kind, field)
        old, new = _pieces(before.segments, kind, field), _pieces(after.segments, kind, field)
        if kind == "reminder":
            old, new = _reminder(before), _reminder(after)
        if field is None and old and new:
            ends, at = (old_text, new_text), places
            if kind == "reminder":
                ends = " ".join(old), " ".join(new)
                at = _joined(*ends)
            gone = [ends[0][start:end] for start, end, _, _ in at]
            come = [ends[1][start:end] for _, _, start, end in at]
            texts, is_part = (" … ".join(filter(str.strip, gone)), " … ".join(filter(str.strip, come))), True
        elif old == new:
            continue
        else:
            texts, is_part = ("\n".join(_unlike(old, new)), "\n".join(_unlike(new, old))), False
        of_field = signature.fields.get(field) if field is not None else None
        if kind == "type" and of_field is not None:
            texts = _members(texts[0], of_field.annotation), _members(texts[1], of_field.annotation)
        elif kind not in ("schema", "value"):
            one, other = [writing.abstract(text, signature.fields, with_tags=kind == "marker") for text in texts]
            texts = one, other
        found.append(_Change(Edit(origin, *texts), is_part, _diff_at(old_text, new_text, places)))
    if len(found) > 1:
        more = [one for one in found if "".join(one.edit.before.split()) != "".join(one.edit.after.split())]
        found = more or found[:1]
    return found or [_Change(Edit(Origin(after.turn, "boilerplate"), "", ""), True, _diff_of(before, after))]


def _diff_at(before: str, after: str, places: Sequence[_Place]) -> tuple[str, ...]:
    """Return the diff of the lines around these places."""
    lines: dict[str, None] = {}
    for start, end, new_start, new_end in places:
        old, new = _lines_around(before, start, end), _lines_around(after, new_start, new_end)
        lines |= dict.fromkeys([one for one in line_diff(old, new) if one.strip() and one != " …"])
    return tuple(lines)


def _lines_around(text: str, start: int, end: int) -> list[str]:
    """Return the whole lines around a stretch; a newline at its end does not add a line."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", max(end - text[start:end].endswith("\n"), first))
    return text[first : len(text) if last < 0 else last].split("\n")


def _touched(before: Message, after: Message) -> dict[tuple[str, str | None], list[_Place]]:
    """Map the kinds and fields of touched pieces to the changes; boilerplate between other kinds is not listed."""
    touched: dict[tuple[str, str | None], list[_Place]] = {}
    for place in _joined(str(before.text), str(after.text)):
        start, end, new_start, new_end = place
        pieces = [*before.text.slice(start, end).segments, *after.text.slice(new_start, new_end).segments]
        kinds = {one.kind for one in pieces}
        # Markers and names within a reminder are part of it.
        of_reminder = [("reminder", None)] if "reminder" in kinds else []
        others = [(one.kind, one.field if one.kind in _WHOLE else None) for one in pieces]
        told = [one for one in others if one[0] != "boilerplate" or kinds == {"boilerplate"}]
        for key in dict.fromkeys(of_reminder or told):
            touched.setdefault(key, []).append(place)
    return touched


def _joined(before: str, after: str) -> list[_Place]:
    """List the changes between the texts; changes separated only by whitespace are joined."""
    found: list[_Place] = []
    for _, start, end, new_start, new_end in stretches(before, after):
        if found and not before[found[-1][1] : start].strip():
            found[-1] = (found[-1][0], end, found[-1][2], new_end)
        else:
            found.append((start, end, new_start, new_end))
    return found


def _members(text: str, annotation: object) -> str:
    """Return "names" or "values" if a note lists the names or values of an Enum's members, else the text."""
    if not (isinstance(annotation, type) and issubclass(annotation, Enum)):
        return text
    lists = {"names": [one.name for one in annotation], "values": [f"{one.value}" for one in annotation]}
    return next((what for what, members in lists.items() if "; ".join(members) in text), text)


def _pieces(segments: Sequence[Segment], kind: str, field: str | None) -> list[str]:
    """Return the texts of a kind and field; adjacent pieces are joined."""
    runs = itertools.groupby(segments, lambda one: one.kind == kind and (field is None or one.field == field))
    return ["".join([one.text for one in run]) for is_one, run in runs if is_one]


def _reminder(message: Message) -> list[str]:
    """Return the reminder of a message, with the markers, schemas, names and types that follow it."""
    segments = message.segments
    places = [place for place, one in enumerate(segments) if one.kind == "reminder"]
    if not places:
        return []
    end = places[-1] + 1
    while end < len(segments) and segments[end].kind in ("marker", "schema", "name", "type"):
        end += 1
    return ["".join([one.text for one in segments[places[0] : end]])]


def _unlike(pieces: Sequence[str], others: Sequence[str]) -> list[str]:
    """Return the pieces that differ from their counterpart in `others`; all, if the counts differ."""
    if len(pieces) != len(others):
        return list(pieces)
    return list(dict.fromkeys([one for one, other in zip(pieces, others, strict=True) if one != other]))


def _moves(edits: Sequence[Edit], by: CauseKind) -> dict[Edit, Key]:
    """Map the edits of pieces moved between turns to their cause."""
    found: dict[Edit, Key] = {}
    gone = [one for one in edits if one.before and not one.after and one.origin.field is None]
    for edit in edits:
        if edit.after and not edit.before and edit.origin.field is None:
            # The same piece with the same text; a moved reminder may be reworded.
            alike = [one for one in gone if one.origin.kind == edit.origin.kind and one.origin.turn != edit.origin.turn]
            source = next((one for one in alike if one.origin.kind == "reminder" or one.before == edit.after), None)
            if source is not None:
                found[edit] = found[source] = writing.moved(source, edit.origin.turn, by)
    return found


def _request_differences(
    before: Mapping[str, object], after: Mapping[str, object], by: CauseKind
) -> Iterator[Difference]:
    for name, old, new, _, diff in changed_values(before, after):
        lost, gained, other = writing.schema_changes(old, new)
        if _form_of(old) == _form_of(new) and (lost or gained):
            key = Key(by, f"{writing.SCHEMA_KEYS}: `{name}`", ", ".join(sorted(lost)), ", ".join(sorted(gained)))
        elif _form_of(old) == _form_of(new):
            key = Key(by, f"{writing.OTHER_SCHEMA}: `{name}`", ", ".join(sorted(other)), "")
        else:
            key = Key(by, f"{writing.PARAMETER}: {name}", _form_of(old), _form_of(new))
        yield Difference("render", f"request.{name}", key, diff)


def _form_of(value: object) -> str:
    """Describe a parameter: schemas and tools by their kind, anything else as JSON."""
    if isinstance(value, Mapping) and isinstance(value.get("type"), str):
        return "a JSON schema" if value["type"] == "json_schema" else str(value["type"])
    if isinstance(value, list) and value and all(isinstance(one, Mapping) for one in value):
        return counted(len(value), "tool") if "function" in value[0] else "a list"
    return "" if value is None else json.dumps(plain(value), ensure_ascii=False)


def _reading_differences(
    number: int, before: ReleaseReading, after: ReleaseReading, reply: str, by: CauseKind
) -> Iterator[Difference]:
    place = f"replies[{number}]"
    lines = [
        [f"{name}: {json.dumps(plain(value), ensure_ascii=False)}" for name, value in one.values.items()]
        if one.ok
        else [f"not read: {one.error}"]
        for one in (before, after)
    ]
    diff = line_diff(*lines)
    if before.ok and not after.ok:
        yield Difference("parse", place, Key(by, writing.REFUSED, "", _reason(after, reply)), diff)
    elif after.ok and not before.ok:
        lacking = [name for name, value in after.values.items() if value is None and name not in reply]
        more = "and a field that they lack is None" if lacking else ""
        yield Difference("parse", place, Key(by, writing.READ, before.error, more), diff)
    elif not before.ok and before.error != after.error:
        yield Difference("parse", place, Key(by, writing.ERROR, before.error, after.error), diff)
    elif before.ok and not same(dict(before.values), dict(after.values)):
        keys: dict[Key, None] = {}
        for _, was, now, how, _ in changed_values(before.values, after.values):
            old = "" if how == "is new" else _FORMS.get(type(was), type(was).__name__)
            new = "" if how == "is gone" else _FORMS.get(type(now), type(now).__name__)
            if old == new:
                old, new = _short(was), _short(now)
            keys[Key(by, writing.READ_AS, old, new)] = None
        for key in keys or [Key(by, writing.READ_AS, "values in one order", "in another")]:
            yield Difference("parse", place, key, diff)


def _reason(read: ReleaseReading, reply: str) -> str:
    """Return the exception's type and first line, without the reply and numbers, which vary between replies."""
    said = read.message.partition("LM Response:")[0]
    first = (said.replace(reply, "…") if reply else said).strip().partition("\n")[0]
    first = re.sub(r"^Adapter \w+ failed to parse the LM response\.?", "", first).strip()
    whole = f"{read.error}: {first}" if first and not first.startswith(read.error) else read.error
    return _NUMBERS.sub("N", whole)[:160]


_FORMS: Mapping[type, str] = {
    type(None): "None",
    bool: "a bool",
    int: "an int",
    float: "a float",
    str: "a text",
    list: "a list",
    dict: "an object",
}


def _short(value: object) -> str:
    """Write a value with all its spaces, which may be the difference."""
    text = json.dumps(plain(value), ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:59]}…"
