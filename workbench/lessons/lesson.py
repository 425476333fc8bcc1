"""Explain to newcomers, step by step, how a prompt is built.

The pieces of all steps, joined, are exactly the prompt: a lesson leaves nothing out and adds nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from adapters.formats.base import Adapter
from adapters.formats.profile import Opening
from adapters.late_dataclasses import dataclass, replace
from adapters.prompts.text import DataPart, Text
from adapters.requests.request import Request
from adapters.signatures.signature import Signature
from adapters.tools.tools import add_tool_fields

FIELDS = (
    "The prompt begins with what the model receives and what it has to return: every field of the signature by name, "
    "with its type and description. The model knows a field without a description only by its name, so a good "
    "description is the cheapest improvement of a prompt."
)
OBJECTIVE = (
    "The system message ends with the task: the signature's docstring, word for word. Without a docstring, a default "
    "names the inputs and outputs. Up to here, nothing depends on the case: every call with this signature begins the "
    "same way."
)
DEMO = (
    "An example, in the form of an earlier exchange: a user message with its inputs, and the answer you would like. It "
    "has exactly the format that the reply must have, so it teaches both the format and the task."
)
INCOMPLETE_DEMO = (
    "An example without {missing}. It is still used: its first line warns the model that something is not supplied, "
    "and a sentence replaces each missing output. Incomplete examples come before the complete ones, whatever their "
    "order in your list."
)
HISTORY = (
    "A turn of the conversation so far, after the examples: the question, with the reminder of the format, and the "
    "answer. The model cannot tell it from an example."
)
INPUTS = (
    "The actual question: the inputs of the current case, with the same markers as in every example. Only this part "
    "changes from call to call; providers can cache everything before it."
)
REMINDER = (
    "Models lose track of distant instructions, so the format is repeated at the very end, where it matters most: "
    "which fields, in which order, and how the reply must end."
)
OWN_SYSTEM = "The system message as this adapter writes it, without origins for its parts."
OWN_MESSAGE = "A message that only this adapter writes."


class Piece(NamedTuple):
    """A stretch of a message; `message` and `part` are 0-based indexes, `content` is None for an empty message."""

    message: int
    part: int
    content: Text | DataPart | None


@dataclass(frozen=True)
class LessonStep:
    """A step of a prompt's lesson: its title, its explanation, and the pieces of the prompt that it adds."""

    title: str
    explanation: str
    pieces: tuple[Piece, ...]


def steps_of(adapter: Adapter, request: Request) -> tuple[LessonStep, ...]:
    """List the steps of a request's prompt, in its order."""
    prompt = request.prompt
    uses = {f"demo {use.number}": use for use in prompt.demos}
    steps: list[LessonStep] = []
    position = 0
    for turn, group in groupby(prompt.messages, key=lambda message: message.turn):
        messages = list(group)
        pieces = [
            Piece(index, number, part)
            for index, one in enumerate(messages, position)
            for number, part in enumerate(one.parts or (None,))
        ]
        position += len(messages)
        if turn == "system" and len(pieces) == 1:
            signature = request.signature
            if request.calls_field is not None:  # tools are sent as text
                signature = add_tool_fields(signature)[0]
            text, cuts = pieces[0].content, None
            if isinstance(text, Text):
                cuts = _standard_cuts(adapter, signature, text) or _cuts_at_openings(adapter.profile.openings, text)
            if isinstance(text, Text) and cuts:
                steps += _sliced(pieces[0], text, cuts)
            else:
                steps.append(LessonStep("The system message", OWN_SYSTEM, tuple(pieces)))
        elif turn == "inputs":
            steps += _inputs_step(adapter, pieces)
        elif turn.startswith("demo"):
            use, explanation = uses.get(turn), DEMO
            if use is not None and use.use == "incomplete":
                explanation = INCOMPLETE_DEMO.format(missing=", ".join(use.missing))
            steps.append(LessonStep(turn.capitalize(), explanation, tuple(pieces)))
        elif turn.startswith("history"):
            title = f"{turn.replace('history', 'Turn')} of the conversation"
            steps.append(LessonStep(title, HISTORY, tuple(pieces)))
        else:
            steps.append(LessonStep(f"The {turn} message", OWN_MESSAGE, tuple(pieces)))
    return tuple(steps)


