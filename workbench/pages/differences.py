"""What differs between this column's request and another's, or the one that was recorded: by section before by line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from workbench import prompt_diff
from workbench.display import one_line
from workbench.pages.looked_at import LookedAt
from workbench.pages.writing import named, paragraph
from workbench.prompt_diff import SectionDiff
from workbench.widgets.text_view import EMPTY, Block, Piece, block

MOST_LINES = 4_000


class Other(NamedTuple):
    """What to compare with: `recorded`, or the id of another column."""

    id: str
    name: str


RECORDED = Other("recorded", "what was recorded")


def others_of(at: LookedAt) -> tuple[Other, ...]:
    """What this column can be compared with; its own recording first, if there is one."""
    recorded = (RECORDED,) if at.column.id in at.case.recordings else ()
    columns = [one.column.id for one in at.columns if one.request is not None and one.column.id != at.column.id]
    return (*recorded, *[Other(f"column {id}", f"column {id}") for id in columns])


def blocks_of(at: LookedAt, other: Other | None) -> list[Block]:
    """The differences from `other` to this column as it is now."""
    request = at.live.request
    if request is None:
        return [EMPTY, *paragraph(f"There is no prompt: {at.live.error}", "error")]
    if other is None:
        return [EMPTY, *paragraph("There is no other column, and nothing recorded (ctrl+r), to compare with.", "note")]
    after = prompt_diff.sections(request)
    if other == RECORDED:
        before = prompt_diff.sections_of_recording(at.case.recordings[at.column.id], request)
    else:
        found = next((one.request for one in at.columns if f"column {one.column.id}" == other.id), None)
        if found is None:
            return [EMPTY, *paragraph("That column has no prompt.", "note")]
        before = prompt_diff.sections(found)
    diffs = prompt_diff.compare_sections(before, after)
    name = one_line(at.column.id, 30)
    head = [Piece("from ", "note"), Piece(other.name, "title"), Piece(" to ", "note"), Piece(f"{name} now", "title")]
    blocks = [EMPTY, Block(tuple(head)), EMPTY, *_summary(diffs, len({**before, **after}))]
    for diff in diffs:
        blocks += _section(diff)
    return blocks


def _summary(diffs: Sequence[SectionDiff], count: int) -> list[Block]:
    if not diffs:
        return [Block((Piece("✓ ", "ok"), Piece("the same, byte for byte")))]
    blocks = [block(f"{len(diffs)} of {count} sections differ", "text")]
    for diff in diffs:
        plus = sum(line.startswith("+") for line in diff.lines)
        minus = sum(line.startswith("-") for line in diff.lines)
        what = "only now" if diff.before is None else "no more" if diff.after is None else f"+{plus} −{minus} lines"
        blocks.append(named(diff.section, what, width=24))
    return blocks


def _section(diff: SectionDiff) -> list[Block]:
    blocks = [EMPTY, block(diff.section, "heading")]
    for line in diff.lines[:MOST_LINES]:
        style = "data" if line.startswith("+") else "error" if line.startswith("-") else "note"
        if line.startswith("@@"):
            blocks.append(block(line, "note", indent=2))
        else:
            blocks.append(Block((Piece(line[1:], style),), 2, "", Piece(line[:1] + " ", style)))
    if len(diff.lines) > MOST_LINES:
        blocks.append(block(f"… {len(diff.lines) - MOST_LINES:,} more lines", "note", indent=2))
    return blocks
