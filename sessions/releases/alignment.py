"""Trace another release's prompt and values to their origins, where that is certain.

Nobody there says. A line of a message that stands in ours of the same turn exactly once, and there exactly once, is
made of the same; so are the equal lines around it. All else is `custom`: not traced. Where our parser of the same name
takes the very same values out of a reply, and no field stands in it twice, what it took is what was taken; else a value
is placed where its text stands in the reply exactly once. All else is `untraced`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from adapters.prompts.prompt import Message, Prompt
from adapters.prompts.text import Segment, Text
from adapters.replies.reading import Reading, Span
from sessions.file.typed_values import same, typed
from sessions.text_diff import opcodes


def traced(theirs: Prompt, own: Sequence[Message]) -> Prompt:
    """Their prompt with the turns and origins of `own`, the messages of our adapter, where they are certain."""
    if [one.role for one in own] != [one.role for one in theirs.messages]:
        return theirs
    pairs = zip(theirs.messages, own, strict=True)
    return replace(theirs, messages=tuple([_traced(one, other) for one, other in pairs]))


def kept(prompt: Prompt, before: Prompt) -> Prompt:
    """`prompt` with the objects of `before` for every message that is the same, origins included."""
    known: dict[tuple[str, str, str], Message] = {(one.role, one.turn, str(one.text)): one for one in before.messages}

    def held(message: Message) -> Message:
        old = known.get((message.role, message.turn, str(message.text)))
        return old if old is not None and old == message and old.segments == message.segments else message

    return replace(prompt, messages=tuple([held(one) for one in prompt.messages]))


def _traced(message: Message, ours: Message) -> Message:
    turned = replace(message, turn=ours.turn)
    if message.is_list or ours.is_list or len(message.parts) != 1 or len(ours.parts) != 1:
        return replace(turned, parts=ours.parts) if message.as_dict() == ours.as_dict() else turned
    text, own = message.text, ours.text
    if str(text) == str(own):
        return replace(turned, parts=(own,))
    return replace(turned, parts=(_aligned(str(text), own),))


def _aligned(text: str, ours: Text) -> Text:
    """`text` with the segments of the lines that it certainly shares with `ours`."""
    lines, own = text.splitlines(keepends=True), str(ours).splitlines(keepends=True)
    starts = [0]
    for line in own:
        starts.append(starts[-1] + len(line))
    segments: list[Segment] = []
    done = 0
    for there, here, count in _certain(lines, own):
        segments += [Segment("".join(lines[done:there]), "custom")]
        segments += ours.slice(starts[here], starts[here + count]).segments
        done = there + count
    segments += [Segment("".join(lines[done:]), "custom")]
    return Text(segments)


def _certain(lines: Sequence[str], own: Sequence[str]) -> list[tuple[int, int, int]]:
    """Runs of equal lines, as (place in `lines`, place in `own`, how many), that hold a line which is once in both."""
    once = {line for line, count in Counter(lines).items() if count == 1}
    once &= {line for line, count in Counter(own).items() if count == 1}
    equal = [(a, b, end - a) for tag, a, end, b, _ in opcodes(lines, own) if tag == "equal"]
    return [(a, b, size) for a, b, size in equal if any(line.strip() and line in once for line in lines[a : a + size])]


def nothing_traced(reply: str) -> tuple[Span, ...]:
    """The span of a reply of which nobody says what was looked at, as of one that was refused."""
    return (Span(0, len(reply), "untraced"),) if reply else ()


def spans_of(reply: str, values: Mapping[str, object], ours: Reading | None = None) -> tuple[Span, ...]:
    """Spans that partition a reply of which only the values are known (as `sessions.file.typed_values` writes them).

    `ours` is the reading of the same reply by our adapter of the same name, if any.
    """
    if not reply:
        return ()
    if ours is not None and _takes_the_same(ours, values):
        return ours.spans
    placed: list[Span] = []
    for name, value in values.items():
        text = value if isinstance(value, str) else json.dumps(value) if isinstance(value, int | float) else ""
        start = reply.find(text) if text.strip() else -1
        if start >= 0 and reply.find(text, start + 1) < 0:
            placed.append(Span(start, start + len(text), "value", name))
    placed.sort()
    if any(one.end > other.start for one, other in pairwise(placed)):
        placed = []  # one value stands in another: which is which is not certain
    spans: list[Span] = []
    done = 0
    for one in [*placed, Span(len(reply), len(reply), "value")]:
        if one.start > done:
            spans.append(Span(done, one.start, "untraced"))
        if one.end > one.start:
            spans.append(one)
        done = one.end
    return tuple(spans)


def _takes_the_same(ours: Reading, values: Mapping[str, object]) -> bool:
    if not ours.ok or any(one.kind == "duplicate" for one in ours.spans):
        return False
    if ours.values.keys() != values.keys():
        return False
    return all(same(typed(ours.values[name]), value) for name, value in values.items())
