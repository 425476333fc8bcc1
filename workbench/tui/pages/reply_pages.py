"""The pages Reply × parser and Stream: what each parser makes of a reply, and what dspy emits while it streams."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from adapters.formats import catalog
from adapters.replies import streaming
from adapters.replies.reading import MOST_FIXES, Reading
from workbench.lessons import reply_lesson
from workbench.lessons.reply_lesson import is_waiting
from workbench.output.display import one_line, value_text
from workbench.output.measures import counted
from workbench.output.reading_text import short, stream_losses, stream_summary, verdict
from workbench.state.document import RenderedColumn
from workbench.tui.pages.page import LookedAt, heading, named, paragraph, table
from workbench.tui.widgets.text.text_view import EMPTY, Block, Piece

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
            tone = "note" if reading is None or is_waiting(reading) else "ok" if reading.ok else "error"
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
        why = "too long to be read by all" if len(rendered.text) > reply_lesson.LONGEST else "not read"
        return [named(title, (why, "note"))]
    if reading.ok:
        values = reading.values.items()
        said = ", ".join([f"{name} = {one_line(value_text(value), LONGEST_VALUE)}" for name, value in values])
        return [
            named(title, ("✓ ", "ok"), said),
            *[named("", ("⚠ " + flag.message, "warning")) for flag in reading.flags[:4]],
        ]
    if is_waiting(reading):
        return [named(title, ("a second model would extract the fields", "note"))]
    return [
        named(title, ("✗ ", "error"), one_line(verdict(reading), LONGEST_VALUE * 2)),
        *[named("", (f"⚠ {cause.message}", "warning")) for cause in reading.diagnosis[:4]],
        *[named("", (f"+ {message}", "note")) for message in reading.fix_messages[:MOST_FIXES]],
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
    return [*blocks, *heading("Chunk by chunk"), *_lines(chunks, fields)]


def chunks_as_sent(at: LookedAt) -> tuple[str, ...]:
    """Return the chunks of the shown reply as received; none for an edited, pasted or unsent reply."""
    reply, text = at.rendered.reply, at.rendered.text
    ends = list(itertools.accumulate(reply.chunks or ())) if reply is not None else []
    if not ends or ends[-1] != len(text):
        return ()
    return tuple(text[start:end] for start, end in zip([0, *ends], ends, strict=False))


def _lines(chunks: Sequence[str], fields: Sequence[streaming.StreamedField]) -> list[Block]:
    emitted: dict[int | None, list[streaming.Emitted]] = {}
    for field in fields:
        for one in field.emitted:
            emitted.setdefault(one.at, []).append(one)
    blocks: list[Block] = []
    for number, chunk in enumerate(chunks[:MOST_CHUNKS]):
        pieces = [Piece(f"{short(chunk, LONGEST_CHUNK):<{LONGEST_CHUNK}} ", "note"), *_emitted(emitted.get(number, ()))]
        blocks.append(Block(tuple(pieces), 2, "", Piece(f"{number + 1:>5}  ", "key")))
    if len(chunks) > MOST_CHUNKS:
        blocks.append(named("", (f"… {len(chunks) - MOST_CHUNKS:,} more", "note")))
    at_the_end = _emitted(emitted.get(None, ()))
    if at_the_end:
        blocks.append(Block((Piece("at the end ", "note"), *at_the_end), 2, "", Piece(" " * 7, "key")))
    return blocks


def _emitted(emitted: Sequence[streaming.Emitted]) -> list[Piece]:
    pieces: list[Piece] = []
    for one in emitted:
        pieces += [Piece(f"{one.field} ", "name"), Piece(short(one.chunk, LONGEST_CHUNK), "value")]
        pieces.append(Piece(" last  " if one.is_last else "  ", "ok"))
    return pieces
