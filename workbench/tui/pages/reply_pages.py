"""The pages Calls, Repeats, Reply × parser and Stream.

Calls lists every call of the last run, including hidden calls; Repeats counts the values of several runs. Reply ×
parser shows what each parser makes of a reply, and Stream what dspy emits while it streams.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

from adapters.formats import catalog
from adapters.lm.secrets import Scrubber
from adapters.replies import streaming
from adapters.replies.reading import MOST_FIXES, Reading
from adapters.running import events
from adapters.running.runs import Attempt, Purpose, Run
from sessions.errors import counted
from sessions.running.repeats import Counted, Repeats
from workbench.lessons import reply_lesson
from workbench.output import json_shapes, measures
from workbench.output.display import one_line, value_text
from workbench.output.reading_text import first_line, short, stream_losses, stream_summary, verdict
from workbench.state.document import RenderedColumn
from workbench.tui.pages.page import LookedAt, duration, heading, json_block, measured, named, paragraph, table
from workbench.tui.widgets.text.text_view import EMPTY, Block, Piece, block

LONGEST_TEXT = 2_000
MOST_EVENTS = 400


def call_blocks(at: LookedAt, raw: bool = False) -> list[Block]:
    """Show the column's last run; with `raw` its requests and responses as JSON."""
    run = at.run.run if at.run is not None else None
    if run is None:
        return [EMPTY, *_no_run(at, raw)]
    total, cost = sum(one.duration_ms for one in run.attempts), measures.total_cost(run.attempts)
    billed = "nothing billed" if cost == 0 and not run.ok else measures.cost(cost)
    calls = f"{counted(len(run.attempts), 'call')}, {duration(total)}, {billed}"
    sign = Piece("✓ ", "ok") if run.ok else Piece("✗ ", "error")
    blocks = [EMPTY, Block((sign, Piece(calls)))]
    if not run.ok:
        why = f"{run.error.phase}: {first_line(run.error.message)}" if run.error is not None else "cancelled"
        blocks.append(block(why, "error", indent=2))
    if not run.ok and any(one.payload is not None for one in run.attempts):
        blocks.append(block(at.keys("{pages.view|v} shows what the provider sent"), "note", indent=2))
    for attempt in run.attempts:
        blocks += [EMPTY, *_attempt(attempt, run)]
        if raw:
            came_back = {"error": attempt.error, "payload": attempt.payload, "raw": attempt.raw, "usage": attempt.usage}
            texts = [{"text": one.text, "tool_calls": one.tool_calls} for one in attempt.completions]
            known = {key: value for key, value in came_back.items() if value is not None}
            blocks += [
                *heading(f"Sent, call {attempt.number}"),
                *json_block(attempt.request),
                *heading(f"Came back, call {attempt.number}"),
                *json_block({**known, "completions": texts}),
            ]
    if raw:
        return blocks
    blocks += heading("Events")
    return [*blocks, *_events(run)]


def _no_run(at: LookedAt, raw: bool) -> Iterable[Block]:
    if at.run is not None and at.run.phase == "running":
        return paragraph("Under way; this page shows runs that have ended.")
    if at.run is not None and at.run.error:
        payload = [*heading("Payload"), *json_block(at.run.payload)] if raw and at.run.payload is not None else []
        sign = Block((Piece("✗ ", "error"), Piece("no call was made")))
        return [sign, block(at.run.error, "error", indent=2), *payload]
    recorded = at.case.measured.get(at.column.id, ())
    if not recorded and at.sent is not None:
        said = "This reply was edited or pasted after the last call, which {app.past_runs|shift+F7} lists."
        return paragraph(at.keys(said), "note")
    if not recorded:
        said = "Nothing was sent from here yet: {app.send_all|F5} sends every column, {app.send_column|F8} this one."
        return paragraph(at.keys(said), "note")
    lines = [
        named(f"call {number}", measured(one.duration_ms or 0.0, one.usage, one.cost))
        for number, one in enumerate(recorded, 1)
    ]
    return [*paragraph("Not sent since the app started. Recorded calls:", "note"), *lines]


