"""Judge whether another release of dspy renders and parses a fixture as recorded (verdict `upstream`).

Messages made elsewhere, by a release or in a recording, are labelled with the origins of ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from adapters.late_dataclasses import replace
from adapters.prompts.text import DataPart, Message, Segment, Text, prompt_of_dicts
from sessions.checking import differences
from sessions.checking.verdicts import Drift, Word
from sessions.file.typed_values import same
from sessions.model.replies import RecordedAttempt, RecordedReading
from sessions.model.session import Case, Column, Session
from sessions.releases.engine import Question, ReleaseError, ReleaseReading
from sessions.releases.release import Release
from sessions.running import recording, rendering
from sessions.text_diff import opcodes, stretches

_SCHEMA = re.compile(r'\{\\*"(type|\$defs|properties|anyOf)')
"""The start of a JSON schema, possibly escaped in a JSON string."""
UNKNOWN = "another message"
"""The turn of a message without a counterpart in ours."""


def check(dspy: Release, session: Session, case: Case, column: Column) -> tuple[Word, tuple[Drift, ...]]:
    """Return the verdict of `dspy` on a column of a case; `empty` if `why_not` gives a reason."""
    recorded = case.recordings.get(column.id)
    if recorded is None or why_not(dspy, session, case, column):
        return "empty", ()
    attempts = [one for one in recorded.attempts if one.role != "extraction"]
    capabilities = recording.capabilities_in_force(recorded, session.model_of(column))
    drift: list[Drift] = []
    for number, attempt in enumerate(attempts or [RecordedAttempt(column.adapter)]):
        adapter = attempt.adapter if attempt.role == "fallback" else ""
        try:
            call = dspy.call(Question(session, case, column, capabilities, attempt.completions, adapter))
        except ReleaseError as error:
            return "error", (Drift("upstream", "upstream", error.message),)
        request = attempt.request
        asked = recorded.request if request is None else request
        old = {name: asked[name] for name in sorted(asked) if name not in ("messages", "model")}
        new = {name: call.request[name] for name in sorted(call.request)}
        drift += differences.values_drift("upstream", "request", old, new, f"{dspy.name}: parameter")
        before = [dict(one) for one in (recorded.messages if request is None else request["messages"])]
        after = [dict(one) for one in call.messages]
        if not same(before, after):
            own = replace(column, adapter=adapter, options={}) if adapter else column
            own_messages = rendering.own_messages(session, own, case, capabilities)
            ours = add_origins(before, own_messages, "the recorded prompt")
            found = differences.messages_drift(after, ours, before, dspy.name)
            drift += found or [Drift("upstream", "messages", f"{dspy.name} makes other messages")]
        for index, (completion, read) in enumerate(zip(attempt.completions, call.readings, strict=True)):
            if completion.reading is not None:
                place = f"attempts[{number}].completions[{index}]"
                drift += _reading_drift(dspy, place, completion.reading, read)
    return ("drift" if drift else "pass"), tuple(drift)


def why_not(dspy: Release, session: Session, case: Case, column: Column) -> str:
    """Return why a dspy cannot judge this fixture, as a sentence; "" if it can."""
    why = "nothing is recorded" if column.id not in case.recordings else dspy.why_not(session, column)
    return f"{dspy.name} was not asked: {why}" if why else ""


def _reading_drift(dspy: Release, place: str, before: RecordedReading, after: ReleaseReading) -> list[Drift]:
    if before.ok is not after.ok:
        said = "reads the reply" if after.ok else f"does not parse the reply ({after.why})"
        return [Drift("upstream", place, f"{dspy.name} {said}", (), (), before.ok, after.ok)]
    if not after.ok:
        return []
    return differences.values_drift("upstream", f"{place}.values", before.values, after.values, f"{dspy.name}: value")


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
