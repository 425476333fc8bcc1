"""Compare two texts by lines, and by words within changed lines, in bounded time."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

CONTEXT = 2
"""Number of unchanged lines shown around a change."""
LONGEST = 2_000
"""Maximum number of lines or words compared; a longer stretch counts as one change."""
ALIKE = 0.4
"""Minimum share of common words for two lines to count as one changed line."""
MOST_PAIRS = 400
"""Maximum pairs of lines compared within a change; in larger changes lines are paired by position."""
LONGEST_LINE = 4_000
"""Maximum characters of a line whose words are compared."""
MOST_WORDS = 200
"""Maximum words from the first to the last difference in a line; beyond that, all of them count as changed."""
_WORD = re.compile(r"\w+\s*|\s+|[^\w\s]")


def line_diff(before: Sequence[str], after: Sequence[str], *, whole: bool = False) -> tuple[str, ...]:
    """Return a line diff: each line begins with "-", "+" or " ".

    Unchanged stretches are cut to `CONTEXT` lines and "…", unless `whole`.
    """
    lines: list[str] = []
    changes = [one for one in opcodes(before, after) if one[0] != "equal"]
    position = 0
    for tag, start, end, new_start, new_end in [*changes, ("", len(before), len(before), len(after), len(after))]:
        between = before[position:start]
        is_first = position == 0 and tag != ""
        lines.extend(prefixed(" ", between) if whole else _between(between, is_first=is_first, is_last=not tag))
        lines.extend(prefixed("-", before[start:end]))
        lines.extend(prefixed("+", after[new_start:new_end]))
        position = end
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
    """Prefix each line with `mark`."""
    return tuple([mark + line for line in lines])


def opcodes(before: Sequence[str], after: Sequence[str], most: int = LONGEST) -> list[tuple[str, int, int, int, int]]:
    """Return `difflib`'s opcodes; more than `most` items between equal ends count as one replacement."""
    head, tail = common_ends(before, after)
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    codes: list[tuple[str, int, int, int, int]] = []
    if head:
        codes.append(("equal", 0, head, 0, head))
    if len(old) > most or len(new) > most:
        codes.append(("replace", head, head + len(old), head, head + len(new)))
    else:
        import difflib  # to compare nothing does not need it

        matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
        codes.extend((tag, a + head, b + head, c + head, d + head) for tag, a, b, c, d in matcher.get_opcodes())
    if tail:
        codes.append(("equal", len(before) - tail, len(before), len(after) - tail, len(after)))
    return codes


def common_ends(before: Sequence[str], after: Sequence[str]) -> tuple[int, int]:
    """Count the equal items at the start and at the end."""
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    return head, tail


class Stretch(NamedTuple):
    """A difference: its tag ("insert", "delete" or "replace") and its code point offsets in both texts."""

    tag: str
    start: int
    end: int
    new_start: int
    new_end: int


def stretches(before: str, after: str, most_words: int = LONGEST) -> list[Stretch]:
    """Find where two texts differ, by words; more than `most_words` between equal ends are one stretch."""
    start = common_prefix(before, after)
    while start and (_is_in_word(before, start) or _is_in_word(after, start)):
        start -= 1
    tail = common_prefix(before[start:][::-1], after[start:][::-1])
    while tail and (_is_in_word(before, len(before) - tail) or _is_in_word(after, len(after) - tail)):
        tail -= 1
    old, new = before[start : len(before) - tail], after[start : len(after) - tail]
    lines, new_lines = old.splitlines(keepends=True), new.splitlines(keepends=True)
    starts, new_starts = _starts(lines), _starts(new_lines)
    found: list[Stretch] = []
    # Line by line first: otherwise common words would be matched across unrelated lines.
    for tag, first, last, new_first, new_last in opcodes(lines, new_lines):
        if tag != "equal":
            gone, come = old[starts[first] : starts[last]], new[new_starts[new_first] : new_starts[new_last]]
            found += _words_replaced(gone, come, start + starts[first], start + new_starts[new_first], most_words)
    following = [*found[1:], Stretch("", len(before), len(before), len(after), len(after))]
    return [_shift_past_marks(one, before, after, then) for one, then in zip(found, following, strict=False)]


def _shift_past_marks(one: Stretch, before: str, after: str, then: Stretch) -> Stretch:
    """Shift an insertion or deletion past the punctuation that ends the text before it.

    If "Read it." became "Read it. Be brief.", the insertion is then " Be brief." instead of ". Be brief".
    """
    tag, start, end, new_start, new_end = one
    if tag == "replace":
        return one
    text, limit = (after, then[3]) if tag == "insert" else (before, then[1])
    first, last = (new_start, new_end) if tag == "insert" else (start, end)
    by = 0
    while (
        first
        and not text[first - 1].isspace()
        and by < last - first
        and last + by < limit
        and text[first + by] == text[last + by]
        and not (_is_of_word(text[first + by]) or text[first + by].isspace())
    ):
        by += 1
    return Stretch(tag, start + by, end + by, new_start + by, new_end + by)


