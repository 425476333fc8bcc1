"""What differs within lines that changed: which line became which, and which words of it are others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby, zip_longest
from typing import NamedTuple

ALIKE = 0.4
"""The share of words in common from which on two lines are one line that changed."""
MOST_PAIRS = 400
"""Pairs of lines within one change that are compared; in larger changes lines are taken in their order."""
LONGEST_LINE = 4_000
MOST_WORDS = 200
"""Words between the first and the last that differ, above which all of them count as other ones."""
WORDS = re.compile(r"\w+|\s+|[^\w\s]")


class Stretch(NamedTuple):
    """A part of a line, and whether the other side has it otherwise."""

    text: str
    changed: bool


class Line(NamedTuple):
    """`sign` is that of a unified diff: `-`, `+`, ` `, or `@` for the heading of a hunk."""

    sign: str
    stretches: tuple[Stretch, ...]


def lines_of(unified: Sequence[str]) -> Iterator[Line]:
    """The lines of a unified diff. In one without a counterpart nothing is marked: all of it is new, or gone."""
    for kind, group in groupby(unified, key=lambda line: line[:1] in ("-", "+")):
        run = list(group)
        if kind:
            yield from _change([one[1:] for one in run if one[0] == "-"], [one[1:] for one in run if one[0] == "+"])
        else:
            for one in run:
                text = one if one.startswith("@@") else one[1:]
                yield Line("@" if one.startswith("@@") else " ", (Stretch(text, False),))


def paired_lines_of(unified: Sequence[str]) -> Iterator[tuple[Line | None, Line | None]]:
    """The lines of a unified diff side by side: each with what it became, None where one side has nothing."""
    for kind, group in groupby(unified, key=lambda line: line[:1] in ("-", "+")):
        run = list(group)
        if not kind:
            yield from [(line, line) for line in lines_of(run)]
            continue
        before, after = [one[1:] for one in run if one[0] == "-"], [one[1:] for one in run if one[0] == "+"]
        made = list(_change(before, after))
        old, new = made[: len(before)], made[len(before) :]
        left = right = 0
        for one, other in [*_pairs(before, after), (len(before), len(after))]:
            yield from zip_longest(old[left:one], new[right:other])
            if one < len(before):
                yield old[one], new[other]
            left, right = one + 1, other + 1


def _change(before: Sequence[str], after: Sequence[str]) -> Iterator[Line]:
    pairs = _pairs(before, after)
    became = dict(pairs)
    was = {other: one for one, other in pairs}
    for index, text in enumerate(before):
        other = after[became[index]] if index in became else None
        yield Line("-", _whole(text) if other is None else words(text, other)[0])
    for index, text in enumerate(after):
        earlier = before[was[index]] if index in was else None
        yield Line("+", _whole(text) if earlier is None else words(earlier, text)[1])


def _pairs(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """Which line became which, in order, the first that is alike enough."""
    if len(before) * len(after) > MOST_PAIRS:
        return [
            (index, index) for index in range(min(len(before), len(after))) if _are_alike(before[index], after[index])
        ]
    found: list[tuple[int, int]] = []
    start = 0
    for index, text in enumerate(before):
        other = next((number for number in range(start, len(after)) if _are_alike(text, after[number])), None)
        if other is not None:
            found.append((index, other))
            start = other + 1
    return found


def _are_alike(one: str, other: str) -> bool:
    if not one.strip() or not other.strip() or max(len(one), len(other)) > LONGEST_LINE:
        return False
    return SequenceMatcher(None, WORDS.findall(one), WORDS.findall(other), autojunk=False).quick_ratio() >= ALIKE


def words(before: str, after: str) -> tuple[tuple[Stretch, ...], tuple[Stretch, ...]]:
    """Both lines in stretches, which joined are the line."""
    left, right = WORDS.findall(before), WORDS.findall(after)
    start = _common(left, right)
    end = _common(left[start:][::-1], right[start:][::-1])
    between_left, between_right = left[start : len(left) - end], right[start : len(right) - end]
    ours, theirs = [Stretch("".join(left[:start]), False)], [Stretch("".join(right[:start]), False)]
    if max(len(between_left), len(between_right)) > MOST_WORDS:
        ours.append(Stretch("".join(between_left), True))
        theirs.append(Stretch("".join(between_right), True))
    else:
        matcher = SequenceMatcher(None, between_left, between_right, autojunk=False)
        for kind, a, b, c, d in matcher.get_opcodes():
            ours.append(Stretch("".join(between_left[a:b]), kind != "equal"))
            theirs.append(Stretch("".join(between_right[c:d]), kind != "equal"))
    tail = Stretch("".join(left[len(left) - end :]), False)
    return _filled([*ours, tail]), _filled([*theirs, tail])


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (left, right) in pairs if left != right), min(len(one), len(other)))


def _filled(stretches: Sequence[Stretch]) -> tuple[Stretch, ...]:
    return tuple([one for one in stretches if one.text])


def _whole(text: str) -> tuple[Stretch, ...]:
    return (Stretch(text, False),)
