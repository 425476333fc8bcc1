"""The grid of a bench: cases by columns as a heat map, and the runs behind a cell. Nothing is sent from here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import ClassVar, Literal, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen

from sessions.bench.grid import Cell, Grid
from sessions.bench.results import BenchRun
from workbench.bench import words
from workbench.output.display import one_line
from workbench.tui.keys.bindings import ON_A_DIALOG
from workbench.tui.keys.key_words import keys_of
from workbench.tui.widgets.heat_map import HeatCell, HeatMap, HeatTable, head_of, rows_of
from workbench.tui.widgets.text.plain import PlainStatic, lines
from workbench.tui.widgets.text.text_view import Block, Piece, TextView, block

_GROUP = Binding.Group("Bench")
_RUNS = Binding.Group("Runs of a cell")

Filter = Literal["all", "differs", "failed", "flipped"]
FILTERS: dict[Filter, str] = {
    "all": "every case",
    "differs": "only differing between columns",
    "failed": "only failed somewhere",
    "flipped": "only flipping",
}
Order = Literal["session", "worst", "name"]
ORDERS: dict[Order, str] = {"session": "in the session's order", "worst": "the worst first", "name": "by name"}
WIDE_ENOUGH = 100
"""Columns from which on the head says how many runs there are."""
Place = tuple[str, str]
"""A row's session file and case."""


class Wanted(NamedTuple):
    """What is to stand on screen: a case, a column, and the run whose reply is shown there (None: as it is)."""

    case: str
    column: str
    run: BenchRun | None = None


