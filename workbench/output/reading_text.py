"""Print a parse result as text: verdict, values, steps, flags, and every piece of the reply."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from adapters.replies.reading import NearMiss, Reading
from adapters.replies.streaming import StreamedField
from workbench.output import console, json_shapes
from workbench.output.display import value_text


def write(head: str, reading: Reading) -> None:
    """Print a column's parse result."""
    console.heading(f"[{head}] {verdict(reading)}", "green" if reading.ok else "red")
    for field in reading.fields.values():
        if field.state in ("read", "default", "native"):
            origin = "" if field.state == "read" else f" ({field.state})"
            probability = reading.probability(field.name)
            told = "" if probability is None else f"  (its tokens: probability {probability:.3g})"
            console.text(f"  {field.name} = {short(field.value)}{origin}{told}")
        else:
            reason = f": {first_line(field.error)}" if field.error else ""
            console.text(f"  {field.name} {field.state}{reason}")
        for step in field.steps:
            note = f"  ({step.note})" if step.note else ""
            path = f" at {step.path}" if step.path else ""
            console.text(f"      {step.rule}{path}: {short(step.before, 40)} → {short(step.after, 40)}{note}")
        for flag in reading.flags:
            if flag.field == field.name:
                console.text(f"      ! {flag.message}")
    for flag in reading.flags:
        if flag.field is None:
            console.text(f"  ! {flag.message}")
    for miss in reading.near_misses:
        console.text(f"  ? {miss.message}\n    → {would_parse_as(miss)}")
    said = {flag.message for flag in reading.flags}
    for cause in reading.diagnosis:
        if cause.message not in said:
            console.text(f"  cause: {cause.message}")
    for message in reading.fix_messages:
        console.text(f"  fix: {message}")
    for line in reading.bug_report.splitlines():
        console.text(f"  | {line}")
    if reading.spans:
        console.text("  the reply, piece by piece:")
    line_number, line_start = 1, 0
    for span in reading.spans:
        piece = reading.completion[span.start : span.end]
        label = f"{span.kind} {span.field}" if span.field else span.kind
        console.text(f"    {line_number}:{span.start - line_start + 1:<4} {label:<24} {short(piece, 80)}")
        if "\n" in piece:
            line_number += piece.count("\n")
            line_start = span.start + piece.rfind("\n") + 1
    if reading.extraction is not None:
        write(f"{head}: extraction", reading.extraction)
    console.text("")


def would_parse_as(miss: NearMiss) -> str:
    """Describe the values of a near miss."""
    read = miss.reading.values if miss.reading.ok else miss.reading.salvage
    outcome = ", ".join(f"{name} = {value_text(value)}" for name, value in read.items())
    if not miss.message.endswith((" parses as", " parse as")):
        outcome = f"with this fix it parses as {outcome}" if read else "with this fix it still does not parse"
    return outcome if miss.reading.ok else f"{outcome} ({len(read)} of {len(miss.reading.fields)} outputs)"


def write_stream(reading: Reading, fields: Sequence[StreamedField] | None, chunks: int) -> None:
    """Print what a dspy listener on each output emits, when it knows the end, and what it never emits."""
    if fields is None:
        console.text(f"  dspy has no streaming for {reading.adapter}: StreamListener raises ValueError\n")
        return
    for field in fields:
        console.text(f"  stream of {field.field}: {stream_summary(field, chunks)}")
        for one in field.emitted:
            place = "the end" if one.at is None else f"chunk {one.at + 1}"
            console.text(f"    {place}: {short(one.chunk)}{' (last)' if one.is_last else ''}")
        for said in stream_losses(field, reading):
            console.text(f"    ! {said}")
    console.text("")


def stream_summary(field: StreamedField, chunks: int) -> str:
    """Describe how many chunks cause an output, and when the end of the field is known."""
    end = f"ends with chunk {field.ended_at + 1}" if field.ended_at is not None else "ends with the stream"
    return f"{len(field.emitted)} of {chunks} chunks, {end}"


def stream_losses(field: StreamedField, reading: Reading) -> Iterator[str]:
    """Describe the text of a field that a listener never emits, and other text that it does emit."""
    raw = reading.fields[field.field].raw
    if field.is_in_a_chunk:
        yield "never emitted: one chunk contains the whole field, which dspy takes for a cached reply"
    elif raw is not None:
        lost, extra = field.compared(raw)
        if lost:
            yield f"never emitted: {short(lost)}"
        if extra:
            yield f"emitted, though not of this field: {short(extra)}"


def raised_by(reading: Reading) -> str:
    """Name the source of a parse error: dspy, an adapter that dspy lacks, or a limit of the workbench."""
    from adapters.formats import catalog
    from adapters.json_text.repair_limits import TooLargeError

    if isinstance(reading.exception, TooLargeError):
        return "this project"
    return "dspy" if catalog.dspy_class(reading.adapter) is not None else f"{catalog.title(reading.adapter)}Adapter"


def verdict(reading: Reading) -> str:
    """Return `parsed` (uncertain if code of a type was not run), or the error with line and column if known."""
    error = reading.error
    if error is None:
        return f"parsed, uncertain: {', '.join(reading.uncertain)}" if reading.uncertain else "parsed"
    place = ""
    if error.start is not None:
        line, column = reading.line_and_column(error.start)
        place = f" at line {line}, column {column}"
    field = f", field {error.field}" if error.field else ""
    return f"not parsed{place}{field}: {error.type}: {first_line(error.message)}"


def first_line(message: str) -> str:
    return next((line.strip() for line in message.splitlines() if line.strip()), "")


def short(value: object, width: int = 100) -> str:
    """Write a value as a line of JSON of at most `width` characters."""
    text = json_shapes.dumps(value, indent=None, ascii_only=False)
    return text if len(text) <= width else text[: width - 1] + "…"
