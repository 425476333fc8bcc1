"""Print a run as text: the model of each request, the reply as it streams, retries, and the outcome."""

from __future__ import annotations

from adapters.late_dataclasses import dataclass
from adapters.running import events
from adapters.running.runs import Run, why_it_ended
from sessions.running import repeats
from workbench.output import console, json_shapes, measures, reading_text

LOADING = "loading litellm, which takes a few seconds; no clock runs meanwhile\n"


def progress(event: events.Event) -> None:
    """Show the reply on standard error as it streams, because standard output is for JSON."""
    if isinstance(event, events.ModelLoading):
        console.progress(LOADING)
    elif isinstance(event, events.ChunkReceived) and event.choice == 0:
        console.progress(event.text)


@dataclass(eq=False)
class Printer:
    """Prints the model of each request, the reply as it streams, and the reason for further requests."""

    _column: str
    _is_thinking: bool = False

    def __call__(self, event: events.Event) -> None:
        if isinstance(event, events.ModelLoading):
            console.progress(LOADING)
        elif isinstance(event, events.RequestSent):
            attempt = f", attempt {event.attempt}" if event.attempt > 1 else ""
            console.heading(f"[{self._column} → {event.model}{attempt}]", "blue")
        elif isinstance(event, events.ChunkReceived) and event.choice == 0:
            if event.reasoning:
                if not self._is_thinking:
                    console.heading("thinks:", "yellow")
                self._is_thinking = True
                console.thought(event.reasoning)
            if event.text:
                if self._is_thinking:
                    console.text("")
                    console.heading("replies:", "yellow")
                self._is_thinking = False
                console.chunk(event.text)
        elif isinstance(event, events.ToolInvoked):
            console.text("")
            console.heading(f"calls {event.name}({json_shapes.dumps(event.arguments, indent=None)})", "yellow")
            console.text(event.rendered_output)
        elif isinstance(event, events.AskedAgain):
            console.text("")
            console.heading(f"asks again (not dspy): {event.reason}", "yellow")
            for message in event.messages[-1:]:
                console.text(str(message["content"]))
        elif isinstance(event, events.ExtractionStarted | events.FallbackStarted | events.RetryStarted):
            if isinstance(event, events.ExtractionStarted):
                said = f"asks {event.model} to extract the fields, without the session's parameters (as dspy does)"
            elif isinstance(event, events.FallbackStarted):
                said = f"falls back to {event.adapter}: {event.reason}"
            else:
                said = f"tries again in {event.delay_s:g} s: {event.reason}"
            console.text("")
            console.heading(said, "yellow")


def write_outcome(head: str, outcome: Run, remark: str) -> None:
    """Print the outcome of a run, the parse result of its last reply, the cost of each call, and `remark`."""
    console.text("\n")
    for attempt in outcome.attempts[-1:]:
        for completion in attempt.completions:
            ended = why_it_ended(completion.finish_reason, completion.refusal)
            if ended:
                console.heading(f"[{head}] {ended}", "yellow")
            if outcome.cancelled:
                console.heading(f"[{head}] cancelled: this is what had arrived", "yellow")
            if completion.reading is not None:
                reading_text.write(head, completion.reading)
    for attempt in outcome.attempts:
        console.heading(measures.line(attempt) + remark, "dim")


def write_repeats(head: str, counted: repeats.Repeats) -> None:
    """Print the combined results of several runs of a column: values and errors with their counts."""
    rate = "?" if counted.parse_failure_rate is None else f"{counted.parse_failure_rate:.0%}"
    console.heading(f"[{head}] {counted.runs} runs, {counted.parse_failures} not parsed ({rate})", "blue")
    for name, values in counted.fields.items():
        for one in values:
            console.text(f"  {one.count} × {name} = {json_shapes.dumps(one.value, indent=None, ascii_only=False)}")
    for one in counted.errors:
        console.text(f"  {one.count} × {one.value}")
