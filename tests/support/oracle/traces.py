"""What must hold of every reading and every prompt, whatever the adapter."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, get_args

from adapters.prompts.text import KINDS, Prompt, Text
from adapters.replies.reading import FieldReading, Reading, SpanKind
from adapters.values.coercion import apply
from adapters.values.plain_json import Step
from oracle.outcomes import difference

SPAN_KINDS = get_args(SpanKind)


def reading_faults(reading: Reading) -> Iterator[str]:
    """Every way in which a reading breaks its promises; none for a good one."""
    yield from span_faults(reading)
    outputs = list(reading.signature.output_fields)
    if list(reading.fields) != outputs:
        yield f"fields {list(reading.fields)} are not the outputs {outputs}"
    if reading.extraction is not None:  # the fields stand in the other text
        yield from (f"extraction: {fault}" for fault in reading_faults(reading.extraction))
    elif reading.adapter != "custom":  # a user's parser tells neither places nor steps
        for field in reading.fields.values():
            yield from field_faults(reading, field)
    if reading.error is None:
        if reading.exception is not None:
            yield "an exception without an error"
        return
    error = reading.error
    if reading.exception is not None and type(reading.exception).__name__ != error.type:
        yield f"error type {error.type} for {reading.exception!r}"
    if reading.values:
        yield f"values {reading.values!r} of a reply that was not read"
    if error.start is not None and not 0 <= error.start <= (error.end or error.start) <= len(reading.completion):
        yield f"the error stands at {error.start}–{error.end} of {len(reading.completion)}"


def span_faults(reading: Reading) -> Iterator[str]:
    """The spans partition the reply: from 0 to its length, without gap, overlap or empty span."""
    position = 0
    for span in reading.spans:
        if span.start != position or span.end <= span.start:
            yield f"span {span} does not continue at {position}"
        if span.kind not in SPAN_KINDS:
            yield f"span of unknown kind {span.kind}"
        if span.field is not None and span.field not in reading.signature.output_fields:
            yield f"span {span} of no output field"
        position = span.end
    if position != len(reading.completion):
        yield f"spans end at {position} of {len(reading.completion)}"


def field_faults(reading: Reading, field: FieldReading) -> Iterator[str]:
    """`raw` is what its spans cover, the steps chain and replay, the last one is the value."""
    taken = [span for span in reading.spans if span.field == field.name and span.kind in ("value", "repaired")]
    at = f"field {field.name}"
    if field.raw is not None and taken and field.raw != reading.completion[taken[0].start : taken[-1].end]:
        yield f"{at}: raw {field.raw!r} is not its spans {reading.completion[taken[0].start : taken[-1].end]!r}"
    if field.raw is None and taken:
        yield f"{at}: spans {taken} but no raw"
    if field.raw and not taken:
        yield f"{at}: raw {field.raw[:40]!r} but no span"
    if field.state == "default" and field.raw is not None:
        yield f"{at}: a default with raw text"
    if reading.ok and field.state in ("read", "default") and field.name in reading.values:
        found = difference(reading.values[field.name], field.value)
        if found:
            yield f"{at}: value {found}"
    for before, after in zip(field.steps, field.steps[1:], strict=False):
        found = difference(before.after, after.before)
        if found:
            yield f"{at}: {before.rule} does not chain to {after.rule}: {found}"
    for step in field.steps:
        found = replay_fault(step, reading.signature.output_fields[field.name].annotation)
        if found:
            yield f"{at}: {found}"
    if field.state in ("read", "default"):
        last = field.steps[-1].after if field.steps else field.raw
        found = difference(field.value, last)
        if found:
            yield f"{at}: the last step is not the value: {found}"
    if field.steps and field.raw is not None and not field.steps[0].path:
        first = field.steps[0].before
        if first not in (field.raw, reading.completion):
            yield f"{at}: the first step starts from {first!r}, not from {field.raw!r}"


def replay_fault(step: Step, annotation: Any) -> str | None:
    try:
        made = apply(step.rule, deepcopy(step.before), annotation)
        made = made[step.path] if step.path else made
    except Exception as error:
        return f"{step.rule} does not replay: {type(error).__name__}: {error}"
    found = difference(step.after, made)
    return f"{step.rule} replays differently: {found}" if found else None


def prompt_faults(prompt: Prompt) -> Iterator[str]:
    """Segments joined are the text of every message, and each is of a known kind."""
    for index, message in enumerate(prompt.messages):
        texts = [part for part in message.parts if isinstance(part, Text)]
        if "".join(segment.text for segment in message.segments) != "".join(str(text) for text in texts):
            yield f"message {index}: segments joined are not its text"
        for text in texts:
            if "".join(segment.text for segment in text.segments) != str(text):
                yield f"message {index}: segments of a part are not its text"
        if any(segment.kind not in KINDS or not segment.text for segment in message.segments):
            yield f"message {index}: a segment is empty or of no known kind"
        content = message.content
        written = (
            "".join(part["text"] for part in content if part.get("type") == "text")
            if isinstance(content, list)
            else content
        )
        if texts and written != str(message.text) and not any(not isinstance(part, Text) for part in message.parts):
            yield f"message {index}: content is not its text"


def pieces_not_of(prompt: Prompt, field: str) -> list[tuple[str, str, str | None, str]]:
    """All segments but those of one field, with the message they stand in."""
    return [
        (segment.text, segment.kind, segment.field, message.turn)
        for message in prompt.messages
        for segment in message.segments
        if segment.field != field
    ]