# -- the system message


Cut = tuple[int, str, str]
"""A step's start offset in a text, its title, and its explanation."""


def _standard_cuts(adapter: Adapter, signature: Signature, text: Text) -> list[Cut]:
    """Return cuts between dspy's three parts of a system message; none if the text has other parts."""
    try:
        description = adapter.format_field_description(signature)
        structure = adapter.format_field_structure(signature)
        task = adapter.format_task_description(signature)
    except Exception:  # an adapter need not have the three, and a user's own may raise anything
        return []
    if text != f"{description}\n{structure}\n{task}":
        return []
    structure_at = len(description) + 1
    return [
        (0, "The fields", FIELDS),
        (structure_at - 1, "The structure", adapter.profile.structure),
        (structure_at + len(structure), "The objective", OBJECTIVE),
    ]


def _cuts_at_openings(openings: Sequence[Opening], text: Text) -> list[Cut]:
    """Return cuts where a segment matches one of the adapter's `openings`; none without a match."""
    cuts: list[Cut] = []
    position = 0
    pending: int | None = None
    for segment in text.segments:
        start = position if pending is None else pending
        position += len(segment.text)
        if segment.kind == "boilerplate" and segment.text.isspace():
            pending = start
            continue
        pending = None
        if segment.kind not in ("boilerplate", "marker"):
            continue
        opening, is_field = segment.text.lstrip(), segment.field is not None
        found = next((one for one in openings if one.is_field == is_field and re.match(one.pattern, opening)), None)
        if found is not None:
            cuts.append((start, found.title.format(field=segment.field or ""), found.explanation))
    return [(0, *cuts[0][1:]), *cuts[1:]] if cuts else []


# -- the last message


def _inputs_step(adapter: Adapter, pieces: list[Piece]) -> list[LessonStep]:
    last = pieces[-1]
    if adapter.profile.inputs == "sections":
        steps: list[LessonStep] = []
        for piece in pieces:
            cuts = _cuts_at_openings(adapter.profile.openings, piece.content) if isinstance(piece.content, Text) else []
            if cuts and isinstance(piece.content, Text):
                steps += _sliced(piece, piece.content, cuts)
            elif steps:
                steps[-1] = replace(steps[-1], pieces=(*steps[-1].pieces, piece))
            else:
                steps.append(LessonStep("The inputs", INPUTS, (piece,)))
        return steps
    title, explanation = "The inputs", INPUTS
    at = _reminder_start(last.content) if isinstance(last.content, Text) else None
    if at is None or not isinstance(last.content, Text):
        return [LessonStep(title, explanation, tuple(pieces))]
    end = last._replace(content=last.content.slice(at, len(last.content)))
    reminder = LessonStep("The reminder", REMINDER, (end,))
    head = last.content.slice(0, at)
    kept = (*pieces[:-1], last._replace(content=head)) if head else tuple(pieces[:-1])
    return [LessonStep(title, explanation, kept), reminder] if kept else [reminder]


def _reminder_start(text: Text) -> int | None:
    """Return the offset of the final reminder, including the whitespace before it; None without a reminder."""
    position = 0
    gap: int | None = None
    for segment in text.segments:
        if segment.kind == "reminder":
            return position if gap is None else gap
        if segment.kind != "boilerplate" or not segment.text.isspace():
            gap = None
        elif gap is None:
            gap = position
        position += len(segment.text)
    return None


def _sliced(piece: Piece, text: Text, cuts: Sequence[Cut]) -> list[LessonStep]:
    ends = [at for at, _, _ in cuts[1:]] + [len(text)]
    return [
        LessonStep(title, explanation, (piece._replace(content=text.slice(start, end)),))
        for (start, title, explanation), end in zip(cuts, ends, strict=True)
    ]
