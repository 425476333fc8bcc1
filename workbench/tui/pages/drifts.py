"""Show a fixture's drifts, and its full prompt and reply, in one of the `VIEWS`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise, zip_longest
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from rich.cells import cell_len

from adapters.values.plain_json import plain
from sessions.model.replies import RecordedReading
from sessions.text_diff import Line, line_diff, lines_of, paired_lines_of
from workbench.output.display import cut, one_line, safe
from workbench.tui.widgets.text.text_view import EMPTY, Block, Piece, block
from workbench.tui.widgets.text.wrapping import expand_tabs, rows

if TYPE_CHECKING:  # the pages of a prompt show diffs, too, and need none of these
    from sessions.causes.cause import Cause
    from sessions.checking.verdicts import Drift
    from workbench.checks.reviewing import Whole

View = Literal["words", "beside", "old", "new"]
VIEWS: tuple[View, ...] = get_args(View)
IN_WORDS: dict[View, str] = {"words": "by words", "beside": "side by side", "old": "as recorded", "new": "as it is now"}

MOST_LINES = 4_000
LONGEST_LINE = 20_000
"""The limit of a changed line, in characters."""
LONGEST_VALUE = 500
NARROWEST_SIDE = 20
INDENT = 2
GAP = " │ "


def blocks_of(drifts: Sequence[Drift], view: View, width: int) -> list[Block]:
    """Show the drifts, each below its place; `width` is the text's width in cells."""
    from sessions.checking.verdicts import turn_in_words

    blocks: list[Block] = []
    left = MOST_LINES
    for drift in drifts:
        expected = drift.part in ("expect", "live")
        said = turn_in_words(drift.edits[0].origin.turn) if drift.edits else drift.message
        is_failure = drift.place.endswith(".ok") and drift.after is False
        pieces = [Piece(said, "error" if is_failure else "heading"), Piece(f"   {drift.place or drift.part}", "note")]
        lines = drift.diff
        if not lines and (drift.before is not None or drift.after is not None):
            lines = line_diff(_value_lines(drift.before), _value_lines(drift.after))
        legend = block("− expected   + found", "note", indent=INDENT) if expected and lines else None
        versions = block(f"versions: {drift.versions}", "note", indent=INDENT) if drift.versions else None
        blocks += [EMPTY, Block(tuple(pieces)), *[one for one in (legend, versions) if one is not None]]
        blocks += blocks_of_lines(lines[:left], view, width)
        left -= min(left, len(lines))
        if len(lines) > left == 0:
            blocks.append(block("… more in `workbench check --json`", "note", indent=INDENT))
            break
    return blocks or [EMPTY, block("This fixture no longer shows it: its file has changed.", "note")]


def places_of(cause: Cause, drifts: Sequence[Drift]) -> str:
    """Describe a cause's places, such as "the description of `score` in the system message"."""
    from sessions.causes.finding import origins_of

    origins = dict.fromkeys([one.plain_words() for drift in drifts for one in origins_of(cause.key, drift)])
    names = {"render": "the request", "parse": "the parse result", "expect": "the expectations"}
    places: dict[str, None] = {}
    for drift in drifts:
        if not drift.edits:  # `blocks_of` shows the place of each drift
            is_message = drift.part == "render" and "message" in drift.place
            places[f"the messages ({drift.place})" if is_message else names.get(drift.part, drift.part)] = None
    return ", ".join([*origins, *places])


def _value_lines(value: object) -> list[str]:
    if isinstance(value, str):
        return value[:LONGEST_LINE].split("\n")
    text = json.dumps(plain(value), ensure_ascii=False)
    return [cut(text, LONGEST_VALUE, f"… ({len(text):,} characters)")]


