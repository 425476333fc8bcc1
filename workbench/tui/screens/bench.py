"""Show a bench: the verdict, the grid as a heat map, and the runs of a cell. Nothing is sent."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from typing import Literal, NamedTuple

from textual import on
from textual.app import ComposeResult

from adapters.display import blocks as shown
from sessions.bench.conclusions import Conclusions
from sessions.bench.grid import lost_cases, misses_by_cause
from sessions.bench.results import BenchRun
from sessions.bench.totals import Cell
from sessions.errors import SessionError, counted
from workbench.bench import report
from workbench.output.display import one_line
from workbench.tui.dialogs.choose import ChooseScreen, Entry
from workbench.tui.keys import ON_A_DIALOG, keys_of, pane_keys
from workbench.tui.screens import FrontScreen
from workbench.tui.screens.panes_screen import HIGH
from workbench.tui.widgets.heat_map import HeatCell, HeatMap, HeatTable, head_of
from workbench.tui.widgets.text.plain import QUIET, PlainStatic, key_hints, lines, plain_notify, text_blocks
from workbench.tui.widgets.text.text_view import Block, TextView

Filter = Literal["all", "differs", "failed", "flipped"]
FILTERS: dict[Filter, str] = {
    "all": "all cases",
    "differs": "cases that differ",
    "failed": "failed cases",
    "flipped": "flaky cases",
}
Order = Literal["apart", "session", "worst"]
ORDERS: dict[Order, str] = {"apart": "by disagreement", "session": "session order", "worst": "worst first"}
VERDICT_LINES = 3
HEAD_FACTS_FROM = 30
"""The screen height, in rows, from which a column's head shows all facts, not only its share."""
LONGEST_WORD = 20
"""The cells that may stay empty where a text is broken into two rows."""
WIDE_ENOUGH = 100
"""The screen width, in cells, from which the head shows the number of runs."""
Place = tuple[str, str]
"""A row's session file and case."""


class Wanted(NamedTuple):
    """A case and a column to show, the run that provides the reply (None: keep the reply), and the action for it."""

    case: str
    column: str
    run: BenchRun | None = None
    then: Literal["look", "record", "demo"] = "look"


