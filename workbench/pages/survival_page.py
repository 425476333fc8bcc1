"""The survival grid as one HTML page: counts, the grid in colour and sign, and every broken reply that is not the same.

Each coloured cell leads to its reply, unfolded below: what was meant, what was read, and what is said of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby

from adapters.shown.elements import Element, tag
from sessions.model.session import Case
from sessions.stress.grid import VERDICTS, Cell, Grid, Survival, Verdict
from sessions.stress.mutation import Mutation
from workbench.output.survival_words import MEANINGS, NOT_APPLICABLE, SIGNS, WORDS, differences, passed_over, sources
from workbench.pages.page import folded, page, table

CLASSES: Mapping[Verdict, str] = {"silently_wrong": "worst", "flagged": "mixed", "refused": "bad", "same": "good"}
MOST_SHOWN = 4_000
"""Characters of a broken reply on the page."""


def page_of(found: Grid, name: str) -> str:
    """A whole page, as `workbench.pages.page.page` makes it."""
    ids = [one.id for one in found.columns]
    count = sum(len(one.cells) for one in found.columns)
    body: list[Element | str] = [
        tag(
            "p",
            {},
            f"{count} broken replies of {Case(found.case).in_words}, each read by its adapter's parser as it is.",
        ),
        tag("ul", {}, *[tag("li", {}, f"Broken is {one}.") for one in sources(found.columns)]),
        *[tag("p", {"class": "dim"}, f"Not broken: {one}.") for one in passed_over(found.columns)],
        table(["verdict", *ids], [_counts(found, verdict) for verdict in VERDICTS]),
        *[tag("p", {"class": "dim"}, f"{one.id}: {one.problem}") for one in found.columns if one.problem],
    ]
    rows: list[list[Element | str]] = []
    for group, mutations in groupby(found.mutations, lambda one: one.group):
        rows.append([tag("strong", {}, group)])
        rows += [_row(one, found.columns) for one in mutations]
    body += [tag("h2", {}, "The grid"), table(["mutation", *ids], rows)]
    body.append(tag("h2", {}, "Every reply that was read as something else, or refused"))
    for mutation in found.mutations:
        body += [
            _reply(column, column.cells[mutation.name])
            for column in found.columns
            if mutation.name in column.cells and column.cells[mutation.name].verdict != "same"
        ]
    return page(f"{name}: which parser survives a bad reply", body)


def _counts(found: Grid, verdict: Verdict) -> list[Element | str]:
    words = tag("span", {"title": MEANINGS[verdict]}, f"{SIGNS[verdict]} {WORDS[verdict]}")
    counts = [tag("td", {"class": CLASSES[verdict]}, str(one.counts[verdict])) for one in found.columns]
    return [words, *counts]


def _row(mutation: Mutation, columns: tuple[Survival, ...]) -> list[Element | str]:
    return [mutation.name, *[_td(column, mutation) for column in columns]]


def _td(column: Survival, mutation: Mutation) -> Element:
    cell = column.cells.get(mutation.name)
    if cell is None:
        return tag("td", {"class": "none", "title": "cannot happen to this reply"}, NOT_APPLICABLE)
    sign = tag("span", {"class": "sign"}, SIGNS[cell.verdict])
    shown = {"class": CLASSES[cell.verdict], "title": f"{column.id}: {WORDS[cell.verdict]}"}
    if cell.verdict == "same":
        return tag("td", shown, sign)
    return tag("td", shown, tag("a", {"href": f"#{_place(column, mutation)}"}, sign))


def _place(column: Survival, mutation: Mutation) -> str:
    return "".join(character if character.isalnum() else "-" for character in f"{column.id} {mutation.name}")


def _reply(column: Survival, cell: Cell) -> Element:
    said = [tag("li", {}, one) for one in differences(cell)]
    if cell.reading.error is not None:
        said.append(tag("li", {}, f"{cell.reading.error.type}: {cell.reading.error.message[:MOST_SHOWN]}"))
    said += [tag("li", {}, flag.message) for flag in cell.flags]
    text = cell.text[:MOST_SHOWN] + ("…" if len(cell.text) > MOST_SHOWN else "")
    head = f"{SIGNS[cell.verdict]} {column.id} · {cell.mutation.name} · {WORDS[cell.verdict]}"
    about = tag("p", {"class": "dim"}, cell.mutation.imitates)
    return tag(
        "div", {"id": _place(column, cell.mutation)}, folded(head, about, tag("ul", {}, *said), tag("pre", {}, text))
    )
