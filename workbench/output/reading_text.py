"""Print runs and parse results as text.

A parse result has its verdict, values, steps, flags and every piece of the reply. A run has the model of each request,
the reply as it streams, and retries.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from adapters.replies.reading import FieldReading, NearMiss, Reading
from adapters.replies.streaming import StreamedField
from adapters.running.events import (
    AskedAgain,
    ChunkReceived,
    Event,
    ExtractionStarted,
    FallbackStarted,
    ModelLoading,
    RequestSent,
    RetryStarted,
    ToolInvoked,
)
from adapters.running.runs import Run, why_it_ended
from sessions.running import repeats
from workbench.output import command_output, json_shapes, measures
from workbench.output.display import value_text


def write(head: str, reading: Reading) -> None:
    """Print a column's parse result."""
    command_output.heading(f"[{head}] {verdict(reading)}", "green" if reading.ok else "red")
    for field in reading.fields.values():
        _write_field(field, reading)
    for flag in reading.flags:
        if flag.field is None:
            command_output.text(f"  ! {flag.message}")
    for miss in reading.near_misses:
        command_output.text(f"  ? {miss.message}\n    → {would_parse_as(miss)}")
    said = {flag.message for flag in reading.flags}
    for cause in reading.diagnosis:
        if cause.message not in said:
            command_output.text(f"  cause: {cause.message}")
    for message in reading.fix_messages:
        command_output.text(f"  fix: {message}")
    for line in reading.bug_report.splitlines():
        command_output.text(f"  | {line}")
    _write_spans(reading)
    if reading.extraction is not None:
        write(f"{head}: extraction", reading.extraction)
    command_output.text("")


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
        command_output.text(f"  dspy has no streaming for {reading.adapter}: StreamListener raises ValueError\n")
        return
    for field in fields:
        command_output.text(f"  stream of {field.field}: {stream_summary(field, chunks)}")
        for one in field.emitted:
            place = "the end" if one.at is None else f"chunk {one.at + 1}"
            command_output.text(f"    {place}: {short(one.chunk)}{' (last)' if one.is_last else ''}")
        for said in stream_losses(field, reading):
            command_output.text(f"    ! {said}")
    command_output.text("")


def stream_summary(field: StreamedField, chunks: int) -> str:
    """Describe how many chunks cause an output, and when the end of the field is known."""
    end = f"ends with chunk {field.ended_at + 1}" if field.ended_at is not None else "ends with the stream"
    return f"{len(field.emitted)} of {chunks} chunks, {end}"


def stream_losses(field: StreamedField, reading: Reading) -> Iterator[str]:
    """Describe the text of a field that a listener never emits, and other text that it does emit."""
    raw = reading.fields[field.field].raw
    if field.is_in_a_chunk:
        yield "never emitted: one chunk holds the whole field, a cached reply to dspy"
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


def _write_field(field: FieldReading, reading: Reading) -> None:
    if field.state in ("read", "default", "native"):
        origin = "" if field.state == "read" else f" ({field.state})"
        probability = reading.probability(field.name)
        told = "" if probability is None else f"  (its tokens: probability {probability:.3g})"
        command_output.text(f"  {field.name} = {short(field.value)}{origin}{told}")
    else:
        reason = f": {first_line(field.error)}" if field.error else ""
        command_output.text(f"  {field.name} {field.state}{reason}")
    for step in field.steps:
        note = f"  ({step.note})" if step.note else ""
        path = f" at {step.path}" if step.path else ""
        command_output.text(f"      {step.rule}{path}: {short(step.before, 40)} → {short(step.after, 40)}{note}")
    for flag in reading.flags:
        if flag.field == field.name:
            command_output.text(f"      ! {flag.message}")