class BenchScreen(FrontScreen[Wanted | None]):
    """Show the grid; return the cell to show, or None."""

    APP_ACTIONS = ON_A_DIALOG | {"leave"}
    BINDING_GROUP_TITLE = "Bench"
    BINDINGS = pane_keys(
        "Bench",
        ("f", "filter", "Filter", "bench.filter", "Filter: all, differing, failed or flaky cases"),
        ("v", "versus", "Versus", "bench.versus", "Keep cases that this column failed and another passed"),
        ("g", "causes", "Causes", "bench.causes", "Group misses by their cause"),
        ("s", "sort", "Sort", "bench.sort", "Sort by disagreement, as in the session, or worst first"),
        ("p", "pairs", "Conclude", "bench.pairs", "Show the conclusions about columns"),
        ("o", "take", "On screen", "bench.take", "Show this case with its reply"),
        ("escape,q", "dismiss(None)", "Close", "bench.close", "Close the grid"),
    )

    def __init__(self, concluded: Conclusions, of: str, is_old: Callable[[Cell], bool]) -> None:
        """`is_old` tells whether a cell's runs answer an earlier prompt."""
        super().__init__()
        self._is_old = is_old
        self._conclusions = concluded
        self._grid = concluded.grid
        self._of = of
        self._filter: Filter = "all"
        self._order: Order = "apart"
        self._versus = ""
        """The column that passed the shown cases, which the current column failed; "" without that filter."""
        self._picked: tuple[str, frozenset[Place]] | None = None
        """A description and the cases to show instead of those of the filter."""
        self._rows: tuple[Place, ...] = concluded.grid.cases
        self._head = PlainStatic(id="bench-head")
        self._map = HeatMap(id="bench-map")
        self._about = PlainStatic(id="bench-about")
        self._hint = PlainStatic(id="bench-hint")

    def compose(self) -> ComposeResult:
        return self._head, self._map, self._about, self._hint

    def on_mount(self) -> None:
        self._map.focus()
        rows = self._chosen_rows()
        cells = self._grid.row(*rows[0]) if rows else ()
        worths = [1.0 if cell is None or not cell.counted else cell.worth for cell in cells]
        column = worths.index(min(worths)) if worths else 0
        self._show(*((column, 0) if self.is_turned else (0, column)))

    # -- what is looked at

    @property
    def is_turned(self) -> bool:
        """Tell whether the bench's columns are rows: if there are more columns than cases."""
        return len(self._grid.columns) > len(self._grid.cases)

    @property
    def cell(self) -> Cell | None:
        row, column = self._map.row, self._map.column
        case_at, column_at = (column, row) if self.is_turned else (row, column)
        if not self._rows or not self._grid.columns:
            return None
        return self._grid.row(*self._rows[case_at])[column_at]

    def _chosen_rows(self) -> tuple[Place, ...]:
        cases = self._grid.by_disagreement if self._order == "apart" else self._grid.cases
        if self._picked is not None:
            return tuple([place for place in cases if place in self._picked[1]])
        found: list[Place] = []
        shares: dict[Place, float] = {}
        for place in cases:
            cells = [cell for cell in self._grid.row(*place) if cell is not None]
            total = sum(cell.counted for cell in cells)
            good = sum(cell.good for cell in cells if cell.counted)
            shares[place] = good / total if total else math.inf  # cases that nothing is known of come last
            if self._filter == "differs":
                is_wanted = self._grid.disagreement(*place)[1] > 1
            elif self._filter == "failed":
                is_wanted = any(cell.standing in ("bad", "mixed", "broken") for cell in cells)
            else:
                is_wanted = self._filter == "all" or any(cell.flips for cell in cells)
            if is_wanted:
                found.append(place)
        return tuple(sorted(found, key=shares.__getitem__) if self._order == "worst" else found)

    # -- painting

    def _show(self, row: int | None = None, column: int | None = None) -> None:
        self._rows = self._chosen_rows()
        at = (self._map.row if row is None else row, self._map.column if column is None else column)
        self._map.show(self._table(), *at)
        runs = sum(cell.many for cell in self._grid.cells)
        is_all = self._filter == "all" and self._picked is None
        cases = counted(len(self._grid.cases), "case")
        columns = counted(len(self._grid.columns), "column")
        count = f"{cases} × {columns}" if is_all else f"{len(self._rows):,} of {cases}"
        many = f" · {runs:,} runs" if self.size.width >= WIDE_ENOUGH else ""
        kept = FILTERS[self._filter] if self._picked is None else one_line(self._picked[0], self.size.width // 2)
        said = f" · {count}{many} · {kept}, {ORDERS[self._order]}"
        room = max(8, self.size.width - len(said) - 10)
        verdict = one_line(f" {self._conclusions.verdict.line}", max(8, VERDICT_LINES * (self.size.width - 8)))
        head = ((" Bench ", "$text-accent bold"), (one_line(self._of, room), "bold"), (said, "$foreground 70%"))
        self._head.show(lines((verdict, "bold"), "\n", *head))
        self._hint.show(key_hints(self.app, HINTS))
        self._show_about()

    @on(HeatMap.Moved)
    def _show_about(self) -> None:
        """Describe the current cell in two texts, and its column in a third; a high screen has two rows for each."""
        cell = self.cell
        if cell is None:
            self._about.show(lines(" Not run." if self._rows else " No case matches the filter."))
            return
        width = self.size.width - 2
        room = width * 2 - LONGEST_WORD if self.app.size.height >= HIGH else width
        total = next(one for one in self._grid.columns if one.column == cell.column)
        old = "of an earlier prompt; " if self._is_old(cell) else ""
        flaky = f"flaky: {report.flaky_words(cell)}; " if cell.flips else ""
        agreed = f"same values in {cell.agreed} of {cell.parsed}; " if cell.parsed > 1 else ""
        said = lines(
            (one_line(f" {report.cell_name(self._grid, cell)}: {cell.detail}", width), "bold"),
            "\n",
            one_line(f" {old}{flaky}{agreed}{report.fact_words(cell)}", room),
            "\n",
            (one_line(f" whole column: {report.fact_words(total)}", room), "$foreground 70%"),
        )
        self._about.show(said)

    def _table(self) -> HeatTable:
        names = tuple([report.case_name(self._grid, *place) for place in self._rows])
        columns = self._grid.columns
        cells = [[_heat(cell, self._grid.repeat) for cell in self._grid.row(*place)] for place in self._rows]
        if self.is_turned:
            turned = tuple(zip(*cells, strict=True)) if cells else ()
            totals = [f"{one.column}  {report.good_words(one)}" for one in columns]
            return HeatTable(tuple(totals) if cells else (), tuple([("", name) for name in names]), turned)
        has_parts = any(" · " in one.column for one in columns)
        heads: list[tuple[str, ...]] = []
        for one in columns:
            facts = report.head_facts(one)
            shown_facts = facts if self.size.height >= HEAD_FACTS_FROM else ("good",)
            heads.append((*head_of(one.column)[0 if has_parts else 1 :], *[facts[name] for name in shown_facts]))
        return HeatTable(names, tuple(heads), tuple(map(tuple, cells)))

    # -- keys

    def action_filter(self) -> None:
        names = list(FILTERS)
        self._filter = "all" if self._picked is not None else names[(names.index(self._filter) + 1) % len(names)]
        self._versus, self._picked = "", None
        self._show(0, 0)

    def action_versus(self) -> None:
        """Show cases that the current column failed and the next column passed; after the last column, show all."""
        current = self._grid.columns[self._map.row if self.is_turned else self._map.column].column
        others = [one.column for one in self._grid.columns if one.column != current]
        for winner in others[others.index(self._versus) + 1 if self._versus in others else 0 :]:
            if places := lost_cases(self._grid, current, winner):
                self._versus = winner
                self._keep(f"{current} failed, {winner} passed", places, current)
                return
        self._versus = ""
        self._keep("", (), current)

    def _keep(self, words: str, places: Collection[Place], column: str) -> None:
        """Show only these cases, or all if `words` is "", with the cursor in a column."""
        self._picked = (words, frozenset(places)) if words else None
        at = [one.column for one in self._grid.columns].index(column)
        self._show(*((at, 0) if self.is_turned else (0, at)))

    def action_causes(self) -> None:
        found = list(misses_by_cause(self._grid))
        entries = [
            Entry(str(at), f"{one.column}: {report.group_words(one)}", counted(len(one.cells), "case"))
            for at, one in enumerate(found)
        ]
        title = "Misses by cause" if found else "No misses"
        hint = "type to search   ↑↓ enter its cells   {choose.close|esc} close"

        def end(chosen: str | None) -> None:
            if chosen is not None:
                one = found[int(chosen)]
                self._versus = ""
                self._keep(report.group_words(one), [(cell.file, cell.case) for cell in one.cells], one.column)

        self.app.push_screen(ChooseScreen(title, entries, hint=hint), end)

    def action_sort(self) -> None:
        names = list(ORDERS)
        self._order = names[(names.index(self._order) + 1) % len(names)]
        self._show(0, 0)

    def action_pairs(self) -> None:
        concluded = self._conclusions
        made: list[shown.Block] = [shown.Note(concluded.verdict.line, "strong"), report.column_table(self._grid)]
        made += report.conclusions(concluded) if concluded.pairs else [shown.Note("There is only one column.")]
        self.app.push_screen(BenchTextScreen("Conclusions", text_blocks(made)))

    def action_take(self) -> None:
        cell = self.cell
        if cell is not None and (runs := self._runs_of(cell)) is not None:
            self.dismiss(Wanted(cell.case, cell.column, next((one for one in runs if one.reply), None)))

    def _runs_of(self, cell: Cell) -> tuple[BenchRun, ...] | None:
        """Read the runs of a cell; if the results file cannot be read any more, say so and return None."""
        try:
            return cell.runs
        except SessionError as error:
            plain_notify(self.app, one_line(str(error), 300), title="No runs", severity="error")
            return None

    @on(HeatMap.Chosen)
    def _open(self) -> None:
        cell = self.cell
        if cell is None or not cell.many or (runs := self._runs_of(cell)) is None:
            return

        def end(taken: Taken | None) -> None:
            if taken is not None:
                self.dismiss(Wanted(cell.case, cell.column, *taken))

        title = report.cell_name(self._grid, cell)
        self.app.push_screen(BenchTextScreen(title, text_blocks(report.runs_of(runs)), runs), end)


HINTS = (
    " {grid.choose|enter} runs  {bench.take|o} open  {bench.filter|f} filter  {bench.versus|v} versus  "
    "{bench.causes|g} causes  {bench.pairs|p} pairs  {bench.close|esc} back"
)
Taken = tuple[BenchRun, Literal["look", "record", "demo"]]
"""A run and the action for its reply."""


class BenchTextScreen(FrontScreen[Taken | None]):
    """Show conclusions, or the runs of a cell; return the chosen run and action, or None."""

    APP_ACTIONS = ON_A_DIALOG | {"leave"}
    BINDING_GROUP_TITLE = "Runs of a cell"
    BINDINGS = pane_keys(
        "Runs of a cell",
        ("o", "take('look')", "On screen", "runs.take", "Show the reply of this run on screen"),
        ("r", "take('record')", "Keep", "runs.record", "Keep this reply as a fixture"),
        ("d", "take('demo')", "Demo", "runs.demo", "Make a demo of this case and its outputs"),
        ("escape,q", "dismiss(None)", "Close", "runs.close", "Close this text"),
    )

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
        return self._head, self._text, self._hint

    def on_mount(self) -> None:
        self._text.focus()
        self._show()

    def _show(self) -> None:
        self._head.show(lines((f" {one_line(self._title, max(10, self.size.width - 2))}", "$text-accent bold")))
        self._text.show(list(self._blocks), keep_place=True, current=self._at)
        runs = " {runs.take|o} on screen  {runs.record|r} keep as a fixture  {runs.demo|d} make a demo of it "
        runs = runs if self._runs else ""
        self._hint.show(lines((keys_of(self.app)(f"{runs} ↑↓ scroll  {{runs.close|esc}} close"), QUIET)))

    @on(TextView.Moved)
    def _moved(self, event: TextView.Moved) -> None:
        self._at = event.target

    @on(TextView.Chosen)
    def _chosen(self, event: TextView.Chosen) -> None:
        self._at = event.target
        self.action_take("look")

    def action_take(self, then: Literal["look", "record", "demo"]) -> None:
        if self._at in self._runs:
            self.dismiss((self._runs[self._at], then))


def _heat(cell: Cell | None, repeat: int) -> HeatCell:
    if cell is None:
        return HeatCell("", "none")
    is_single = repeat == 1 and cell.counted and not cell.is_graded
    text = report.SIGNS[cell.standing] if is_single else report.cell_words(cell)
    return HeatCell(text, cell.standing, cell.detail)
