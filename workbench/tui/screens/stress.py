"""Show the stress test: its grid of parsers and mutations, and a cell's two parse results."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Horizontal

from adapters.mutations.mutation import Mutation
from adapters.replies.reading import Reading
from sessions.stress.grid import VERDICTS, Cell, Grid, Survival, Verdict
from workbench.output.display import cell_width, one_line, value_text
from workbench.output.reading_text import first_line
from workbench.output.survival_words import MEANINGS, NOT_APPLICABLE, SIGNS, WORDS, decision, differences, sources
from workbench.tui.keys import ON_A_DIALOG, pane_keys
from workbench.tui.screens import FrontScreen
from workbench.tui.widgets.text.plain import QUIET, PlainStatic, key_hints, lines, plain_notify
from workbench.tui.widgets.text.text_view import EMPTY, MARGIN, Block, Piece, TextView, block

NAME_WIDTH = 35
LONGEST_HEAD = 9
STYLES: Mapping[Verdict, str] = {"silently_wrong": "error", "flagged": "warning", "refused": "note", "same": "ok"}
COLOURS: Mapping[Verdict, str] = {
    "silently_wrong": "$text-error bold",
    "flagged": "$text-warning",
    "refused": "$foreground 70%",
    "same": "$text-success",
}
"""The style of a verdict in a `TextView`, and in the lines above it."""
LONGEST_LINE = 600
MOST_ROWS = 5
"""The most rows of the line that sums up, as in `dialogs.tcss`."""
LONGEST_VALUE = 90
"""The limit of a value in cells; the reply below it is shown in full."""


def heads(found: Grid) -> list[str]:
    """Return the columns' names, shortened to fit above the signs."""
    return [one_line(one.id, LONGEST_HEAD) for one in found.columns]


def grid_rows(found: Grid, shown: frozenset[Verdict], at: tuple[str, int]) -> Iterator[Block]:
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
    yield from _surprises(cell, "text", indent=2)
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
    yield from _surprises(cell, "warning")
    yield painted(cell.reading)


def _surprises(cell: Cell, style: str, indent: int = 0) -> Iterator[Block]:
    """Show the flags of a cell, and its parse error in a style."""
    for flag in cell.flags:
        yield block(f"! {one_line(flag.message, LONGEST_LINE)}", "warning", indent=indent)
    if (error := cell.reading.error) is not None:
        yield block(f"{error.type}: {one_line(first_line(error.message), LONGEST_LINE)}", style, indent=indent)
    yield EMPTY


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


BESIDE = 114
"""The width in cells from which the details of a damaged reply are beside the grid."""
FILTERS: tuple[tuple[str, frozenset[Verdict]], ...] = (
    ("all", frozenset(VERDICTS)),
    ("≠ ! ✗", frozenset(VERDICTS[:3])),
    ("≠ !", frozenset(VERDICTS[:2])),
    ("≠", frozenset(VERDICTS[:1])),
)
"""The verdicts shown by each filter."""


Taken = tuple[str, str]
"""The id of a column, and a damaged reply to show under it."""


class Tested(NamedTuple):
    """A finished stress test, and the line that sums it up."""

    grid: Grid
    summary: str

    @classmethod
    def of(cls, grid: Grid) -> Tested:
        return cls(grid, "".join(decision(grid)[-1:]))


