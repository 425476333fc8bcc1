"""One fixture in full as text: every message as recorded beside what it is now, and the reply, which stays."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, zip_longest
from typing import Any, NamedTuple

from adapters.values.plain_json import plain
from sessions.model.replies import RecordedReading
from sessions.text_diff import line_diff
from workbench.checks.reviewing import Whole
from workbench.output.display import one_line
from workbench.tui.pages.drifts import View, blocks_of_lines
from workbench.tui.widgets.text.text_view import EMPTY, Block, Piece, block

MOST_MESSAGES = 12
"""Of a prompt that are shown; those that have changed come in any case."""
MOST_UNCHANGED, MOST_LINES = 12, 600
"""Lines of a message that is as it was; of one that has changed, and of a reply."""
LONGEST_LINE, LONGEST_VALUE = 4_000, 200


class Extent(NamedTuple):
    """The extent to which a fixture is shown.

    `around`: recorded lines around a change (None: all; 0: the change alone, shown above). `unchanged`: lines of a
    message that matches.
    """

    around: int | None = None
    unchanged: int = MOST_UNCHANGED


ALL = Extent()
SHORTER: tuple[Extent, ...] = (*[Extent(one, one) for one in (12, 8, 5, 3)], *[Extent(0, one) for one in (12, 6, 3, 2)])
"""What is tried one after the other where all of it would be more than the screen holds."""
INDENT = 2

_LEGEND: Mapping[View, str] = {
    "words": "as recorded │ as it is now",
    "beside": "as recorded │ as it is now",
    "old": "as recorded",
    "new": "as it is now",
}


def prompt_of(whole: Whole, view: View, width: int, extent: Extent = ALL) -> list[Block]:
    """The prompt, message by message; `width` is that of the text, in cells. Lines that are left out are counted."""
    blocks: list[Block] = []
    pairs = list(zip_longest(whole.before.messages, whole.after.messages))
    side_by_side: View = "beside" if view == "words" else view
    left_out = 0
    for number, (old, new) in enumerate(pairs):
        if old == new and number >= MOST_MESSAGES:
            left_out += 1
            continue
        role = str(((new if new is not None else old) or {}).get("role", ""))
        if old == new:
            blocks += [EMPTY, _heading(f"{role} message", "as recorded"), *_unchanged(_lines_of(new), extent)]
            continue
        lines = line_diff(_lines_of(old), _lines_of(new), whole=True)
        if extent.around == 0:
            alike, count = sum(line.startswith(" ") for line in lines), len(_lines_of(new))
            blocks += (
                [EMPTY, _heading(f"{role} message", f"{alike:,} of {count:,} lines are as recorded")] if alike else []
            )
        else:
            blocks += [EMPTY, _heading(f"{role} message", _LEGEND[view])]
            for part in folded(lines[:MOST_LINES], extent.around):
                if isinstance(part, int):
                    blocks.append(block(f"⋯ {part:,} lines as recorded", "note", indent=INDENT))
                else:
                    blocks += blocks_of_lines(part, side_by_side, width)
    if left_out:
        blocks += [EMPTY, block(f"{left_out:,} further messages are as recorded", "note", indent=INDENT)]
    return blocks


def reply_of(whole: Whole, extent: Extent = ALL) -> Iterator[Block]:
    """The last reply that was recorded; how it was read, and how it is read now where that is another."""
    completions = [one for attempt in whole.before.attempts for one in attempt.completions]
    now = [one for attempt in whole.after.attempts for one in attempt.completions]
    if not completions:
        yield from (EMPTY, _heading("reply", "not recorded: the decision is about the prompt alone"))
        return
    last = completions[-1]
    today = now[-1].reading if len(now) == len(completions) else None
    yield from (EMPTY, _heading("reply", "as recorded; never changed"))
    yield from _unchanged((last.text or "").split("\n"), extent)
    if last.reading is None:
        return
    same = today is None or today == last.reading
    yield from (EMPTY, _heading("parsed as", "as recorded" if same else "as recorded → as it is now"))
    yield from _values(last.reading, last.reading if same or today is None else today)


def _heading(said: str, quiet: str) -> Block:
    return Block((Piece(said, "heading"), Piece(f"   {quiet}", "note")))


def _lines_of(message: Mapping[str, Any] | None) -> list[str]:
    """A message's text by lines; what is no text as JSON."""
    content = (message or {}).get("content")
    if content is None:
        return []
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, indent=1)
    return text[: MOST_LINES * LONGEST_LINE].split("\n")[:MOST_LINES]


def folded(lines: Sequence[str], around: int | None) -> Iterator[Sequence[str] | int]:
    """Lines of a difference in their order; of those alike the ones further than `around` from a change are counted.

    One line alone is not folded: it would save nothing.
    """
    changes = [number for number, line in enumerate(lines) if not line.startswith(" ")]
    if around is None or not changes:
        yield lines
        return
    after, before = 0, [-2 * around - 2, *changes, len(lines) + 2 * around + 1]
    for last, following in pairwise(before):
        start, end = max(0, last + around + 1), min(len(lines), following - around)
        if end - start > 1:
            yield lines[after:start]
            yield end - start
            after = end
    yield lines[after:]


def _unchanged(lines: Sequence[str], extent: Extent) -> Iterator[Block]:
    most = extent.unchanged if len(lines) != extent.unchanged + 1 else len(lines)
    for line in lines[:most]:
        yield block(line[:LONGEST_LINE], "note", indent=INDENT)
    if len(lines) > most:
        yield block(f"… {len(lines) - most:,} more lines", "note", indent=INDENT)


def _values(old: RecordedReading, new: RecordedReading) -> Iterator[Block]:
    for name in dict.fromkeys([*old.values, *new.values]):
        then, now = (_value(one, name) for one in (old, new))
        changed = (Piece(" → ", "note"), Piece(now, "added")) if then != now else ()
        yield Block((Piece(f"{name}  ", "name"), Piece(then, "removed" if changed else "text"), *changed), INDENT)
    for reading, style in ((old, "error"), (new, "added")) if old != new else ((new, "error"),):
        if reading.error is not None:
            field = f" of `{reading.error.field}`" if reading.error.field else ""
            yield block(f"✗ parse error{field}: {one_line(reading.error.type, LONGEST_VALUE)}", style, indent=INDENT)


def _value(reading: RecordedReading, name: str) -> str:
    if name not in reading.values:
        return "missing"
    return one_line(json.dumps(plain(reading.values[name]), ensure_ascii=False), LONGEST_VALUE)
