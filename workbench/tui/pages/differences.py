"""Compare this column's request with another request.

The other request is another column's, the last request sent, or the recording. They are compared by section, then by
line, then by word within a changed line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from adapters.requests.request import Request
from workbench.output import prompt_diff
from workbench.output.display import one_line
from workbench.output.prompt_diff import SectionDiff
from workbench.tui.pages.drifts import blocks_of_lines
from workbench.tui.pages.page import LookedAt, named, paragraph
from workbench.tui.widgets.text.text_view import EMPTY, Block, Piece, block


class Other(NamedTuple):
    """The other side of a comparison; `id` is `sent`, `recorded` or `column ID`."""

    id: str
    name: str


RECORDED = Other("recorded", "what was recorded")
SENT = Other("sent", "what was sent last")


def others_of(at: LookedAt) -> tuple[Other, ...]:
    """List what this column can be compared with; the last request sent comes first if it differs, else last."""
    recorded = (RECORDED,) if at.column.id in at.case.recordings else ()
    ids = [one.column.id for one in at.columns if one.request is not None and one.column.id != at.column.id]
    columns = [Other(f"column {id}", f"column {id}") for id in ids]
    if at.sent is None:
        return (*recorded, *columns)
    return (SENT, *recorded, *columns) if has_changed(at.sent, at.rendered.request) else (*recorded, *columns, SENT)


def has_changed(sent: Request, now: Request | None) -> bool:
    """Return whether the request changed since it was sent."""
    return now is not None and sent.as_dict() != now.as_dict()


def blocks_of(at: LookedAt, other: Other | None) -> list[Block]:
    """Show the differences between `other` and this column's current request."""
    request = at.rendered.request
    if request is None:
        return [EMPTY, *paragraph(f"There is no prompt: {at.rendered.why_no_prompt}", "error")]
    if other is None:
        compared = "nothing sent ({app.send_all|F5}) or recorded ({app.record|ctrl+r}), to compare with."
        return [EMPTY, *paragraph(at.keys(f"There is no other column, and {compared}"), "note")]
    after = prompt_diff.sections(request)
    if other == SENT and at.sent is not None:
        # equal messages may have had other demo or turn numbers, so sections of an unchanged request are not compared
        before = prompt_diff.sections(at.sent) if has_changed(at.sent, request) else after
    elif other == RECORDED:
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
        blocks += section_blocks(diff)
    return blocks


def _summary(diffs: Sequence[SectionDiff], count: int) -> list[Block]:
    if not diffs:
        return [Block((Piece("✓ ", "ok"), Piece("the same, byte for byte")))]
    blocks = [block(f"{len(diffs)} of {count} sections differ", "text")]
    for diff in diffs:
        plus = sum(line.startswith("+") for line in diff.lines)
        minus = sum(line.startswith("-") for line in diff.lines)
        what = "new" if diff.before is None else "gone" if diff.after is None else f"+{plus} −{minus} lines"
        blocks.append(named(diff.section, what, width=24))
    return blocks


def section_blocks(diff: SectionDiff) -> list[Block]:
    """Show a section's differences, with changed words marked."""
    return [EMPTY, block(diff.section, "heading"), *blocks_of_lines(diff.lines)]