class StressScreen(FrontScreen[Taken | None]):
    """Show the grid of a stress test; returns a damaged reply to show under its column, if any.

    `make` runs the test in a thread, unless it is `done`; `of` names the session, `columns` are the ids of its columns.
    """

    APP_ACTIONS = ON_A_DIALOG | {"leave"}
    BINDING_GROUP_TITLE = "Stress test"
    BINDINGS = pane_keys(
        "Stress test",
        ("right,l", "column(1)", "Next adapter", "stress.right", "Choose the adapter to the right", True),
        ("left,h", "column(-1)", "Adapter before", "stress.left", "Choose the adapter to the left", True),
        ("n", "walk(1)", "Next", "stress.next", "Go to the next mutation"),
        ("p", "walk(-1)", "Before", "stress.before", "Go to the previous mutation"),
        ("f", "filter", "Fewer rows", "stress.filter", "Show all rows, or only changed, flagged or silently wrong"),
        ("t", "take", "Take", "stress.take", "Put this damaged reply under its column"),
        ("escape,q", "close", "Close", "stress.close", "Return to the grid, or close it"),
    )

    def __init__(
        self, make: Callable[[], Tested], of: str, columns: frozenset[str], done: Tested | None = None
    ) -> None:
        super().__init__()
        self.HORIZONTAL_BREAKPOINTS = [(0, "-alone"), (BESIDE, "-beside")]
        self.done = done
        self._make = make
        self._of = of
        self._ids = columns
        self._shown_name = ""
        self._shown_column = 0
        self._filter = 0
        self._head = PlainStatic(id="stress-head")
        self._counts = PlainStatic(id="stress-counts")
        self._decision = PlainStatic(id="stress-decision")
        self._rows = TextView(id="stress-grid")
        self._about = TextView(id="stress-about")
        self._good = TextView(id="stress-good")
        self._broken = TextView(id="stress-broken")
        self._hint = PlainStatic(id="stress-hint")

    def compose(self) -> ComposeResult:
        yield self._head
        yield self._counts
        yield self._decision
        with Horizontal(id="stress-body"):
            yield self._rows
            yield self._about
        with Horizontal(id="stress-readings"):
            yield self._good
            yield self._broken
        yield self._hint

    def on_mount(self) -> None:
        self._about.can_focus = False
        self._rows.focus()
        if self.done is not None:
            self._begin(self.done)
            self._shown_for = self.app.size
            self._show()
            return
        self._head.show(lines((" Stress test ", "$text-accent bold"), ("running …", "$foreground 70%")))
        self._find()

    @work(group="stress", exclusive=True)
    async def _find(self) -> None:
        self._begin(await asyncio.to_thread(self._make))
        self.call_after_refresh(self._show)  # after the grid has its width, so that the current row is visible

    def _begin(self, done: Tested) -> None:
        self.done, found = done, done.grid
        self._rows.styles.width = NAME_WIDTH + sum(cell_width(one) + 1 for one in heads(found)) + MARGIN + 2
        silent = found.silently_wrong()
        first = silent[0][0] if silent else found.mutations[0] if found.mutations else None
        self._shown_name = first.name if first is not None else ""
        self._shown_column = found.columns.index(silent[0][1][0]) if silent else 0
        self._show_decision()

    def _show_decision(self) -> None:
        if self.done is not None:
            shown = one_line(self.done.summary, MOST_ROWS * (self.app.size.width - 12))  # a row loses a part of a word
            self._decision.styles.max_height = MOST_ROWS
            self._decision.show(lines((shown, "bold")))

    @on(events.Resize)
    def _resized(self) -> None:
        self._show_decision()
        self.call_after_refresh(self._rows.show_current)

    # -- what is looked at

    @property
    def found(self) -> Grid | None:
        return self.done.grid if self.done is not None else None

    @property
    def mutation(self) -> Mutation | None:
        return next((one for one in self.found.mutations if one.name == self._shown_name), None) if self.found else None

    @property
    def column(self) -> Survival | None:
        return self.found.columns[self._shown_column] if self.found is not None else None

    @property
    def cell(self) -> Cell | None:
        return self.column.cells.get(self._shown_name) if self.column is not None else None

    @property
    def shows_readings(self) -> bool:
        return self.has_class("-readings")

    def _show(self) -> None:
        found, mutation, column = self.found, self.mutation, self.column
        if found is None or column is None:
            return
        count = sum(len(one.cells) for one in found.columns)
        of = one_line(f"{self._of} · {found.case}", max(20, self.app.size.width - 44))
        said = f" · {count} damaged replies"
        self._head.show(lines((" Stress test ", "$text-accent bold"), (of, "bold"), (said, "$foreground 70%")))
        self._counts.show(lines(*self._summary(found)))
        self._decision.display = not self.shows_readings
        if mutation is None:
            why = [block(f"{one.id}: {one.problem}") for one in found.columns]
            self._rows.show(why)
        elif self.shows_readings:
            self._good.show(tuple(good_reading(column)))
            self._broken.show(tuple(broken_reading(mutation, column)))
        else:
            shown = FILTERS[self._filter][1]
            rows = tuple(grid_rows(found, shown, (self._shown_name, self._shown_column)))
            self._rows.show(rows or (block("none", "note"),), keep_place=True, current=self._shown_name)
            self._rows.show_current()
            self._about.show(tuple(about(mutation, column)))
        columns = "{stress.left|←}{stress.right|→} adapter"
        if self.shows_readings:
            walk = "{stress.before|p} {stress.next|n} mutation  ↑↓ scroll"
            hint = f" {columns}  {walk}  {{stress.take|t}} take  {{stress.close|esc}} back"
        else:
            fewer = f"{{stress.filter|f}} {FILTERS[self._filter][0]}"
            hint = f" enter both parse results  {columns}  ↑↓ mutation  {fewer}  {{stress.take|t}} take"
            hint += "  {stress.close|esc} close"
        self._hint.show(key_hints(self.app, hint))

    def _summary(self, found: Grid) -> Iterator[tuple[str, str] | str]:
        """Show the adapters: above both readings with the current result of each, else with counts of each verdict."""
        yield " " * MARGIN
        if self.shows_readings:
            for index, (column, head) in enumerate(zip(found.columns, heads(found), strict=True)):
                cell = column.cells.get(self._shown_name)
                sign, style = (NOT_APPLICABLE, QUIET) if cell is None else (SIGNS[cell.verdict], COLOURS[cell.verdict])
                yield head, "bold reverse" if index == self._shown_column else ""
                yield f" {sign}  ", style
            return
        said = sources(found.columns)
        of = one_line(f"of {said[0]}" if len(said) == 1 else "of each column's good reply", NAME_WIDTH - 2)
        yield of.ljust(NAME_WIDTH), QUIET
        for index, head in enumerate(heads(found)):
            yield " "
            yield head, "bold reverse" if index == self._shown_column else "bold"
        for verdict, words, cells in counts(found):
            yield f"\n{' ' * MARGIN}{words:<{NAME_WIDTH}}{''.join(cells)}", COLOURS[verdict]

    # -- keys

    def action_column(self, by: int) -> None:
        if self.found is not None and self.found.columns:
            self._shown_column = (self._shown_column + by) % len(self.found.columns)
            self._show()

    def action_walk(self, by: int) -> None:
        if self.found is None or not self.found.mutations:
            return
        names = [one.name for one in listed(self.found, FILTERS[self._filter][1])] or [self._shown_name]
        at = names.index(self._shown_name) if self._shown_name in names else 0
        self._shown_name = names[(at + by) % len(names)]
        self._show()

    def action_filter(self) -> None:
        self._filter = (self._filter + 1) % len(FILTERS)
        shown = listed(self.found, FILTERS[self._filter][1]) if self.found is not None else []
        if shown and self._shown_name not in [one.name for one in shown]:
            self._shown_name = shown[0].name
        self._show()

    def action_take(self) -> None:
        if self.cell is None or self.column is None:
            plain_notify(self.app, "There is no damaged reply here.", severity="warning")
        elif self.column.column.id not in self._ids:
            said = "This adapter has no column in the session. Add the column to show its replies there."
            plain_notify(self.app, said, severity="warning")
        elif self.column.good is not None and self.column.good.parser.name != self.column.column.adapter:
            said = "This is the reply of the second model; columns do not show it."
            plain_notify(self.app, said, severity="warning")
        else:
            self.dismiss((self.column.column.id, self.cell.text))

    def action_close(self) -> None:
        if self.shows_readings:
            self._open_readings(False)
        else:
            self.dismiss(None)

    @on(TextView.Moved)
    def _moved(self, event: TextView.Moved) -> None:
        self._shown_name = event.target
        self._show()

    @on(TextView.Chosen)
    def _chosen(self, event: TextView.Chosen) -> None:
        self._shown_name = event.target
        self._open_readings(True)

    def _open_readings(self, is_open: bool) -> None:
        self.set_class(is_open, "-readings")
        (self._broken if is_open else self._rows).focus()
        self.call_after_refresh(self._show)
