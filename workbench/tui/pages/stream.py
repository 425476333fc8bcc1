"""Show what `dspy.streaming.StreamListener` emits for each chunk of a reply, and what it never emits."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from adapters.replies import streaming
from workbench.output.measures import counted
from workbench.output.reading_text import short, stream_losses, stream_summary
from workbench.tui.pages.page import LookedAt, heading, named, paragraph
from workbench.tui.widgets.text.text_view import EMPTY, Block, Piece

MOST_CHUNKS = 1_000
LONGEST_REPLY = 20_000
"""The longest reply shown, in characters: for JSON, dspy parses the whole text again at each chunk."""
LONGEST_CHUNK = 40


def blocks_of(at: LookedAt, seed: int) -> list[Block]:
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
