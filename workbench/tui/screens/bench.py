"""Screens of a bench: the verdict, the grid as a heat map, and the runs of a cell. Nothing is sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.screen import Screen

from adapters.display import blocks as shown
from sessions.bench.conclusions import Conclusions
from sessions.bench.grid import Cell, Grid
from sessions.bench.results import BenchRun
from workbench.bench import report
from workbench.output.display import one_line
from workbench.tui.keys.bindings import ON_A_DIALOG, KeyGroup, keys_of
from workbench.tui.widgets.heat_map import HeatCell, HeatMap, HeatTable, head_of
from workbench.tui.widgets.text.plain import PlainStatic, key_hints, lines, text_blocks
from workbench.tui.widgets.text.text_view import Block, TextView

_key = KeyGroup("Bench", "bench")
_run_key = KeyGroup("Runs of a cell", "runs")

Filter = Literal["all", "differs", "failed", "flipped"]
FILTERS: dict[Filter, str] = {
    "all": "all cases",
    "differs": "cases that differ",
    "failed": "failed cases",
    "flipped": "flaky cases",
}
Order = Literal["session", "worst", "name"]
ORDERS: dict[Order, str] = {"session": "session order", "worst": "worst first", "name": "by name"}
WIDE_ENOUGH = 100
"""Cells from which on the head shows the number of runs."""
Place = tuple[str, str]
"""A row's session file and case."""


class Wanted(NamedTuple):
    """A case and a column to show, and the run whose reply is put there (None: its own)."""

    case: str
    column: str
    run: BenchRun | None = None