def _starts(pieces: Sequence[str]) -> list[int]:
    """Return the start offset of each piece, then the end of the last."""
    return [0, *itertools.accumulate(map(len, pieces))]


def _words_replaced(old: str, new: str, place: int, new_place: int, most: int) -> list[Stretch]:
    words, new_words = _WORD.findall(old), _WORD.findall(new)
    ends = [place + end for end in _starts(words)]
    new_ends = [new_place + end for end in _starts(new_words)]
    return [
        Stretch(tag, ends[start], ends[end], new_ends[new_start], new_ends[new_end])
        for tag, start, end, new_start, new_end in opcodes(words, new_words, most)
        if tag != "equal"
    ]


def _is_in_word(text: str, place: int) -> bool:
    """Return whether `place` is inside a word."""
    return 0 < place < len(text) and _is_of_word(text[place - 1]) and _is_of_word(text[place])


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def common_prefix(one: str, other: str) -> int:
    """Return the length of the common prefix of two texts."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


class Run(NamedTuple):
    """A part of a line, and whether it changed."""

    text: str
    changed: bool


class Line(NamedTuple):
    """A line of a diff; `sign` is `-`, `+`, ` `, or `@` for the heading of a hunk."""

    sign: str
    runs: tuple[Run, ...]


def lines_of(unified: Sequence[str]) -> Iterator[Line]:
    """Yield the lines of a unified diff, with changed words marked in lines that have a counterpart."""
    for kind, group in itertools.groupby(unified, key=lambda line: line[:1] in ("-", "+")):
        run = list(group)
        if kind:
            yield from _change([one[1:] for one in run if one[0] == "-"], [one[1:] for one in run if one[0] == "+"])
        else:
            for one in run:
                text = one if one.startswith("@@") else one[1:]
                yield Line("@" if one.startswith("@@") else " ", (Run(text, False),))


def paired_lines_of(unified: Sequence[str]) -> Iterator[tuple[Line | None, Line | None]]:
    """Yield the lines of a unified diff side by side; None where a side has no line."""
    for kind, group in itertools.groupby(unified, key=lambda line: line[:1] in ("-", "+")):
        run = list(group)
        if not kind:
            yield from [(line, line) for line in lines_of(run)]
            continue
        before, after = [one[1:] for one in run if one[0] == "-"], [one[1:] for one in run if one[0] == "+"]
        made = list(_change(before, after))
        old, new = made[: len(before)], made[len(before) :]
        left = right = 0
        for one, other in [*_pairs(before, after), (len(before), len(after))]:
            yield from itertools.zip_longest(old[left:one], new[right:other])
            if one < len(before):
                yield old[one], new[other]
            left, right = one + 1, other + 1


def _change(before: Sequence[str], after: Sequence[str]) -> Iterator[Line]:
    ours: list[tuple[Run, ...]] = [(Run(text, False),) for text in before]
    theirs: list[tuple[Run, ...]] = [(Run(text, False),) for text in after]
    for one, other in _pairs(before, after):
        ours[one], theirs[other] = words(before[one], after[other])
    yield from [Line("-", runs) for runs in ours]
    yield from [Line("+", runs) for runs in theirs]


def _pairs(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """Pair each line with the first sufficiently similar line of the other text, in order."""
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
    import difflib

    left, right = ([word.rstrip() for word in _WORD.findall(text)] for text in (one, other))
    return difflib.SequenceMatcher(None, left, right, autojunk=False).quick_ratio() >= ALIKE


def words(before: str, after: str) -> tuple[tuple[Run, ...], tuple[Run, ...]]:
    """Split each line into changed and unchanged runs, which joined give the line."""
    ours: list[Run] = []
    theirs: list[Run] = []
    place = new_place = 0
    for _, start, end, new_start, new_end in stretches(before, after, MOST_WORDS):
        for runs, text, at, first, last in (
            (ours, before, place, start, end),
            (theirs, after, new_place, new_start, new_end),
        ):
            changed = text[first:last]
            bare = changed.rstrip()
            runs += [
                Run(text[at:first], False),
                Run(bare or changed, True),
                Run(changed[len(bare) :] if bare else "", False),
            ]
        place, new_place = end, new_end
    ours.append(Run(before[place:], False))
    theirs.append(Run(after[new_place:], False))
    return tuple([one for one in ours if one.text]), tuple([one for one in theirs if one.text])
