"""Every cell of the survival grid: dspy's own parser says of the same broken reply what the grid says it does."""

from __future__ import annotations

from typing import Any

import dspy
import pytest
from oracle.engines import NAMES, ScriptedLM, theirs
from oracle.outcomes import divergence, outcome
from oracle.tally import Record, Tally

from adapters.signatures.signature import Signature
from sessions import examples
from sessions.model.session import Column
from sessions.stress import grid
from sessions.stress.grid import Cell


def as_dspy(signature: Signature) -> Any:
    """The same fields as a signature of dspy's, with the very same types."""
    makers = {"input": dspy.InputField, "output": dspy.OutputField}
    fields = {name: (one.annotation, makers[one.role]()) for name, one in signature.fields.items()}
    return dspy.Signature(fields, signature.instructions)


def parsed_by_dspy(adapter: str, signature: Any, text: str) -> dict[str, Any]:
    """The values, or dspy's error. TwoStep asks its second model, which answers the broken reply and no other."""
    if adapter == "twostep":
        return dict(theirs(adapter, {}, ScriptedLM([[text]])).parse(signature, "The prose of the first model."))
    return dict(theirs(adapter).parse(signature, text))


@pytest.mark.parametrize("name", examples.NAMES)
def test_every_verdict_is_that_of_dspys_parser(name: str, record: Record) -> None:
    session = examples.load(name)
    signature = session.signature.read()
    live = as_dspy(signature)
    tally = Tally(f"broken replies of the example {name}")
    for adapter in NAMES:
        found = grid.survival(session, session.cases[0], adapter, Column(adapter, adapter))
        for cell in found.cells.values():
            tally.add(f"{adapter}: {cell.mutation.name}", _differs(adapter, live, cell))
    tally.report(record)


def _differs(adapter: str, live: Any, cell: Cell) -> str | None:
    left = outcome(lambda: parsed_by_dspy(adapter, live, cell.text))
    if left.error is not None:
        return None if cell.verdict == "refused" else f"dspy refuses what is {cell.verdict}: {left.error}"
    if cell.verdict == "refused":
        return f"dspy reads what is refused: {left.value}"
    same = not grid.different(left.value, cell.meant)
    if same != (cell.verdict == "same"):
        return f"dspy reads {left.value}, which is {cell.verdict}"
    return divergence(left, outcome(lambda: dict(cell.reading.values)))
