"""One fixture's drifts as text: what was recorded and what is made now, by words, side by side, or one of the two."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Literal, get_args

from rich.cells import cell_len

from adapters.values.plain_json import plain
from sessions.causes.cause import Cause
from sessions.causes.finding import origins_of
from sessions.checking.verdicts import Drift, turn_in_words
from sessions.text_diff import Line, line_diff, lines_of, paired_lines_of
from workbench.output.display import safe
from workbench.tui.widgets.text.text_view import EMPTY, Block, Piece, block
from workbench.tui.widgets.text.wrapping import expand_tabs, rows

View = Literal["words", "beside", "old", "new"]
VIEWS: tuple[View, ...] = get_args(View)
IN_WORDS = {"words": "by words", "beside": "side by side", "old": "as recorded", "new": "as it is now"}

MOST_LINES = 4_000
LONGEST_LINE = 20_000
"""Characters of a changed line that are shown."""
LONGEST_VALUE = 500
NARROWEST_SIDE = 20
INDENT = 2
GAP = " │ "


def blocks_of(drifts: Sequence[Drift], view: View, width: int) -> list[Block]:
    """The drifts one below the other, each under the place where it stands; `width` is that of the text, in cells."""
    blocks: list[Block] = []
    left = MOST_LINES
    for drift in drifts:
        expected = drift.part in ("expect", "live")
        said = turn_in_words(drift.edits[0].origin.turn) if drift.edits else drift.message
        pieces = [Piece(said, "heading"), Piece(f"   {drift.place or drift.part}", "note")]
        legend = block("− expected   + found", "note", indent=INDENT) if expected and diff_of(drift) else None
        versions = block(f"versions: {drift.versions}", "note", indent=INDENT) if drift.versions else None
        blocks += [EMPTY, Block(tuple(pieces)), *[one for one in (legend, versions) if one is not None]]
        lines = diff_of(drift)
        blocks += blocks_of_lines(lines[:left], view, width)
        left -= min(left, len(lines))
        if len(lines) > left == 0:
            blocks.append(block("… more in `workbench check --json`", "note", indent=INDENT))
            break
    return blocks or [EMPTY, block("This fixture no longer shows it: its file has changed.", "note")]


def diff_of(drift: Drift) -> tuple[str, ...]:
    """The lines of a drift's difference, those of its values where it is no text."""
    if drift.diff:
        return drift.diff
    if drift.before is None and drift.after is None:
        return ()
    return line_diff(_value_lines(drift.before), _value_lines(drift.after))


def places_of(cause: Cause, drifts: Sequence[Drift]) -> str:
    """Describe where a cause shows, as in "the description of `score` in the system message"."""
    origins = dict.fromkeys([one.in_words() for drift in drifts for one in origins_of(cause.key, drift)])
    places = dict.fromkeys([_place(drift) for drift in drifts if not drift.edits])
    return ", ".join([*origins, *places])


def _place(drift: Drift) -> str:
    names = {"render": "the request", "parse": "the parse result", "expect": "the expectations"}
    if drift.part == "render" and "message" in drift.place:
        return f"the messages ({drift.place})"
    return names.get(drift.part, drift.part)  # its place stands above each of them


def _value_lines(value: object) -> list[str]:
    if isinstance(value, str):
        return value[:LONGEST_LINE].split("\n")
    text = json.dumps(plain(value), ensure_ascii=False)
    return [text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}… ({len(text):,} characters)"]


def blocks_of_lines(lines: Sequence[str], view: View = "words", width: int = 0) -> Iterator[Block]:
    """Show a difference of `sessions.text_diff`, or a unified diff; changed words stand out."""
    more = len(lines) - MOST_LINES
    lines = [one if len(one) <= LONGEST_LINE else f"{one[:LONGEST_LINE]}…" for one in lines[:MOST_LINES]]
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
_CHANGED = {"+": "added", "-": "removed"}


def _pieces(line: Line) -> Iterator[Piece]:
    """A line's stretches: what differs stands out; a line without a counterpart is of its side's colour."""
    whole = not any(one.changed for one in line.runs)
    quiet = _STYLES.get(line.sign, "note") if whole else "text"
    for one in line.runs:
        yield Piece(one.text, _CHANGED.get(line.sign, "note") if one.changed else quiet)


def _beside(old: Line | None, new: Line | None, width: int) -> Iterator[Block]:
    """Two lines side by side, each wrapped to `width` cells."""
    left = _wrapped(old, width) if old is not None else []
    right = _wrapped(new, width) if new is not None else []
    for number in range(max(len(left), len(right))):
        one = left[number] if number < len(left) else []
        other = right[number] if number < len(right) else []
        pad = " " * (width - cell_len("".join([piece.text for piece in one])))
        yield Block((*one, Piece(pad), Piece(GAP, "note"), *other), INDENT)


def _wrapped(line: Line, width: int) -> list[list[Piece]]:
    """The rows of a line within `width` cells, its sign in front of the first."""
    marker = Piece(f"{line.sign} ", _STYLES.get(line.sign, "note"))
    pieces = [piece._replace(text=expand_tabs(safe(piece.text))) for piece in _pieces(line)]
    marked = [(character, piece.style) for piece in pieces for character in piece.text]
    found: list[list[Piece]] = []
    for start, end in rows("".join([piece.text for piece in pieces]), width - len(marker.text)):
        runs = groupby(marked[start:end], key=lambda one: one[1])
        row = [Piece("".join([character for character, _ in run]), style) for style, run in runs]
        if cell_len("".join([piece.text for piece in row])) > width - len(marker.text):  # a blank hangs over the edge
            row[-1] = row[-1]._replace(text=row[-1].text[:-1])
        found.append([marker if not found else Piece("  "), *row])
    return found