def _attempt(attempt: Attempt, run: Run) -> Iterable[Block]:
    title = f"{attempt.number}  {catalog.title(attempt.adapter)} → {attempt.model}"
    role = ROLES[attempt.purpose]
    for event in run.events:
        if event.attempt == attempt.number and isinstance(event, events.RetryStarted | events.FallbackStarted):
            kind = "retry" if isinstance(event, events.RetryStarted) else "fallback"
            role = f"a {kind}: {first_line(event.reason)}"
            break
        if event.attempt == attempt.number and isinstance(event, events.AskedAgain):
            role = f"{ROLES['again']}: {first_line(event.reason)}"
            break
    yield Block((Piece(title, "title"), Piece(f"   {role}", "note")))
    yield named("measured", f"{duration(attempt.duration_ms)} · {measures.billed(attempt)}")
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
        for name, given in (("tool call", completion.tool_calls), ("cites", completion.citations)):
            for one in given:
                yield named(name, json_shapes.dumps(one, indent=None, ascii_only=False))
        yield named("reply", (one_line(completion.text, LONGEST_TEXT) or "(empty)", "value"))
    # The tool calls of this reply, and their results as sent to the model
    for event in run.events:
        if event.attempt != attempt.number or not isinstance(event, events.ToolInvoked):
            continue
        arguments = json_shapes.dumps(event.arguments, indent=None, ascii_only=False)
        yield named("calls", (one_line(event.name, 60), "name"), (f"({one_line(arguments, LONGEST_TEXT)})", "value"))
        style = "value" if event.result.success and not event.rolled_back else "error"
        undone = (" what it changed was undone", "error") if event.rolled_back else ("", "note")
        took = (f"   {duration(event.duration_ms)}", "note")
        yield named("  is told", (one_line(event.rendered_output, LONGEST_TEXT) or "(nothing)", style), took, undone)


ROLES: Mapping[Purpose, str] = {
    "first": "the first call",
    "retry": "a retry",
    "tools": "continues with the tools' results",
    "fallback": "a fallback",
    "again": "asked again with the error, which dspy does not do",
    "extraction": "the second stage: extracts the fields from the prose",
}


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
        is_counted = event.usage or event.cost is not None
        said = measured(event.duration_ms, event.usage, event.cost) if is_counted else duration(event.duration_ms)
    elif isinstance(event, events.ReplyRead):
        said = verdict(event.reading) if event.reading is not None else "nothing to read"
    elif isinstance(event, events.FallbackStarted):
        said = f"{catalog.title(event.adapter)}, because {first_line(event.reason)}"
    elif isinstance(event, events.AskedAgain):
        said = f"because {first_line(event.reason)}"
    elif isinstance(event, events.ExtractionStarted):
        said = f"by {event.model}"
    elif isinstance(event, events.RetryStarted):
        said = f"in {event.delay_s:g} s, because {first_line(event.reason)}"
    elif isinstance(event, events.ToolInvoked):
        said = f"{event.name}: {'answered' if event.result.success else first_line(event.rendered_output)}"
    elif isinstance(event, events.Failed):
        said = f"{event.phase}: {first_line(event.message)}"
    return f"  {one_line(said, 400)}" if said else ""


MOST_VALUES = 40
LONGEST_COUNTED = 400


def repeat_blocks(at: LookedAt) -> list[Block]:
    """Show the column's repeats, then a summary of all columns with repeats."""
    repeats = at.run.repeats if at.run is not None else None
    blocks = [EMPTY]
    if repeats is None:
        under_way = at.run is not None and at.run.times > 1
        said = "Under way; this page shows them when they have ended." if under_way else at.keys(_HOW)
        blocks += paragraph(said, "note")
    else:
        values = f"{len(repeats.values)} different" if repeats.values else "none"
        blocks += [named("runs", str(repeats.runs)), named("answered", str(repeats.answered))]
        blocks += [named("not parsed", f"{repeats.parse_failures}{_rate(repeats)}"), named("values", values)]
        for name, found in repeats.fields.items():
            blocks += [*heading(name), *_values(found)]
        if repeats.errors:
            blocks += [*heading("Failed"), *_values(repeats.errors, "error")]
    rows: list[list[tuple[str, str]]] = []
    for rendered in at.columns:
        run = at.runs.get(rendered.column.id)
        if run is not None and run.repeats is not None:
            of, repeats = rendered.column.id, run.repeats
            tone = "error" if repeats.parse_failures else "ok"
            failed = sum(one.count for one in repeats.errors)
            rows.append(
                [
                    (of, "name"),
                    (counted(repeats.runs, "run"), "text"),
                    (f"{repeats.parse_failures} not parsed{_rate(repeats)}", tone),
                    (f"{len(repeats.values)} different", "text"),
                    (f"{failed} failed", "note"),
                ]
            )
    return [*blocks, *heading("Columns"), *table(rows)] if len(rows) > 1 else blocks


