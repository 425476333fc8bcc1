"""What a lesson puts on screen at each step: the prompt built so far, or the reply with what the step is about."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from adapters.prompts.prompt import DataPart, Message, Prompt
from adapters.replies.reading import Span
from workbench.lessons.lesson import LessonStep
from workbench.lessons.lesson import Piece as LessonPiece
from workbench.lessons.reply_lesson import ReplyStep
from workbench.output import data_parts, json_shapes
from workbench.output.display import one_line
from workbench.tui.widgets.text.text_view import EMPTY, Block, Light, Piece, block

EARLIER_STEPS = 60
"""Steps before the one of now that are still shown; a prompt of a thousand demos is not laid out at every key."""
LONGEST_EXTRA = 600


def prompt_so_far(prompt: Prompt, steps: Sequence[LessonStep], at: int) -> list[Block]:
    """The prompt up to step `at`, whose pieces are lit."""
    first = max(0, at - EARLIER_STEPS)
    blocks: list[Block] = []
    last: int | None = None
    if first:
        blocks += [block(f"… {first} steps before", "note"), EMPTY]
    for number in range(first, at + 1):
        light: Light = "lit" if number == at else "faint"
        for piece in steps[number].pieces:
            message = prompt.messages[piece.message]
            continues = piece.message == last
            if not continues:
                blocks += [EMPTY] if blocks else []
                blocks.append(Block((Piece(_title(message), "heading", "" if number == at else "faint"),)))
                blocks += _extra(message, light)
            blocks.append(_of_piece(piece, light, continues))
            last = piece.message
    return blocks


def reply_with(step: ReplyStep) -> list[Block]:
    """The whole reply, or the second model's; what the step is about is lit, all of it where it is about all of it."""
    reading = step.reading
    text = reading.completion
    if not step.spans:
        return [Block(tuple([_span(text, span, "") for span in reading.spans]) or (Piece("(empty)", "note"),))]
    edges = sorted({0, len(text), *[at for span in (*step.spans, *reading.spans) for at in (span.start, span.end)]})
    starts = iter(reading.spans)
    kind_of = next(starts, None)
    pieces: list[Piece] = []
    for start, end in pairwise(edges):
        while kind_of is not None and kind_of.end <= start:
            kind_of = next(starts, None)
        is_lit = any(span.start <= start and end <= span.end for span in step.spans)
        kind = kind_of.kind if kind_of is not None else "ignored"
        pieces.append(Piece(text[start:end], kind if is_lit else "text", "lit" if is_lit else "faint"))
    return [Block(tuple(pieces))]


def _span(text: str, span: Span, light: Light) -> Piece:
    return Piece(text[span.start : span.end], "text", light)


def _title(message: Message) -> str:
    return message.role if message.turn == message.role else f"{message.role} · {message.turn}"


def _of_piece(piece: LessonPiece, light: Light, continues: bool) -> Block:
    content = piece.content
    if content is None:
        return Block((Piece("(no text)", "note", light),))
    if isinstance(content, DataPart):
        return Block((Piece(data_parts.summary(content.payload), "data", light),))
    segments = content.segments
    if continues and segments and segments[0].text.startswith("\n"):
        # the line break only ends the line above, which the block does already
        segments = (segments[0]._replace(text=segments[0].text[1:]), *segments[1:])
    return Block(tuple([Piece(one.text, one.kind, light) for one in segments]))


def _extra(message: Message, light: Light) -> list[Block]:
    if not message.extra:
        return []
    return [
        Block((Piece(one_line(json_shapes.dumps(dict(message.extra), indent=None), LONGEST_EXTRA), "data", light),))
    ]
