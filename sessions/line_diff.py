"""What changed between two texts, line by line, in bounded time."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

CONTEXT = 2
"""Unchanged lines shown around a change."""
LONGEST = 2_000
"""Lines or words compared with each other at most; a larger stretch counts as changed as a whole."""


def line_diff(before: Sequence[str], after: Sequence[str]) -> tuple[str, ...]:
    """A diff by lines: each begins with "-", "+" or " "; unchanged stretches are cut to a few lines and "…"."""
    lines: list[str] = []
    changes = [one for one in opcodes(before, after) if one[0] != "equal"]
    position = 0
    for _, start, end, new_start, new_end in changes:
        lines.extend(_between(before[position:start], is_first=position == 0, is_last=False))
        lines.extend(prefixed("-", before[start:end]))
        lines.extend(prefixed("+", after[new_start:new_end]))
        position = end
    lines.extend(_between(before[position:], is_first=False, is_last=True))
    return tuple(lines)


def _between(lines: Sequence[str], *, is_first: bool, is_last: bool) -> Iterator[str]:
    head, tail = (0 if is_first else CONTEXT), (0 if is_last else CONTEXT)
    if len(lines) <= head + tail + 1:
        yield from prefixed(" ", lines)
        return
    yield from prefixed(" ", lines[:head])
    if not (is_first or is_last):
        yield " …"
    yield from prefixed(" ", lines[len(lines) - tail :] if tail else ())


def prefixed(mark: str, lines: Sequence[str]) -> tuple[str, ...]:
    """Each line with a mark in front of it."""
    return tuple([mark + line for line in lines])


def opcodes(before: Sequence[str], after: Sequence[str]) -> list[tuple[str, int, int, int, int]]:
    """`difflib`'s opcodes; a stretch too long to compare in time is one replacement between what is equal around it."""
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    codes: list[tuple[str, int, int, int, int]] = []
    if head:
        codes.append(("equal", 0, head, 0, head))
    if len(old) > LONGEST or len(new) > LONGEST:
        codes.append(("replace", head, head + len(old), head, head + len(new)))
    else:
        matcher = difflib.SequenceMatcher(None, old, new)
        codes.extend((tag, a + head, b + head, c + head, d + head) for tag, a, b, c, d in matcher.get_opcodes())
    if tail:
        codes.append(("equal", len(before) - tail, len(before), len(after) - tail, len(after)))
    return codes
