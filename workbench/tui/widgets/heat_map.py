"""A heat map: a grid of coloured cells with signs, in which only visible cells are rendered."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar, Literal

from textual import events, on
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.visual import Visual

from adapters.late_dataclasses import dataclass
from workbench.output.display import one_line
from workbench.tui.keys import pane_keys
from workbench.tui.textual_internals.access import KeepsReverse
from workbench.tui.widgets.text.line_view import css_beside

Heat = Literal["good", "mixed", "bad", "broken", "none"]
WIDEST_NAME = 40
"""Maximum width of the row names in cells; on a narrow screen the limit is two fifths of the width."""
LEAST_CELL = 8
WHEEL_ROWS = 3
WIDEST_CELL = 60
MOST_KEPT = 400
"""The most painted rows that are kept, so that a step paints only the rows that it changes."""


@dataclass(frozen=True)
class HeatCell:
    """A cell: its colour and a short text with a sign; `detail` follows if there is room."""

    text: str
    heat: Heat
    detail: str = ""


@dataclass(frozen=True)
class HeatTable:
    """Names of rows, heads of columns with the same number of lines each, and cells; texts are raw, not yet `safe`."""

    names: tuple[str, ...]
    heads: tuple[tuple[str, ...], ...]
    cells: tuple[tuple[HeatCell, ...], ...]


class HeatMap(KeepsReverse, can_focus=True):
    """A grid with a cursor that scrolls to keep the cursor visible."""

    DEFAULT_CSS = css_beside(__file__)
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"heat-map--{name}" for name in ("name", "head", "here", "good", "mixed", "bad", "broken", "none", "current")
    }
    BINDINGS = pane_keys(
        "The grid",
        ("up,k", "step(-1, 0)", "Up", "grid.up", "Go to the cell above"),
        ("down,j", "step(1, 0)", "Down", "grid.down", "Go to the cell below"),
        ("left,h", "step(0, -1)", "Left", "grid.left", "Go to the cell on the left"),
        ("right,l", "step(0, 1)", "Right", "grid.right", "Go to the cell on the right"),
        ("pageup", "step(-10, 0)", "Up 10", "grid.page_up", "Go ten rows up"),
        ("pagedown", "step(10, 0)", "Down 10", "grid.page_down", "Go ten rows down"),
        ("home", "step(-1000000, 0)", "First row", "grid.first", "Go to the first row"),
        ("end", "step(1000000, 0)", "Last row", "grid.last", "Go to the last row"),
        ("enter", "choose", "Open", "grid.choose", "Open the replies of this cell"),
    )

    ALLOW_SELECT = False
    auto_links = False

    class Moved(Message):
        """The cursor moved to another cell."""

    class Chosen(Message):
        """The user asked for the details of the current cell."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._table = HeatTable((), (), ())
        self._longest_name = self._longest_text = self._most_needed = 0
        """Lengths in characters, computed once per table, because painting every row needs them."""
        self._name_width = self._cell_width = self._head_rows = 0
        self._rows_in_sight = self._columns_in_sight = 1
        self._shown = range(0)
        """The columns in sight."""
        self._top = self._left = 0
        self._row_strip = lru_cache(MOST_KEPT)(self._paint_row)
        self.row = self.column = 0
        """The cell of the cursor."""

    def show(self, table: HeatTable, row: int = 0, column: int = 0) -> None:
        """Show a table with the cursor at `row` and `column`."""
        self._table = table
        self._row_strip.cache_clear()
        self._longest_name = max((len(one) for one in table.names), default=0)
        self._longest_text = max((len(cell.text) for row in table.cells for cell in row), default=0)
        longest_head = max((len(part) for head in table.heads for part in head), default=0)
        longest_detail = max((len(cell.detail) for row in table.cells for cell in row), default=0)
        self._most_needed = max(longest_head, min(WIDEST_CELL, self._longest_text + longest_detail + 2))
        self.row = max(0, min(row, len(table.names) - 1))
        self.column = max(0, min(column, len(table.heads) - 1))
        self._bring_into_sight()

    # -- positions

    def _bring_into_sight(self, left_cell: tuple[int, int] | None = None) -> None:
        """Scroll to the cursor; repaint all, or after a step from `left_cell` only its row, the cursor's and heads."""
        width, columns = self.size.width, len(self._table.heads)
        self._name_width = min(self._longest_name, WIDEST_NAME, max(10, width * 2 // 5)) + 2
        room = (width - self._name_width) // max(1, columns)
        self._cell_width = max(LEAST_CELL, self._longest_text, min(self._most_needed, room - 2)) + 2
        self._head_rows = len(self._table.heads[0]) if columns else 0
        self._columns_in_sight = max(1, (width - self._name_width) // self._cell_width)
        self._rows_in_sight = max(1, self.size.height - self._head_rows - 1)
        place = self._top, self._left
        self._top = max(min(self._top, self.row), self.row - self._rows_in_sight + 1, 0)
        self._top = min(self._top, max(0, len(self._table.names) - self._rows_in_sight))
        self._left = max(min(self._left, self.column), self.column - self._columns_in_sight + 1, 0)
        self._left = min(self._left, max(0, columns - self._columns_in_sight))
        self._shown = range(self._left, min(columns, self._left + self._columns_in_sight))
        if left_cell is None or place != (self._top, self._left):
            self.refresh()
            return
        rows = {self._head_rows + row - self._top for row in (left_cell[0], self.row)}
        heads = range(self._head_rows) if left_cell[1] != self.column else ()
        self.refresh(*[Region(0, y, self.size.width, 1) for y in (*heads, *rows)])

    def on_resize(self) -> None:
        self._row_strip.cache_clear()  # a row may have been painted before the new size was divided
        self._bring_into_sight()

    # -- painting

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._row_strip.cache_clear()

    def render_line(self, y: int) -> Strip:
        index = self._top + y - self._head_rows
        if y < self._head_rows:
            cell_width = self._cell_width
            parts = [Content(" " * self._name_width)]
            for column in self._shown:
                style = self.get_visual_style("heat-map--here" if column == self.column else "heat-map--head")
                text = one_line(self._table.heads[column][y], cell_width - 2)
                parts.append(Content.styled(f" {text}", style).truncate(cell_width, pad=True))
            return self._strip_of(Content("").join(parts))
        if y - self._head_rows >= self._rows_in_sight or index >= len(self._table.names):
            said: list[str] = []
            rows, columns = len(self._table.names), len(self._table.heads)
            if y == self.size.height - 1 and rows > self._rows_in_sight:
                said.append(f"rows {self._top + 1}–{min(rows, self._top + self._rows_in_sight)} of {rows}")
            if y == self.size.height - 1 and columns > self._columns_in_sight:
                last = min(columns, self._left + self._columns_in_sight)
                said.append(f"columns {self._left + 1}–{last} of {columns}")
            return self._strip_of(Content.styled(" · ".join(said), self.get_visual_style("heat-map--head")))
        return self._row_strip(index, self.column if index == self.row else None, self._left, self.size)

    def _strip_of(self, line: Content) -> Strip:
        width = self.size.width
        strips = Visual.to_strips(self, line.truncate(width, pad=True), width, 1, self.visual_style)
        return strips[0] if strips else Strip.blank(width, self.rich_style)

    def _paint_row(self, index: int, current: int | None, left: int, size: Size) -> Strip:
        """Paint a row with the cursor in its column `current`; `left` and `size` decide which columns are in it."""
        name_width, cell_width = self._name_width, self._cell_width
        style = self.get_visual_style("heat-map--name" if current is None else "heat-map--here")
        shown = one_line(self._table.names[index], name_width - 2)
        parts = [Content.styled(shown, style).truncate(name_width, pad=True)]
        for column in self._shown:
            cell = self._table.cells[index][column]
            style = self.get_visual_style(f"heat-map--{cell.heat}")
            if column == current:
                style += self.get_visual_style("heat-map--current")
            text = one_line(f"{cell.text.ljust(self._longest_text)} {cell.detail}".rstrip(), cell_width - 2)
            parts += [Content.styled(f" {text}".ljust(cell_width - 1), style), Content(" ")]
        return self._strip_of(Content("").join(parts))

    # -- keys and mouse

    def action_step(self, down: int, right: int) -> None:
        if self._table.names and self._table.heads:
            left_cell = self.row, self.column
            self.row = max(0, min(self.row + down, len(self._table.names) - 1))
            self.column = max(0, min(self.column + right, len(self._table.heads) - 1))
            self._bring_into_sight(left_cell)
            self.post_message(self.Moved())

    def action_choose(self) -> None:
        if self._table.names:
            self.post_message(self.Chosen())

    @on(events.MouseScrollDown)
    @on(events.MouseScrollUp)
    def _roll(self, event: events.MouseEvent) -> None:
        self.action_step(WHEEL_ROWS if isinstance(event, events.MouseScrollDown) else -WHEEL_ROWS, 0)

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset_capture(self)
        row, column = self._top + at.y - self._head_rows, self._left + (at.x - self._name_width) // self._cell_width
        if self._top <= row < len(self._table.names) and column in self._shown:
            again = (row, column) == (self.row, self.column)
            self.action_step(row - self.row, column - self.column)
            if again:
                self.action_choose()


def head_of(column: str) -> tuple[str, str]:
    """Split a column's id into two lines: `chat · openai/gpt-6-luna` into `chat` and `gpt-6-luna`.

    >>> head_of("chat · offline/exact"), head_of("chat")
    (('chat', 'exact'), ('', 'chat'))
    """
    first, _, rest = column.partition(" · ")
    return (first, rest.rpartition("/")[2]) if rest else ("", first)