def _write_spans(reading: Reading) -> None:
    command_output.text("  the reply, piece by piece:")
    line, line_start = 1, 0
    for span in reading.spans:
        piece = reading.completion[span.start : span.end]
        label = f"{span.kind} {span.field}" if span.field else span.kind
        command_output.text(f"    {line}:{span.start - line_start + 1:<4} {label:<24} {short(piece, 80)}")
        if "\n" in piece:
            line += piece.count("\n")
            line_start = span.start + piece.rfind("\n") + 1


LOADING = "loading litellm, which takes a few seconds; no clock runs meanwhile\n"


def progress(event: Event) -> None:
    """Show the reply on standard error as it streams, because standard output is for JSON."""
    if isinstance(event, ModelLoading):
        command_output.progress(LOADING)
    elif isinstance(event, ChunkReceived) and event.choice == 0:
        command_output.progress(event.text)


class Printer:
    """Prints the model of each request, the reply as it streams, and the reason for further requests."""

    def __init__(self, column: str) -> None:
        self._column = column
        self._is_thinking = False

    def __call__(self, event: Event) -> None:
        if isinstance(event, ModelLoading):
            command_output.progress(LOADING)
        elif isinstance(event, RequestSent):
            attempt = f", attempt {event.attempt}" if event.attempt > 1 else ""
            command_output.heading(f"[{self._column} → {event.model}{attempt}]", "blue")
        elif isinstance(event, ChunkReceived) and event.choice == 0:
            self._show(event)
        elif isinstance(event, ToolInvoked):
            command_output.text("")
            command_output.heading(f"calls {event.name}({json_shapes.dumps(event.arguments, indent=None)})", "yellow")
            command_output.text(event.rendered_output)
        elif isinstance(event, AskedAgain):
            command_output.text("")
            command_output.heading(f"asks again (not dspy): {event.reason}", "yellow")
            for message in event.messages[-1:]:
                command_output.text(str(message["content"]))
        elif isinstance(event, ExtractionStarted | FallbackStarted | RetryStarted):
            command_output.text("")
            command_output.heading(_why_again(event), "yellow")

    def _show(self, event: ChunkReceived) -> None:
        if event.reasoning:
            self._is_thinking = True
            command_output.thought(event.reasoning)
        if event.text:
            if self._is_thinking:
                command_output.text("\n")
            self._is_thinking = False
            command_output.chunk(event.text)


def _why_again(event: ExtractionStarted | FallbackStarted | RetryStarted) -> str:
    if isinstance(event, ExtractionStarted):
        return f"asks {event.model} to extract the fields, without the session's parameters (as dspy does)"
    if isinstance(event, FallbackStarted):
        return f"falls back to {event.adapter}: {event.reason}"
    return f"tries again in {event.delay_s:g} s: {event.reason}"


def write_outcome(head: str, outcome: Run, remark: str) -> None:
    """Print the outcome of a run, the parse result of its last reply, the cost of each call, and `remark`."""
    command_output.text("\n")
    for attempt in outcome.attempts[-1:]:
        for completion in attempt.completions:
            ended = why_it_ended(completion.finish_reason, completion.refusal)
            if ended:
                command_output.heading(f"[{head}] {ended}", "yellow")
            if outcome.cancelled:
                command_output.heading(f"[{head}] cancelled: this is what had arrived", "yellow")
            if completion.reading is not None:
                write(head, completion.reading)
    for attempt in outcome.attempts:
        command_output.heading(measures.line(attempt) + remark, "dim")


def write_repeats(head: str, counted: repeats.Repeats) -> None:
    """Print the combined results of several runs of a column: values and errors with their counts."""
    rate = "?" if counted.parse_failure_rate is None else f"{counted.parse_failure_rate:.0%}"
    command_output.heading(f"[{head}] {counted.runs} runs, {counted.parse_failures} not parsed ({rate})", "blue")
    for name, values in counted.fields.items():
        for one in values:
            command_output.text(
                f"  {one.count} × {name} = {json_shapes.dumps(one.value, indent=None, ascii_only=False)}"
            )
    for one in counted.errors:
        command_output.text(f"  {one.count} × {one.value}")