class BenchScreen(Screen[Wanted | None]):
    """Returns what is to stand on screen, or None."""

    HELP = """\
## Bench

Each cell is a case under a column: its sign and colour say how its runs ended, its numbers how many parsed and were as
expected. `✓` all of them, `◐` some, `✗` none, `!` no reply came, and `~` behind it: repeats of the same request flip.

The arrows go from cell to cell, `{grid.choose|enter}` shows the runs of a cell with what was read of each, and
`{bench.take|o}` puts the case on screen with the reply of its first run. `{bench.filter|f}` leaves only cases that
differ between columns, failed, or flip; `{bench.sort|s}` sorts; `{bench.turn|t}` turns the grid on its side;
`{bench.pairs|p}` says what may be concluded. `workbench bench SESSION` makes the runs.
"""
    APP_ACTIONS: ClassVar[frozenset[str]] = ON_A_DIALOG
    BINDING_GROUP_TITLE = "Bench"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "f", "filter", "Filter", id="bench.filter", tooltip="All, differing, failed or flipped cases", group=_GROUP
        ),
        Binding("s", "sort", "Sort", id="bench.sort", tooltip="As in the session, worst first, by name", group=_GROUP),
        Binding("t", "turn", "Turn", id="bench.turn", tooltip="Cases as columns, and back", group=_GROUP),
        Binding("p", "pairs", "Conclude", id="bench.pairs", tooltip="What may be concluded of columns", group=_GROUP),
        Binding("o", "take", "On screen", id="bench.take", tooltip="This case on screen, with its reply", group=_GROUP),
        Binding("escape,q", "dismiss(None)", "Close", id="bench.close", tooltip="Back to the prompts", group=_GROUP),
    ]

    def __init__(self, grid: Grid, of: str) -> None:
        super().__init__()
        self._grid = grid
        self._of = of
        self._filter: Filter = "all"
        self._order: Order = "session"
        self._turned: bool | None = None
        """Whether columns stand as rows; None: whichever fits better."""
        self._rows: tuple[Place, ...] = grid.cases
        self._head = PlainStatic(id="bench-head")
        self._map = HeatMap(id="bench-map")
        self._about = PlainStatic(id="bench-about")
        self._hint = PlainStatic(id="bench-hint")

    def compose(self) -> ComposeResult:
        yield self._head
        yield self._map
        yield self._about
        yield self._hint

    def on_mount(self) -> None:
        self._map.focus()
        self._show()

    def on_resize(self) -> None:
        self.call_after_refresh(self._show)

    # -- what is looked at

    @property
    def is_turned(self) -> bool:
        return len(self._grid.columns) > len(self._grid.cases) if self._turned is None else self._turned

    @property
    def cell(self) -> Cell | None:
        """The cell under the cursor."""
        row, column = self._map.row, self._map.column
        case_at, column_at = (column, row) if self.is_turned else (row, column)
        if not self._rows or not self._grid.columns:
            return None
        return self._grid.row(*self._rows[case_at])[column_at]

    def _chosen_rows(self) -> tuple[Place, ...]:
        found = [place for place in self._grid.cases if self._is_wanted(place)]
        if self._order == "name":
            found.sort(key=lambda place: (place[1].casefold(), place))
        elif self._order == "worst":
            found.sort(key=self._share_of)
        return tuple(found)

    def _share_of(self, place: Place) -> float:
        cells = [cell for cell in self._grid.row(*place) if cell is not None and cell.answered]
        total = sum(len(cell.answered) for cell in cells)
        return sum(cell.good for cell in cells) / total if total else -1.0

    def _is_wanted(self, place: Place) -> bool:
        cells = [cell for cell in self._grid.row(*place) if cell is not None]
        if self._filter == "differs":
            return self._grid.differs(*place)
        if self._filter == "failed":
            return any(cell.standing in ("bad", "mixed", "broken") for cell in cells)
        return self._filter == "all" or any(cell.flips for cell in cells)

    # -- painting

    def _show(self, row: int | None = None, column: int | None = None) -> None:
        self._rows = self._chosen_rows()
        at = (self._map.row if row is None else row, self._map.column if column is None else column)
        self._map.show(self._table(), *at)
        self._head.show(self._header())
        self._show_about()

    def _show_about(self) -> None:
        self._about.show(self._about_cell())
        self._hint.show(lines((keys_of(self.app)(HINTS), "$foreground 60%")))

    def _table(self) -> HeatTable:
        names = tuple([words.case_name(self._grid, *place) for place in self._rows])
        columns = [one.column for one in self._grid.columns]
        cells = [[_heat(cell) for cell in self._grid.row(*place)] for place in self._rows]
        if not self.is_turned:
            return HeatTable(names, tuple(map(head_of, columns)), rows_of(cells))
        turned = [list(row) for row in zip(*cells, strict=True)] if cells else []
        return HeatTable(tuple(columns) if cells else (), tuple([("", name) for name in names]), rows_of(turned))

    def _header(self) -> Content:
        runs = sum(len(cell.runs) for cell in self._grid.cells)
        count = f"{len(self._rows)} of {len(self._grid.cases)} cases" if self._filter != "all" else _many(self._grid)
        many = f" · {runs:,} runs" if self.size.width >= WIDE_ENOUGH else ""
        said = f" · {count}{many} · {FILTERS[self._filter]}, {ORDERS[self._order]}"
        room = max(8, self.size.width - len(said) - 10)
        return lines((" Bench ", "$text-accent bold"), (one_line(self._of, room), "bold"), (said, "$foreground 70%"))

    def _about_cell(self) -> Content:
        """Two lines: what the current cell came to, and its whole column."""
        cell = self.cell
        if cell is None:
            return lines(" Nothing ran here." if self._rows else " There is no such case; the filter leaves none.")
        width = self.size.width - 2
        name = f" {words.case_name(self._grid, cell.file, cell.case)} · {cell.column}"
        parts = [*_counts(cell), words.took(cell), words.failed_words(cell)]
        flips = f"flips: {words.flip_words(cell)}" if cell.flips else ""
        total = next(one for one in self._grid.columns if one.column == cell.column)
        shares = [words.share_words(total, "parsed"), words.share_words(total, "expected")]
        whole = [*shares, words.took(total), words.failed_words(total)]
        return lines(
            (one_line(name, width), "bold"),
            "\n",
            one_line(" " + "; ".join(part for part in (flips, *parts) if part), width),
            "\n",
            (one_line(f" whole column: {'; '.join(part for part in whole if part)}", width), "$foreground 70%"),
        )

    # -- keys

    def action_filter(self) -> None:
        names = list(FILTERS)
        self._filter = names[(names.index(self._filter) + 1) % len(names)]
        self._show(0, 0)

    def action_sort(self) -> None:
        names = list(ORDERS)
        self._order = names[(names.index(self._order) + 1) % len(names)]
        self._show(0, 0)

    def action_turn(self) -> None:
        row, column = self._map.row, self._map.column
        self._turned = not self.is_turned
        self._show(column, row)

    def action_pairs(self) -> None:
        self.app.push_screen(BenchTextScreen("What may be concluded", tuple(_conclusions(self._grid))))

    def action_take(self) -> None:
        cell = self.cell
        if cell is not None:
            self.dismiss(Wanted(cell.case, cell.column, next((one for one in cell.runs if one.reply), None)))

    @on(HeatMap.Moved)
    def _moved(self) -> None:
        self._show_about()

    @on(HeatMap.Chosen)
    def _open(self) -> None:
        cell = self.cell
        if cell is None or not cell.runs:
            return

        def end(taken: BenchRun | None) -> None:
            if taken is not None:
                self.dismiss(Wanted(cell.case, cell.column, taken))

        title = f"{words.case_name(self._grid, cell.file, cell.case)} · {cell.column}"
        self.app.push_screen(BenchTextScreen(title, tuple(_runs(cell)), cell.runs), end)