_HOW = "This column was not sent several times: {app.send_otherwise|shift+F5} asks how often."


def _values(values: Sequence[Counted], style: str = "value") -> Iterable[Block]:
    for one in values[:MOST_VALUES]:
        text = Scrubber().scrubbed(str(one.value)) if style == "error" else value_text(one.value)
        yield named(f"{one.count} ×", (one_line(text, LONGEST_COUNTED), style), width=8)
    if len(values) > MOST_VALUES:
        yield named("", (f"… {len(values) - MOST_VALUES} more", "note"), width=8)


def _rate(counted: Repeats) -> str:
    rate = counted.parse_failure_rate
    return "" if rate is None else f" ({rate:.0%})"


LONGEST_VALUE = 200


def parser_blocks(at: LookedAt) -> list[Block]:
    """Show the matrix, then each parser's result for this column's reply."""
    with_reply = [one for one in at.columns if one.text and one.request is not None]
    if not with_reply:
        said = "There are no replies yet: {app.send_all|F5} sends, or paste one below a prompt."
        return [EMPTY, *paragraph(at.keys(said), "note")]
    parsers = reply_lesson.parsers_for([one.column.adapter for one in at.columns])
    rows = [[("reply of", "note"), *[(catalog.title(name), "note") for name in parsers]]]
    for one in with_reply:
        row = [(one.column.id, "key")]
        for name in parsers:
            reading = reading_by(one, name)
            tone = "note"
            if reading is not None and not reply_lesson.is_waiting(reading):
                tone = "ok" if reading.ok else "error"
            row.append((reply_lesson.words_of(reading, name == one.column.adapter), tone))
        rows.append(row)
    targets = ["", *[target_of(one.column.id) for one in with_reply]]
    blocks = [
        EMPTY,
        *paragraph(
            at.keys(
                "Each reply parsed by every adapter, without a call: ✓ it parses, ✗ a parse error; the number counts "
                "the outputs found. {text.choose|enter} goes to the reply."
            )
        ),
        *table(rows, targets, widest=24),
    ]
    chosen = at.rendered if at.rendered in with_reply else with_reply[0]
    blocks += heading(f"The reply of {one_line(chosen.column.id, 30)}")
    for name in parsers:
        blocks += _what_it_made(chosen, name)
    return blocks


def target_of(column_id: str) -> str:
    """Return the target of a column's row, which leads to its reply."""
    return f"reply {column_id}"


def reading_by(rendered: RenderedColumn, parser: str) -> Reading | None:
    """Parse the column's reply with a parser; None in the cases of `reply_lesson.reading_by`, or without a request."""
    if parser == rendered.column.adapter:
        return rendered.reading
    return None if rendered.request is None else reply_lesson.reading_by(parser, rendered.request, rendered.text)


def _what_it_made(rendered: RenderedColumn, parser: str) -> list[Block]:
    reading = reading_by(rendered, parser)
    title = catalog.title(parser)
    if reading is None:
        why = "too long to parse with every adapter" if len(rendered.text) > reply_lesson.LONGEST else "not read"
        return [named(title, (why, "note"))]
    if reading.ok:
        values = reading.values.items()
        said = ", ".join([f"{name} = {one_line(value_text(value), LONGEST_VALUE)}" for name, value in values])
        return [
            named(title, ("✓ ", "ok"), said),
            *[named("", ("⚠ " + flag.message, "warning")) for flag in reading.flags[:4]],
        ]
    if reply_lesson.is_waiting(reading):
        return [named(title, ("a second model would extract the fields", "note"))]
    # a fix changes the column, so that other parsers have none
    fixes = reading.fix_messages[:MOST_FIXES] if parser == rendered.column.adapter else ()
    return [
        named(title, ("✗ ", "error"), one_line(verdict(reading), LONGEST_VALUE * 2)),
        *[named("", (f"⚠ {cause.message}", "warning")) for cause in reading.diagnosis[:4]],
        *[named("", (f"+ {message}", "note")) for message in fixes],
        *[named("", (one_line(line, LONGEST_VALUE * 2), "note")) for line in reading.bug_report.splitlines()],
    ]


