"""Write the survival grid as a page: counts, the grid, and each damaged reply that parses differently.

Each cell of the grid links to its reply, folded below it, with the intended and the parsed values, and the flags.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

from adapters.display.blocks import Block, Folded, Heading, Items, Mark, Note, Passage, Piece, Table, Text, Tone
from adapters.mutations.mutation import Mutation
from sessions.model.session import Case
from sessions.stress.grid import VERDICTS, Cell, Grid, Survival, Verdict
from workbench.output.survival_words import (
    MEANINGS,
    NOT_APPLICABLE,
    SIGNS,
    WORDS,
    decision,
    differences,
    passed_over,
    sources,
)
from workbench.pages.page import page_of_blocks

TONES: Mapping[Verdict, Tone] = {"silently_wrong": "worst", "flagged": "warning", "refused": "bad", "same": "good"}
MOST_SHOWN = 4_000
"""The most characters of a damaged reply on the page."""


def page_of(found: Grid, name: str) -> str:
    return page_of_blocks(f"{name}: which parsers survive a damaged reply", _blocks(found))


def _blocks(found: Grid) -> Iterator[Block]:
    count = sum(len(one.cells) for one in found.columns)
    yield Items(tuple(decision(found)))
    yield Note(f"{count} damaged replies of {Case(found.case).in_words}, each parsed by its adapter as it is.", "")
    yield Items(tuple([f"Damaged: {one}." for one in sources(found.columns)]))
    yield from [Note(f"Not damaged: {one}.") for one in passed_over(found.columns)]
    yield counts(found)
    yield from [Note(f"{one.id}: {one.problem}") for one in found.columns if one.problem]
    yield Heading("The grid")
    yield grid(found)
    yield Heading("Replies that parse differently, or not at all")
    for mutation in found.mutations:
        for column in found.columns:
            cell = column.cells.get(mutation.name)
            if cell is not None and cell.verdict != "same":
                yield _reply(column, cell)


def counts(found: Grid) -> Table:
    """Build a table of how often each column has each verdict."""
    rows: list[tuple[Text, ...]] = []
    for verdict in VERDICTS:
        name = Mark(f"{SIGNS[verdict]} {WORDS[verdict]}", says=MEANINGS[verdict])
        rows.append((name, *[Mark(str(one.counts[verdict]), TONES[verdict]) for one in found.columns]))
    return Table(("verdict", *[one.id for one in found.columns]), tuple(rows))


def grid(found: Grid) -> Table:
    """Build a table with a row for each mutation, under the name of its group."""
    rows: list[tuple[Text, ...]] = []
    for group, mutations in groupby(found.mutations, lambda one: one.group):
        rows.append((Mark(group, "strong"), *[""] * len(found.columns)))
        rows += [(one.name, *[_mark(column, one) for column in found.columns]) for one in mutations]
    return Table(("mutation", *[one.id for one in found.columns]), tuple(rows), is_grid=True)


def _mark(column: Survival, mutation: Mutation) -> Mark:
    cell = column.cells.get(mutation.name)
    if cell is None:
        return Mark(NOT_APPLICABLE, "dim", "cannot happen to this reply")
    link = "" if cell.verdict == "same" else _place(column, mutation)
    return Mark(SIGNS[cell.verdict], TONES[cell.verdict], f"{column.id}: {WORDS[cell.verdict]}", link)


def _place(column: Survival, mutation: Mutation) -> str:
    return "".join(character if character.isalnum() else "-" for character in f"{column.id} {mutation.name}")


def _reply(column: Survival, cell: Cell) -> Folded:
    said = differences(cell)
    if cell.reading.error is not None:
        said.append(f"{cell.reading.error.type}: {cell.reading.error.message[:MOST_SHOWN]}")
    said += [flag.message for flag in cell.flags]
    text = cell.text[:MOST_SHOWN] + ("…" if len(cell.text) > MOST_SHOWN else "")
    head = f"{SIGNS[cell.verdict]} {column.id} · {cell.mutation.name} · {WORDS[cell.verdict]}"
    inside = (Note(cell.mutation.imitates), Items(tuple(said)), Passage("", (Piece(text, "value"),)))
    return Folded(Mark(head, TONES[cell.verdict]), inside, _place(column, cell.mutation))
