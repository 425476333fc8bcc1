"""Trace another release's prompt and values to their origins, where that is certain.

The release does not report origins. A line that appears exactly once in its message and exactly once in our message of
the same turn has the same origin; so do the equal lines around it. All other text is `custom`: not traced. If our
parser of the same name returns the same values from a reply without duplicate fields, its spans are used; otherwise a
value is placed where its text appears exactly once in the reply. All other text is `untraced`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from adapters.prompts.text import Message, Prompt, Segment, Text
from adapters.replies.reading import Reading, Span
from sessions.file.typed_values import same, typed
from sessions.text_diff import opcodes


def traced(theirs: Prompt, own: Sequence[Message]) -> Prompt:
    """Add the turns and origins of `own`, our adapter's messages, to their prompt where certain."""
    if [one.role for one in own] != [one.role for one in theirs.messages]:
        return theirs
    pairs = zip(theirs.messages, own, strict=True)
    return replace(theirs, messages=tuple([_traced(one, other) for one, other in pairs]))


def kept(prompt: Prompt, before: Prompt) -> Prompt:
    """Reuse the message objects of `before` that are equal in `prompt`, origins included."""
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
    """Split `text` into segments, with those of `ours` for lines that are certainly shared."""
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
    """Find runs of equal lines that contain a line unique in both: (index in `lines`, index in `own`, count)."""
    once = {line for line, count in Counter(lines).items() if count == 1}
    once &= {line for line, count in Counter(own).items() if count == 1}
    equal = [(a, b, end - a) for tag, a, end, b, _ in opcodes(lines, own) if tag == "equal"]
    return [(a, b, size) for a, b, size in equal if any(line.strip() and line in once for line in lines[a : a + size])]


def nothing_traced(reply: str) -> tuple[Span, ...]:
    """Return a single untraced span, as for a reply that does not parse."""
    return (Span(0, len(reply), "untraced"),) if reply else ()


def spans_of(reply: str, values: Mapping[str, object], ours: Reading | None = None) -> tuple[Span, ...]:
    """Partition a reply into spans when only its values are known (as `sessions.file.typed_values` writes them).

    `ours` is the parse result of our adapter of the same name for the same reply, if any.
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
        placed = []  # values overlap, so their places are not certain
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
