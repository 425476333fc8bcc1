"""A bench as one page: the heat map, what may be concluded, and every reply behind its cell."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from adapters.shown.elements import Element, tag
from sessions.bench.grid import Cell, Change, ColumnTotal, Grid
from sessions.bench.results import BenchRun
from workbench.bench import words
from workbench.pages.page import folded, page, table

CLASSES = {"good": "good", "mixed": "mixed", "bad": "bad", "broken": "worst", "none": "none"}
MOST_REPLIES = 3
"""Different replies of a cell that stand there in full; of others it is said how often they came."""
LONGEST_REPLY = 20_000


def report(grid: Grid, changes: Sequence[Change] | None, title: str) -> str:
    """The whole page. Every cell of the heat map leads to its runs."""
    return page(title, [*_body(grid, changes)])


def _body(grid: Grid, changes: Sequence[Change] | None) -> Iterator[Element]:
    runs = sum(len(cell.runs) for cell in grid.cells)
    cells = f"{len(grid.cases)} cases × {len(grid.columns)} columns, {runs:,} runs"
    yield tag("p", {"class": "dim"}, cells)
    yield _heat_map(grid)
    yield tag("p", {"class": "small"}, *_legend())
    yield tag("h2", {}, "What may be concluded")
    pairs = words.telling_pairs(grid.pairs)
    told = [tag("li", {}, one.words) for one in pairs]
    certain = sum(one.difference.is_certain for one in pairs)
    yield tag("ul", {}, *(told[: max(certain, words.MOST_PAIRS)] or [tag("li", {}, "There is one column alone.")]))
    rest = told[max(certain, words.MOST_PAIRS) :]
    if rest:
        yield folded(f"{len(rest)} more pairs, none of which differ for certain", tag("ul", {}, *rest))
    yield tag("h2", {}, "Columns")
    heads = ["column", "parsed", "as expected", "a run", "without a reply"]
    yield table(heads, [_column(one) for one in grid.columns])
    flipped = [cell for cell in grid.cells if cell.flips]
    if flipped:
        yield tag("h2", {}, "Cells that flip between repeats")
        yield tag("ul", {}, *[tag("li", {}, _link(cell, grid), f": {words.flip_words(cell)}") for cell in flipped])
    if changes is not None:
        yield tag("h2", {}, "Beside the bench before")
        yield tag("ul", {}, *[tag("li", {}, line) for line in words.change_words(grid, changes)])
    yield tag("h2", {}, "Every reply")
    for cell in grid.cells:
        yield _runs(cell, grid)


def _heat_map(grid: Grid) -> Element:
    """Whichever there are more of, cases or columns, stand below each other."""
    cases = [words.case_name(grid, *place) for place in grid.cases]
    columns = [one.column for one in grid.columns]
    cells = [[_cell(cell, grid) for cell in grid.row(*place)] for place in grid.cases]
    if len(columns) <= len(cases):
        return table(["case", *columns], [[name, *row] for name, row in zip(cases, cells, strict=True)])
    turned = zip(columns, zip(*cells, strict=True), strict=True)
    return table(["column", *cases], [[name, *row] for name, row in turned])


def _column(one: ColumnTotal) -> list[Element | str]:
    return [
        one.column,
        words.share_words(one, "parsed") or "–",
        words.share_words(one, "expected") or "–",
        words.took(one),
        words.failed_words(one) or "–",
    ]


def _legend() -> Iterator[Element | str]:
    for standing, sign in words.SIGNS.items():
        said = tag("span", {"class": f"tag {CLASSES[standing]}"}, sign)
        yield tag("span", {"class": "key"}, said, f" {words.IN_WORDS[standing]}")
    yield tag("span", {"class": "key"}, "~ repeats flip")


def _id(cell: Cell, grid: Grid) -> str:
    return f"cell-{grid.numbers[cell.file, cell.case, cell.column]}"


def _cell(cell: Cell | None, grid: Grid) -> Element:
    if cell is None:
        return tag("td", {"class": "none"}, "")
    said = f"{cell.case} · {cell.column}: {words.IN_WORDS[cell.standing]}"
    link = tag("a", {"href": f"#{_id(cell, grid)}", "title": said}, words.count_of(cell))
    sign = tag("span", {"class": "sign"}, words.SIGNS[cell.standing])
    return tag("td", {"class": f"{CLASSES[cell.standing]} cell"}, sign, " ", link, "~" if cell.flips else "")


def _link(cell: Cell, grid: Grid) -> Element:
    return tag("a", {"href": f"#{_id(cell, grid)}"}, f"{words.case_name(grid, cell.file, cell.case)} · {cell.column}")


def _runs(cell: Cell, grid: Grid) -> Element:
    """The cell's runs: the same reply once, with how often it came."""
    name = f"{words.case_name(grid, cell.file, cell.case)} · {cell.column}"
    sign = tag(
        "span", {"class": f"tag {CLASSES[cell.standing]}"}, f"{words.SIGNS[cell.standing]} {words.count_of(cell)}"
    )
    alike: dict[tuple[object, ...], list[BenchRun]] = {}
    for run in cell.runs:
        text = run.reply.text if run.reply is not None else None
        alike.setdefault((run.outcome, text, run.error, run.failures), []).append(run)
    shown = sorted(alike.values(), key=lambda runs: -len(runs))
    parts = [part for runs in shown[:MOST_REPLIES] for part in _alike(runs)]
    if len(shown) > MOST_REPLIES:
        rest = [part for runs in shown[MOST_REPLIES:] for part in _alike(runs)]
        parts.append(folded(f"{len(shown) - MOST_REPLIES} more replies", *rest))
    # Inside what is folded: a browser that is led there opens it.
    inside = tag("div", {"id": _id(cell, grid)}, *parts)
    return folded(tag("span", {}, sign, f" {name} · {words.took(cell)}"), inside)


def _alike(runs: Sequence[BenchRun]) -> Iterator[Element]:
    run = runs[0]
    numbers = ", ".join(str(one.number) for one in runs)
    yield tag("h3", {}, f"{len(runs)} × {run.outcome} (run {numbers})")
    for line in (run.error, *run.failures):
        if line:
            yield tag("p", {"class": "bad tag"}, line)
    if run.flags:
        yield tag("p", {"class": "small dim"}, "flags: " + ", ".join(run.flags))
    if run.reply is not None:
        text = run.reply.text
        cut = f"… ({len(text):,} characters)" if len(text) > LONGEST_REPLY else ""
        yield tag("pre", {}, text[:LONGEST_REPLY] + cut)
    if run.values:
        yield folded("values", tag("pre", {}, json.dumps(dict(run.values), ensure_ascii=False, indent=2)))
