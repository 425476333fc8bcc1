"""What in the signature, demos and inputs does not reach the model as one would think; each lint leads to its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from adapters.formats import catalog
from adapters.lint import LINTS, Lint, lint, round_trip
from sessions.running import rendering
from workbench.editing.origins import demo_place
from workbench.output.display import one_line
from workbench.output.measures import counted
from workbench.state.document import Place
from workbench.tui.pages.looked_at import LookedAt
from workbench.tui.pages.writing import paragraph
from workbench.tui.widgets.text.text_view import EMPTY, Block, Piece, block

LONGEST_MESSAGE = 400
MOST_OF_A_KIND = 12
MOST_READ_BACK = 100


def lints_of(at: LookedAt) -> tuple[Lint, ...]:
    """The lints of the column's prompt, those of one kind together. None when the session cannot be rendered."""
    if at.rendered.request is None:
        return ()
    try:
        signature = at.session.signature.read()
        demos, inputs = rendering.demos_of(at.session), rendering.inputs_of(signature, at.case)
    except Exception:  # the column says so itself
        return ()
    prompt = at.rendered.request.prompt
    turns = tuple(at.case.turns)
    model = at.session.model_of(at.column)
    profile = catalog.profile(at.column.adapter)
    found = [*lint(signature, demos, inputs, profile, prompt, turns, model), *_not_read_back(at, demos)]
    order = {name: index for index, name in enumerate(LINTS)}
    return tuple(sorted(found, key=lambda one: order.get(one.name, len(order))))


def _not_read_back(at: LookedAt, demos: Sequence[Mapping[str, Any]]) -> tuple[Lint, ...]:
    """What does not survive the way into the prompt and back, among the first demos: each costs as much as a reply."""
    try:
        adapter = rendering.adapter_of(at.column)
    except Exception:  # code of the user's that was not named on the command line is not run
        return ()
    assert at.rendered.request is not None
    if at.rendered.request.decisions is not None:  # its demos are examples in the instructions, and no turns
        return ()
    numbers = [use.number for use in at.rendered.request.prompt.demos]
    some = slice(MOST_READ_BACK)
    known = numbers[some] if len(numbers) == len(demos) else ()
    return round_trip(adapter, at.rendered.request.signature, demos[some], known)


def blocks_of(at: LookedAt) -> list[Block]:
    """Every lint under what its kind means."""
    if at.rendered.request is None:
        return [EMPTY, *paragraph(f"There is no prompt: {at.rendered.why_no_prompt}", "error")]
    found = lints_of(at)
    if not found:
        return [EMPTY, Block((Piece("✓ ", "ok"), Piece("Everything reaches the model as it was given.")))]
    many = counted(len(found), "thing reaches", "things reach")
    blocks = [EMPTY, *paragraph(f"{many} the model otherwise than one would think.", "text")]
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
    """The editor that the lint is about."""
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
