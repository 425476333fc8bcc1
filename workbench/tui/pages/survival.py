"""Show the stress test as text: rows of signs, cells, and parse results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from adapters.mutations.mutation import Mutation
from adapters.replies.reading import Reading
from sessions.stress.grid import VERDICTS, Grid, Survival, Verdict
from workbench.output.display import cell_width, one_line, value_text
from workbench.output.reading_text import first_line
from workbench.output.survival_words import MEANINGS, NOT_APPLICABLE, SIGNS, WORDS, differences
from workbench.tui.widgets.text.text_view import EMPTY, Block, Piece, block

NAME_WIDTH = 35
LONGEST_HEAD = 9
STYLES: Mapping[Verdict, str] = {"silently_wrong": "error", "flagged": "warning", "refused": "note", "same": "ok"}
LONGEST_LINE = 600
LONGEST_VALUE = 90
"""The limit of a value in cells; the reply below it is shown in full."""


def heads(found: Grid) -> list[str]:
    """Return the columns' names, shortened to fit above the signs."""
    return [one_line(one.id, LONGEST_HEAD) for one in found.columns]


def grid_width(found: Grid) -> int:
    """Return the width of the grid's rows in cells."""
    return NAME_WIDTH + sum(cell_width(head) + 1 for head in heads(found))


def rows(found: Grid, shown: frozenset[Verdict], at: tuple[str, int]) -> Iterator[Block]:
    """Show a row for each mutation with a verdict in `shown`, by group; `at` is the current mutation and column."""
    widths = [cell_width(head) for head in heads(found)]
    for group, mutations in groupby(listed(found, shown), lambda one: one.group):
        yield block(group, "heading")
        for mutation in mutations:
            pieces = [Piece(f"{mutation.name:<{NAME_WIDTH}}")]
            for index, (column, width) in enumerate(zip(found.columns, widths, strict=True)):
                cell = column.cells.get(mutation.name)
                sign, style = (NOT_APPLICABLE, "note") if cell is None else (SIGNS[cell.verdict], STYLES[cell.verdict])
                is_here = at == (mutation.name, index)
                before = " " * (width - 1 if is_here else width)
                pieces += [Piece(before), Piece(f"›{sign}" if is_here else sign, style)]
            yield Block(tuple(pieces), 0, mutation.name)


def listed(found: Grid, shown: frozenset[Verdict]) -> list[Mutation]:
    """Return the mutations with a verdict in `shown` in any column."""
    return [
        one
        for one in found.mutations
        if any(one.name in column.cells and column.cells[one.name].verdict in shown for column in found.columns)
    ]


def about(mutation: Mutation, column: Survival) -> Iterator[Block]:
    """Describe a cell: the imitated habit, verdict, wrong values, flags and damaged reply."""
    cell = column.cells.get(mutation.name)
    yield block(mutation.name, "title")
    yield block(mutation.imitates, "note")
    yield EMPTY
    if cell is None:
        yield Block((Piece(f"{NOT_APPLICABLE} {column.id}: ", "note"), Piece(_why_not(column), "note")))
        return
    words = f"{SIGNS[cell.verdict]} {one_line(column.id, 40)}: {WORDS[cell.verdict]}"
    yield Block((Piece(words, STYLES[cell.verdict]), Piece(f"  {MEANINGS[cell.verdict]}", "note")))
    for line in differences(cell):
        yield block(one_line(line, LONGEST_LINE), "error", indent=2)
    for flag in cell.flags:
        yield block(f"! {one_line(flag.message, LONGEST_LINE)}", "warning", indent=2)
    if cell.reading.error is not None:
        said = first_line(cell.reading.error.message)
        yield block(f"{cell.reading.error.type}: {one_line(said, LONGEST_LINE)}", "text", indent=2)
    yield EMPTY
    yield block("the damaged reply", "heading")
    yield painted(cell.reading)


def _why_not(column: Survival) -> str:
    return one_line(column.problem, LONGEST_LINE) or "not applicable to a reply of this form and these values"


def good_reading(column: Survival) -> Iterator[Block]:
    """Show the good reply with its values, coloured by the parser's use of each piece."""
    if column.good is None:
        yield block(_why_not(column), "note")
        return
    yield block("the good reply", "heading")
    yield block(one_line(column.good.source, LONGEST_LINE), "note")
    for said in column.good.passed_over:
        yield block(f"not {one_line(said, LONGEST_LINE)}", "note")
    yield EMPTY
    yield from _values(column.good.reading, ())
    yield EMPTY
    yield painted(column.good.reading)


def broken_reading(mutation: Mutation, column: Survival) -> Iterator[Block]:
    """Show the damaged reply in the same order: verdict, values, text."""
    cell = column.cells.get(mutation.name)
    if cell is None:
        yield block(_why_not(column), "note")
        return
    yield block(mutation.name, "heading")
    yield Block((Piece(f"{SIGNS[cell.verdict]} {WORDS[cell.verdict]}", STYLES[cell.verdict]),))
    yield EMPTY
    yield from _values(cell.reading, cell.wrong)
    for flag in cell.flags:
        yield block(f"! {one_line(flag.message, LONGEST_LINE)}", "warning")
    if cell.reading.error is not None:
        error = cell.reading.error
        yield block(f"{error.type}: {one_line(first_line(error.message), LONGEST_LINE)}", "warning")
    yield EMPTY
    yield painted(cell.reading)


def _values(reading: Reading, wrong: Sequence[str]) -> Iterator[Block]:
    for name in reading.signature.output_fields:
        if name in reading.values:
            style = "error" if name in wrong else "data"
            shown = one_line(value_text(reading.values[name]), LONGEST_VALUE)
            yield Block((Piece(f"{name} = ", "key"), Piece(shown, style)))
        elif reading.ok:
            yield Block((Piece(f"{name} ", "key"), Piece("has no value", "error")))


def painted(reading: Reading) -> Block:
    """Show a reply, coloured by the parser's use of each piece; `(empty)` for an empty reply."""
    pieces = [Piece(reading.completion[one.start : one.end], one.kind) for one in reading.spans]
    if not reading.completion:
        return block("(empty)", "note")
    return Block(tuple(pieces) if pieces else (Piece(reading.completion),))


def counts(found: Grid) -> Iterator[tuple[Verdict, str, list[str]]]:
    """Yield each verdict, its description, and its counts, padded to the columns' heads."""
    for verdict in VERDICTS:
        cells = [str(one.counts[verdict]) if one.good is not None else "-" for one in found.columns]
        padded = [f" {text:>{cell_width(head)}}" for text, head in zip(cells, heads(found), strict=True)]
        yield verdict, f"{SIGNS[verdict]} {WORDS[verdict]}", padded