MOST_CHUNKS = 1_000
LONGEST_REPLY = 20_000
"""The longest reply shown, in characters: for JSON, dspy parses the whole text again at each chunk."""
LONGEST_CHUNK = 40


def stream_blocks(at: LookedAt, seed: int) -> list[Block]:
    """Show each chunk with what listeners on the outputs emit for it.

    The chunks are those that the model sent if they are known and `seed` is 0, else cut at random by `seed`.
    """
    reading, form = at.rendered.reading, streaming.FORMS.get(at.column.adapter)
    if form is None:
        said = "dspy cannot stream this adapter: StreamListener raises ValueError for all but Chat, JSON and XML."
        return [EMPTY, *paragraph(said, "note")]
    if len(at.rendered.text) > LONGEST_REPLY:
        said = f"The reply has more than {LONGEST_REPLY:,} characters: `workbench parse --chunks` follows it."
        return [EMPTY, *paragraph(said, "note")]
    if reading is None or not at.rendered.text:
        said = "There is no parsed reply yet: {app.send_all|F5} sends, or paste one below a prompt."
        return [EMPTY, *paragraph(at.keys(said), "note")]
    as_sent = chunks_as_sent(at)
    chunks = as_sent if as_sent and not seed else streaming.cut_at_random(at.rendered.text, seed)
    fields = streaming.streamed(form, reading.signature.output_fields, chunks)
    origin = "as the model sent it" if chunks is as_sent else f"cut at random ({seed})"
    blocks = [EMPTY, *paragraph(f"The reply in {counted(len(chunks), 'chunk')}, {origin}.")]
    for field in fields:
        losses = list(stream_losses(field, reading))
        name = (f"{'✗' if losses else '✓'} ", "error" if losses else "ok")
        blocks.append(named(field.field, name, stream_summary(field, len(chunks))))
        blocks += [named("", (said, "error")) for said in losses]
    blocks += heading("Chunk by chunk")
    emitted: dict[int | None, list[streaming.Emitted]] = {}
    for field in fields:
        for one in field.emitted:
            emitted.setdefault(one.at, []).append(one)
    for number, chunk in enumerate(chunks[:MOST_CHUNKS]):
        pieces = [Piece(f"{short(chunk, LONGEST_CHUNK):<{LONGEST_CHUNK}} ", "note"), *_emitted(emitted.get(number, ()))]
        blocks.append(Block(tuple(pieces), 2, "", Piece(f"{number + 1:>5}  ", "key")))
    if len(chunks) > MOST_CHUNKS:
        blocks.append(named("", (f"… {len(chunks) - MOST_CHUNKS:,} more", "note")))
    at_the_end = _emitted(emitted.get(None, ()))
    if at_the_end:
        blocks.append(Block((Piece("at the end ", "note"), *at_the_end), 2, "", Piece(" " * 7, "key")))
    return blocks


def chunks_as_sent(at: LookedAt) -> tuple[str, ...]:
    """Return the chunks of the shown reply as received; none for an edited, pasted or unsent reply."""
    reply, text = at.rendered.reply, at.rendered.text
    ends = list(itertools.accumulate(reply.chunks or ())) if reply is not None else []
    if not ends or ends[-1] != len(text):
        return ()
    return tuple(text[start:end] for start, end in zip([0, *ends], ends, strict=False))


def _emitted(emitted: Sequence[streaming.Emitted]) -> list[Piece]:
    pieces: list[Piece] = []
    for one in emitted:
        pieces += [Piece(f"{one.field} ", "name"), Piece(short(one.chunk, LONGEST_CHUNK), "value")]
        pieces.append(Piece(" last  " if one.is_last else "  ", "ok"))
    return pieces