def blocks_of_lines(lines: Sequence[str], view: View = "words", width: int = 0) -> Iterator[Block]:
    """Show a diff of `sessions.text_diff` or a unified diff, with changed words highlighted."""
    more = len(lines) - MOST_LINES
    lines = [cut(one, LONGEST_LINE) for one in lines[:MOST_LINES]]
    if view == "beside" and (width - INDENT - len(GAP)) // 2 >= NARROWEST_SIDE:
        for old, new in paired_lines_of(lines):
            yield from _beside(old, new, (width - INDENT - len(GAP)) // 2)
        return
    for line in lines_of(lines):
        if view in ("old", "new") and line.sign == ("+" if view == "old" else "-"):
            continue
        marker = None if line.sign == "@" else Piece(f"{line.sign} ", _STYLES.get(line.sign, "note"))
        yield Block(tuple(_pieces(line)), INDENT, "", marker)
    if more > 0:
        yield block(f"… {more:,} more lines", "note", indent=INDENT)


_STYLES = {"+": "data", "-": "error"}


def _pieces(line: Line) -> Iterator[Piece]:
    """Split a line into pieces with changed words highlighted; a line without a counterpart gets its side's colour."""
    whole = not any(one.changed for one in line.runs)
    quiet = _STYLES.get(line.sign, "note") if whole else "text"
    for one in line.runs:
        yield Piece(one.text, {"+": "added", "-": "removed"}.get(line.sign, "note") if one.changed else quiet)


def _beside(old: Line | None, new: Line | None, width: int) -> Iterator[Block]:
    """Show two lines side by side, each wrapped to `width` cells."""
    left = _wrapped(old, width) if old is not None else []
    right = _wrapped(new, width) if new is not None else []
    for number in range(max(len(left), len(right))):
        one = left[number] if number < len(left) else []
        other = right[number] if number < len(right) else []
        pad = " " * (width - cell_len("".join([piece.text for piece in one])))
        yield Block((*one, Piece(pad), Piece(GAP, "note"), *other), INDENT)


def _wrapped(line: Line, width: int) -> list[list[Piece]]:
    """Wrap a line to `width` cells; its first row starts with its sign."""
    marker = Piece(f"{line.sign} ", _STYLES.get(line.sign, "note"))
    pieces = [piece._replace(text=expand_tabs(safe(piece.text))) for piece in _pieces(line)]
    marked = [(character, piece.style) for piece in pieces for character in piece.text]
    found: list[list[Piece]] = []
    for start, end in rows("".join([piece.text for piece in pieces]), width - len(marker.text)):
        runs = groupby(marked[start:end], key=lambda one: one[1])
        row = [Piece("".join([character for character, _ in run]), style) for style, run in runs]
        if cell_len("".join([piece.text for piece in row])) > width - len(marker.text):  # trailing space
            row[-1] = row[-1]._replace(text=row[-1].text[:-1])
        found.append([marker if not found else Piece("  "), *row])
    return found


MOST_MESSAGES = 12
"""The number of a prompt's first messages that are always shown; later messages only if they changed."""
MOST_UNCHANGED, MOST_WHOLE_LINES = 12, 600
"""The limits, in lines, for an unchanged message or reply, and for the diff of a changed message."""
LONGEST_WHOLE_LINE, LONGEST_WHOLE_VALUE = 4_000, 200


class Extent(NamedTuple):
    """The amount of a fixture to show.

    `around` is the number of recorded lines around a change (None: all; 0: only the change, which the drifts above
    show). `unchanged` is the number of lines of a message that matches.
    """

    around: int | None = None
    unchanged: int = MOST_UNCHANGED


ALL = Extent()
SHORTER: tuple[Extent, ...] = (*[Extent(one, one) for one in (12, 8, 5, 3)], *[Extent(0, one) for one in (12, 6, 3, 2)])
"""Extents to try in this order when the full text does not fit the screen."""

_LEGEND = IN_WORDS | dict.fromkeys(("words", "beside"), "as recorded │ as it is now")


def prompt_of(whole: Whole, view: View, width: int, extent: Extent = ALL) -> list[Block]:
    """Show the prompt by message, with a count of omitted lines; `width` is the text's width in cells."""
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
            for part in folded(lines[:MOST_WHOLE_LINES], extent.around):
                if isinstance(part, int):
                    blocks.append(block(f"⋯ {part:,} lines as recorded", "note", indent=INDENT))
                else:
                    blocks += blocks_of_lines(part, side_by_side, width)
    if left_out:
        blocks += [EMPTY, block(f"{left_out:,} further messages are as recorded", "note", indent=INDENT)]
    return blocks


def reply_of(whole: Whole, extent: Extent = ALL) -> Iterator[Block]:
    """Show the last recorded reply, its recorded parse result, and the current one if it changed."""
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
    old, new = last.reading, last.reading if same or today is None else today
    for name in dict.fromkeys([*old.values, *new.values]):
        before, after = (_value(one, name) for one in (old, new))
        style = "error" if name not in new.values else "added"
        changed = (Piece(" → ", "note"), Piece(after, style)) if before != after else ()
        yield Block((Piece(f"{name}  ", "name"), Piece(before, "removed" if changed else "text"), *changed), INDENT)
    for reading, style in ((old, "removed"), (new, "error")) if old != new else ((new, "error"),):
        if reading.error is not None:
            field = f" of `{reading.error.field}`" if reading.error.field else ""
            yield block(
                f"✗ parse error{field}: {one_line(reading.error.type, LONGEST_WHOLE_VALUE)}", style, indent=INDENT
            )


def _heading(said: str, quiet: str) -> Block:
    return Block((Piece(said, "heading"), Piece(f"   {quiet}", "note")))


def _lines_of(message: Mapping[str, Any] | None) -> list[str]:
    """Return a message's text by lines; other content as JSON."""
    content = (message or {}).get("content")
    if content is None:
        return []
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, indent=1)
    return text[: MOST_WHOLE_LINES * LONGEST_WHOLE_LINE].split("\n")[:MOST_WHOLE_LINES]


def folded(lines: Sequence[str], around: int | None) -> Iterator[Sequence[str] | int]:
    """Replace equal lines of a diff by their count if they are more than `around` lines from a change.

    A single line is not folded, since its count would take a line too.
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
        yield block(line[:LONGEST_WHOLE_LINE], "note", indent=INDENT)
    if len(lines) > most:
        yield block(f"… {len(lines) - most:,} more lines", "note", indent=INDENT)


def _value(reading: RecordedReading, name: str) -> str:
    if name not in reading.values:
        return "missing"
    return one_line(json.dumps(plain(reading.values[name]), ensure_ascii=False), LONGEST_WHOLE_VALUE)
