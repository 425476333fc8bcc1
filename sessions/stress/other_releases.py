"""The same broken replies read by another release of dspy, which says nothing of what surprises it."""

from __future__ import annotations

from dataclasses import replace

from adapters.formats import catalog
from adapters.replies.reading import Reading, ReadingError, Span
from sessions.file.typed_values import typed
from sessions.model.session import Session
from sessions.releases.engine import ReleaseError, ReleaseReading
from sessions.releases.release import Release
from sessions.stress import good_replies
from sessions.stress.grid import Cell, Survival


def read_by(dspy: Release, session: Session, ours: Survival) -> Survival | None:
    """A column beside `ours`: what the parser of `dspy` makes of the replies that were broken for it.

    Values are compared as they are written in a session's file. There is no verdict `flagged`: dspy alone says nothing.
    None where dspy has no such parser: of TwoStep it is Chat that reads, and Markdown is not dspy's.
    """
    if ours.good is None or not has_parser(ours.column.adapter):
        return None
    id = f"{ours.id}@{dspy.version}"
    cells = list(ours.cells.values())
    try:
        good, *found = dspy.readings(session, ours.column, [ours.good.text, *[cell.text for cell in cells]])
    except ReleaseError as error:
        return replace(ours, id=id, good=None, cells={}, problem=str(error))
    if not good.ok:
        refused = f"{dspy.name} does not read the good reply ({good.why}), so nothing can be said of broken ones"
        return replace(ours, id=id, good=None, cells={}, problem=refused)
    judged = [_judged(cell, one) for cell, one in zip(cells, found, strict=True)]
    return replace(ours, id=id, cells={cell.mutation.name: cell for cell in judged})


def has_parser(adapter: str) -> bool:
    """Whether a dspy has an adapter of that name whose own parser reads the reply."""
    return catalog.dspy_class(adapter) is not None and not catalog.profile(adapter).has_second_model


def _judged(cell: Cell, found: ReleaseReading) -> Cell:
    meant = {name: typed(value) for name, value in cell.meant.items()}
    refused = None if found.ok else ReadingError(found.error, found.message)
    spans = (Span(0, len(cell.text), "untraced"),) if cell.text else ()
    reading = Reading(cell.reading.adapter, cell.reading.signature, cell.text, found.values, spans, {}, refused)
    if refused is not None:
        return Cell(cell.mutation, cell.text, meant, reading, "refused")
    wrong = good_replies.different(meant, found.values)
    return Cell(cell.mutation, cell.text, meant, reading, "silently_wrong" if wrong else "same", wrong)
