"""The ladder of attempts: every call of the last run, hidden fallbacks and second stages too, then its events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from adapters.formats import catalog
from adapters.running import events
from adapters.running.runs import Attempt, Purpose, Run
from workbench.output import json_shapes, measures
from workbench.output.display import one_line
from workbench.output.measures import counted
from workbench.output.reading_text import first_line, verdict
from workbench.tui.keys.bindings import KeyWords
from workbench.tui.pages.page import LookedAt, cost_of, duration, heading, json_block, measured, named, paragraph
from workbench.tui.widgets.text.text_view import EMPTY, Block, Piece, block

LONGEST_TEXT = 2_000
MOST_EVENTS = 400


def blocks_of(at: LookedAt, raw: bool = False) -> list[Block]:
    """The last run of the column; with `raw` what was sent and what came back, as JSON."""
    run = at.run.run if at.run is not None else None
    if run is None:
        return [EMPTY, *_without_run(at, raw)]
    blocks = [EMPTY, *_summary(run, at.keys)]
    for attempt in run.attempts:
        blocks += [EMPTY, *_attempt(attempt, run)]
        if raw:
            blocks += _raw(attempt)
    if raw:
        return blocks
    blocks += heading("Events")
    return [*blocks, *_events(run)]


def _without_run(at: LookedAt, raw: bool) -> Iterable[Block]:
    if at.run is not None and at.run.phase == "running":
        return paragraph("Under way; this page shows runs that have ended.")
    if at.run is not None and at.run.error:
        payload = [*heading("Payload"), *json_block(at.run.payload)] if raw and at.run.payload is not None else []
        sign = Block((Piece("✗ ", "error"), Piece("no call was made")))
        return [sign, block(at.run.error, "error", indent=2), *payload]
    recorded = at.case.measured.get(at.column.id, ())
    if not recorded:
        said = "Nothing was sent from here yet: {app.send_all|F5} sends every column, {app.send_column|F8} this one."
        return paragraph(at.keys(said), "note")
    lines = [
        named(f"call {number}", measured(one.duration_ms or 0.0, one.usage, one.cost))
        for number, one in enumerate(recorded, 1)
    ]
    return [*paragraph("Not sent since the app started. Recorded calls:", "note"), *lines]


def _summary(run: Run, keys: KeyWords) -> list[Block]:
    total = sum(one.duration_ms for one in run.attempts)
    costs = [one.cost for one in run.attempts]
    cost = cost_of(None if None in costs else sum(one for one in costs if one is not None))
    calls = f"{counted(len(run.attempts), 'call')}, {duration(total)}, {cost}"
    if run.ok:
        return [Block((Piece("✓ ", "ok"), Piece(calls)))]
    why = f"{run.error.phase}: {first_line(run.error.message)}" if run.error is not None else "cancelled"
    has_payload = any(one.payload is not None for one in run.attempts)
    more = [block(keys("{pages.view|v} shows what the provider sent"), "note", indent=2)] if has_payload else []
    return [Block((Piece("✗ ", "error"), Piece(calls))), block(why, "error", indent=2), *more]


def _attempt(attempt: Attempt, run: Run) -> Iterable[Block]:
    title = f"{attempt.number}  {catalog.title(attempt.adapter)} → {attempt.model}"
    yield Block((Piece(title, "title"), Piece(f"   {_role(attempt, run)}", "note")))
    counts = f"{duration(attempt.duration_ms)} · {measures.token_counts(attempt)} · {cost_of(attempt.cost)}"
    yield named("measured", counts)
    if attempt.error:
        yield named("failed", (attempt.error, "error"))
    for completion in attempt.completions:
        how = completion.finish_reason or "the model did not say"
        yield named("ended", how)
        if completion.refusal:
            yield named("refused", (one_line(completion.refusal, LONGEST_TEXT), "error"))
        if completion.reading is not None:
            sign = ("✓ ", "ok") if completion.reading.ok else ("✗ ", "error")
            yield named("read", sign, verdict(completion.reading))
        if completion.reasoning:
            yield named("reasoning", one_line(completion.reasoning, LONGEST_TEXT))
        for call in completion.tool_calls:
            yield named("tool call", json_shapes.dumps(dict(call), indent=None, ascii_only=False))
        yield named("reply", (one_line(completion.text, LONGEST_TEXT) or "(empty)", "value"))
    # The tools that this call's reply asked for, and what the model was told
    for event in run.events:
        if event.attempt != attempt.number or not isinstance(event, events.ToolInvoked):
            continue
        arguments = json_shapes.dumps(event.arguments, indent=None, ascii_only=False)
        yield named("calls", (one_line(event.name, 60), "name"), (f"({one_line(arguments, LONGEST_TEXT)})", "value"))
        style = "value" if event.result.success and not event.rolled_back else "error"
        undone = (" what it changed was undone", "error") if event.rolled_back else ("", "note")
        took = (f"   {duration(event.duration_ms)}", "note")
        yield named("  is told", (one_line(event.rendered_output, LONGEST_TEXT) or "(nothing)", style), took, undone)


def _role(attempt: Attempt, run: Run) -> str:
    for event in run.events:
        if event.attempt == attempt.number and isinstance(event, events.FallbackStarted):
            return f"a fallback: {first_line(event.reason)}"
        if event.attempt == attempt.number and isinstance(event, events.RetryStarted):
            return f"made again: {first_line(event.reason)}"
    return ROLES[attempt.purpose]


ROLES: Mapping[Purpose, str] = {
    "first": "the first call",
    "retry": "made again",
    "tools": "goes on with the tools' results",
    "fallback": "a fallback",
    "extraction": "the second stage: takes the fields out of the prose",
}


def _raw(attempt: Attempt) -> list[Block]:
    came_back = {"error": attempt.error, "payload": attempt.payload, "raw": attempt.raw, "usage": attempt.usage}
    texts = [{"text": one.text, "tool_calls": one.tool_calls} for one in attempt.completions]
    known = {key: value for key, value in came_back.items() if value is not None}
    return [
        *heading(f"Sent, call {attempt.number}"),
        *json_block(attempt.request),
        *heading(f"Came back, call {attempt.number}"),
        *json_block({**known, "completions": texts}),
    ]


def _events(run: Run) -> Iterable[Block]:
    chunks = 0
    shown = 0
    for event in run.events:
        if isinstance(event, events.ChunkReceived):
            chunks += 1
            continue
        if chunks:
            yield named("", (f"{counted(chunks, 'piece')} arrived", "note"))
            chunks = 0
        shown += 1
        if shown > MOST_EVENTS:
            yield block("…", "note", indent=2)
            return
        yield named(f"{event.at * 1000:9,.0f} ms", (f"{event.kind:<17}", "name"), _detail(event), width=12)


def _detail(event: events.Event) -> str:
    said = ""
    if isinstance(event, events.PromptRendered):
        said = f"{counted(len(event.prompt.messages), 'message')} by {catalog.title(event.adapter)}"
    elif isinstance(event, events.RequestSent):
        said = f"to {event.model}"
    elif isinstance(event, events.ResponseReceived):
        said = measured(event.duration_ms, event.usage, event.cost)
    elif isinstance(event, events.ReplyRead):
        said = verdict(event.reading) if event.reading is not None else "nothing to read"
    elif isinstance(event, events.FallbackStarted):
        said = f"{catalog.title(event.adapter)}, because {first_line(event.reason)}"
    elif isinstance(event, events.ExtractionStarted):
        said = f"by {event.model}"
    elif isinstance(event, events.RetryStarted):
        said = f"in {event.delay_s:g} s, because {first_line(event.reason)}"
    elif isinstance(event, events.ToolInvoked):
        said = f"{event.name}: {'answered' if event.result.success else first_line(event.rendered_output)}"
    elif isinstance(event, events.Failed):
        said = f"{event.phase}: {first_line(event.message)}"
    return f"  {one_line(said, 400)}" if said else ""
