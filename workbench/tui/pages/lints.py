"""Show the page Lint: parts of the prompt that reach the model in an unexpected form."""

from __future__ import annotations

from itertools import groupby

from adapters.lint import LINTS, Lint
from sessions.running import linting
from workbench.output.display import one_line
from workbench.output.measures import counted
from workbench.state.document import Place, demo_place
from workbench.tui.pages.page import LookedAt, paragraph
from workbench.tui.widgets.text.text_view import EMPTY, Block, Piece, block

LONGEST_MESSAGE = 400
MOST_OF_A_KIND = 12


def lints_of(at: LookedAt) -> tuple[Lint, ...]:
    """Find the lints of the column's prompt; none if the session cannot be rendered."""
    request = at.rendered.request
    return () if request is None else linting.lints_of(at.session, at.column, at.case, request)


def blocks_of(at: LookedAt) -> list[Block]:
    """List the lints, grouped by kind below its meaning."""
    if at.rendered.request is None:
        return [EMPTY, *paragraph(f"There is no prompt: {at.rendered.why_no_prompt}", "error")]
    found = lints_of(at)
    if not found:
        return [EMPTY, Block((Piece("✓ ", "ok"), Piece("Everything reaches the model as it was given.")))]
    many = counted(len(found), "thing reaches", "things reach")
    blocks = [EMPTY, *paragraph(f"{many} the model in an unexpected form.", "text")]
    for name, group in groupby(enumerate(found), key=lambda numbered: numbered[1].name):
        members = list(group)
        blocks.append(block(LINTS.get(name, name), "heading"))
        for index, one in members[:MOST_OF_A_KIND]:
            said = Piece(one_line(one.message, LONGEST_MESSAGE))
            blocks.append(Block((said,), 2, f"lint {index}", Piece("⚠ ", "warning")))
        if len(members) > MOST_OF_A_KIND:
            blocks.append(block(f"… and {len(members) - MOST_OF_A_KIND} more of the kind", "note", indent=4))
        blocks.append(EMPTY)
    return blocks


def place_of(at: LookedAt, one: Lint) -> Place:
    """Return the editor that the lint is about."""
    part, number, field = one.place
    if part == "demo":
        return demo_place(at.session, number or 1, field)
    if part == "history":
        return Place("history", at.case.name, (number or 1) - 1, field or "")
    if part == "input":
        return Place("input", at.case.name, field=field or "")
    if part == "column":
        return Place("column", field=at.column.id)
    if part == "instructions" and at.session.signature.instructions is not None:
        return Place("instructions")
    return Place("signature", field=field or "")