class BenchScreen(Screen[Wanted | None]):
    """Show the grid; return the cell to show, or None."""

    HELP = """\
## Bench

The first line is the verdict: the best column, columns that are not told apart from it, and columns that are worse.

Each cell is a case in a column: its sign and colour show its runs, its numbers how many parsed and were as expected.
`✓` all of them, `◐` some, `✗` none, `!` no run counts, and `~`: the cell is flaky, its repeats disagree.

The arrows move between cells, `{grid.choose|enter}` shows the runs of a cell with their values, and `{bench.take|o}`
shows the case with the reply of its first run. `{bench.filter|f}` keeps only cases that differ between columns, failed,
or are flaky; `{bench.sort|s}` sorts; `{bench.turn|t}` turns the grid on its side; `{bench.pairs|p}` shows the
conclusions. `workbench bench SESSION` makes the runs.
"""
    APP_ACTIONS: ClassVar[frozenset[str]] = ON_A_DIALOG
    BINDING_GROUP_TITLE = "Bench"
    BINDINGS: ClassVar[list[BindingType]] = [
        _key("f", "filter", "filter", "Filter", "Filter: all, differing, failed or flaky cases"),
        _key("s", "sort", "sort", "Sort", "Sort as in the session, worst first, or by name"),
        _key("t", "turn", "turn", "Turn", "Turn the grid on its side, and back"),
        _key("p", "pairs", "pairs", "Conclude", "Show the conclusions about columns"),
        _key("o", "take", "take", "On screen", "Show this case with its reply"),
        _key("escape,q", "dismiss(None)", "close", "Close", "Close the grid"),
    ]

    def __init__(self, concluded: Conclusions, of: str) -> None:
        super().__init__()
        self._conclusions = concluded
        self._grid = concluded.grid
        self._of = of
        self._filter: Filter = "all"
        self._order: Order = "session"
        self._turned: bool | None = None
        """Whether columns are rows; None: whichever fits better."""
        self._rows: tuple[Place, ...] = concluded.grid.cases
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
        row, column = self._map.row, self._map.column
        case_at, column_at = (column, row) if self.is_turned else (row, column)
        if not self._rows or not self._grid.columns:
            return None
        return self._grid.row(*self._rows[case_at])[column_at]

    def _share_of(self, place: Place) -> float:
        cells = [cell for cell in self._grid.row(*place) if cell is not None and cell.counted]
        total = sum(len(cell.counted) for cell in cells)
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
        found = [place for place in self._grid.cases if self._is_wanted(place)]
        if self._order == "name":
            found.sort(key=lambda place: (place[1].casefold(), place))
        elif self._order == "worst":
            found.sort(key=self._share_of)
        self._rows = tuple(found)
        at = (self._map.row if row is None else row, self._map.column if column is None else column)
        self._map.show(self._table(), *at)
        runs = sum(len(cell.runs) for cell in self._grid.cells)
        count = f"{len(self._rows)} of {len(self._grid.cases)} cases" if self._filter != "all" else _many(self._grid)
        many = f" · {runs:,} runs" if self.size.width >= WIDE_ENOUGH else ""
        said = f" · {count}{many} · {FILTERS[self._filter]}, {ORDERS[self._order]}"
        room = max(8, self.size.width - len(said) - 10)
        verdict = one_line(f" {self._conclusions.verdict.line}", max(8, self.size.width - 2))
        head = ((" Bench ", "$text-accent bold"), (one_line(self._of, room), "bold"), (said, "$foreground 70%"))
        self._head.show(lines((verdict, "bold"), "\n", *head))
        self._show_about()

    def _show_about(self) -> None:
        self._about.show(self._about_cell())
        self._hint.show(key_hints(self.app, HINTS))

    def _table(self) -> HeatTable:
        names = tuple([report.case_name(self._grid, *place) for place in self._rows])
        columns = [one.column for one in self._grid.columns]
        cells = [[_heat(cell) for cell in self._grid.row(*place)] for place in self._rows]
        if not self.is_turned:
            return HeatTable(names, tuple(map(head_of, columns)), tuple(map(tuple, cells)))
        turned = tuple(zip(*cells, strict=True)) if cells else ()
        return HeatTable(tuple(columns) if cells else (), tuple([("", name) for name in names]), turned)

    def _about_cell(self) -> Content:
        """Describe the current cell and its column, a line each."""
        cell = self.cell
        if cell is None:
            return lines(" Not run." if self._rows else " No case matches the filter.")
        width = self.size.width - 2
        total = next(one for one in self._grid.columns if one.column == cell.column)
        flaky = f"flaky: {report.flaky_words(cell)}; " if cell.flips else ""
        agreed = f"same values in {cell.agreed} of {cell.parsed}; " if cell.parsed > 1 else ""
        return lines(
            (one_line(f" {report.cell_name(self._grid, cell)}", width), "bold"),
            "\n",
            one_line(f" {flaky}{agreed}{report.fact_words(cell)}", width),
            "\n",
            (one_line(f" whole column: {report.fact_words(total)}", width), "$foreground 70%"),
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
        self.app.push_screen(BenchTextScreen("Conclusions", text_blocks(self._concluded())))

    def _concluded(self) -> Iterator[shown.Block]:
        concluded = self._conclusions
        yield shown.Note(concluded.verdict.line, "strong")
        yield report.column_table(self._grid)
        yield from report.conclusions(concluded) if concluded.pairs else (shown.Note("There is only one column."),)

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

        title = report.cell_name(self._grid, cell)
        self.app.push_screen(BenchTextScreen(title, text_blocks(report.runs_of(cell)), cell.runs), end)


HINTS = (
    " {grid.choose|enter} runs  {bench.take|o} on screen  {bench.filter|f} filter  {bench.sort|s} sort  "
    "{bench.turn|t} turn  {bench.pairs|p} conclude  {bench.close|esc} close"
)


class BenchTextScreen(Screen[BenchRun | None]):
    """Show conclusions, or the runs of a cell; return the run to show on screen."""

    APP_ACTIONS: ClassVar[frozenset[str]] = ON_A_DIALOG
    BINDING_GROUP_TITLE = "Runs of a cell"
    BINDINGS: ClassVar[list[BindingType]] = [
        _run_key("o", "take", "take", "On screen", "Show the reply of this run on screen"),
        _run_key("escape,q", "dismiss(None)", "close", "Close", "Close this text"),
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
    return HeatCell(report.cell_words(cell), cell.standing)