HINTS = (
    " {grid.choose|enter} runs  {bench.take|o} on screen  {bench.filter|f} filter  {bench.sort|s} sort  "
    "{bench.turn|t} turn  {bench.pairs|p} conclude  {bench.close|esc} close"
)


class BenchTextScreen(Screen[BenchRun | None]):
    """A text of the bench: what may be concluded, or the runs of a cell, of which one can be taken on screen."""

    APP_ACTIONS: ClassVar[frozenset[str]] = ON_A_DIALOG
    BINDING_GROUP_TITLE = "Runs of a cell"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "take", "On screen", id="runs.take", tooltip="The run under the cursor, on screen", group=_RUNS),
        Binding("escape,q", "dismiss(None)", "Close", id="runs.close", tooltip="Back to the grid", group=_RUNS),
    ]

    def __init__(self, title: str, blocks: tuple[Block, ...], runs: tuple[BenchRun, ...] = ()) -> None:
        super().__init__()
        self._title = title
        self._blocks = blocks
        self._runs = {str(one.number): one for one in runs}
        self._at = next(iter(self._runs), "")
        self._head = PlainStatic(id="bench-head")
        self._text = TextView(id="bench-text")
        self._hint = PlainStatic(id="bench-hint")

    def compose(self) -> ComposeResult:
        yield self._head
        yield self._text
        yield self._hint

    def on_mount(self) -> None:
        self._text.focus()
        self._show()

    def on_resize(self) -> None:
        self.call_after_refresh(self._show)

    def _show(self) -> None:
        self._head.show(lines((f" {one_line(self._title, max(10, self.size.width - 2))}", "$text-accent bold")))
        self._text.show(list(self._blocks), keep_place=True, current=self._at)
        runs = " {text.choose|enter} or {runs.take|o} this run on screen " if self._runs else ""
        self._hint.show(lines((keys_of(self.app)(f"{runs} ↑↓ scroll  {{runs.close|esc}} close"), "$foreground 60%")))

    @on(TextView.Moved)
    def _moved(self, event: TextView.Moved) -> None:
        self._at = event.target

    @on(TextView.Chosen)
    def _chosen(self, event: TextView.Chosen) -> None:
        self._at = event.target
        self.action_take()

    def action_take(self) -> None:
        if self._at in self._runs:
            self.dismiss(self._runs[self._at])


def _many(grid: Grid) -> str:
    cases, columns = len(grid.cases), len(grid.columns)
    return f"{cases} case{'' if cases == 1 else 's'} × {columns} column{'' if columns == 1 else 's'}"


def _heat(cell: Cell | None) -> HeatCell:
    if cell is None:
        return HeatCell("", "none")
    return HeatCell(f"{words.SIGNS[cell.standing]} {words.count_of(cell)}{'~' if cell.flips else ''}", cell.standing)


def _counts(cell: Cell) -> Iterator[str]:
    """Without intervals, which say little of one cell."""
    if cell.answered:
        yield f"{cell.parsed} of {len(cell.answered)} parsed"
    if cell.expecting:
        yield f"{cell.held} of {cell.expecting} as expected"
    if cell.parsed > 1:
        yield f"the same values in {cell.agreed} of {cell.parsed}"


def _conclusions(grid: Grid) -> Iterator[Block]:
    pairs = words.telling_pairs(grid.pairs)
    if not pairs:
        yield block("There is one column alone: nothing to compare.")
    for one in pairs:
        yield block(one.words, "text" if one.difference.is_certain else "note")


STYLE = {"parsed": "ok", "refused": "error", "failed": "warning"}


def _runs(cell: Cell) -> Iterator[Block]:
    """Each run: how it ended and why, what was read, and the reply."""
    for run in cell.runs:
        said = f"run {run.number}: {run.outcome}"
        yield Block((Piece(said, STYLE[run.outcome]), Piece(f"   {run.model}  {run.at}", "note")), 0, str(run.number))
        for line in (run.error, *run.failures):
            if line:
                yield block(line, "error", indent=2)
        if run.flags:
            yield block("flags: " + ", ".join(run.flags), "warning", indent=2)
        for name, value in run.values.items():
            yield Block((Piece(f"{name} ", "key"), Piece(_value(value), "data")), 2)
        if run.reply is not None:
            for line in run.reply.text.split("\n"):
                yield block(line, "note", indent=4)
        yield block("")


LONGEST_VALUE = 2_000


def _value(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}… ({len(text):,} characters)"
