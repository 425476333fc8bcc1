"""Show read-only text: styled, wrapped blocks that may be highlighted or have a target."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Literal, NamedTuple

from rich.cells import cell_len
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip

from adapters.late_dataclasses import dataclass
from workbench.output.display import safe
from workbench.tui.keys import pane_keys
from workbench.tui.widgets.text.line_view import (
    KIND_STYLES,
    SPAN_STYLES,
    LineView,
    component_css,
    css_beside,
    strip_of,
)
from workbench.tui.widgets.text.wrapping import expand_tabs, rows

Light = Literal["", "lit", "faint"]
LIT_MARK, CURRENT_MARK = "▌", "›"
NARROWEST_BESIDE_LEAD = 30
"""Cells next to a lead below which the text starts on the row after it."""
MARGIN = 2
"""Cells to the left of the text; the first holds the mark."""

STYLES = (
    *dict.fromkeys((*KIND_STYLES, *SPAN_STYLES)),
    *("text", "title", "heading", "note", "accent", "ok", "warning", "error", "key", "data", "added", "removed"),
)


class Piece(NamedTuple):
    """A stretch of raw text, the name of its style (in `STYLES`), and whether it is highlighted or faint."""

    text: str
    style: str = "text"
    light: Light = ""


class Block(NamedTuple):
    """Pieces of text that start on a new row.

    Enter on the block goes to `target`; `lead` is shown first, and all rows are indented by its width.
    """

    pieces: tuple[Piece, ...]
    indent: int = 0
    target: str = ""
    lead: Piece | None = None


class _Row(NamedTuple):
    pieces: tuple[Piece, ...]
    indent: int
    block: int


def block(text: str, style: str = "text", *, indent: int = 0, target: str = "") -> Block:
    """Make a block of a single piece."""
    return Block((Piece(text, style),), indent, target)


EMPTY = block("")


class TextView(LineView):
    """A view of blocks; arrow keys move between targets, or scroll if there are none."""

    DEFAULT_CSS = css_beside(__file__) + component_css("TextView", "text-view", {**KIND_STYLES, **SPAN_STYLES})
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"text-view--{name}" for name in (*STYLES, "faint", "lit", "current", "mark")
    }
    BINDINGS = pane_keys(
        "This text",
        ("down,j", "step(1)", "Down", "text.down", "Move down, or to the next entry"),
        ("up,k", "step(-1)", "Up", "text.up", "Move up, or to the previous entry"),
        ("enter", "choose", "Go there", "text.choose", "Go to the place of this entry"),
    )

    @dataclass
    class Chosen(Message):
        """The user pressed enter or clicked on a block with a target."""

        target: str

    @dataclass
    class Moved(Message):
        """The cursor moved to another block with a target."""

        target: str

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._blocks: tuple[Block, ...] = ()
        self.rows: list[_Row] = []
        """The rows at the current width; none before the first layout."""
        self.current = -1
        """The index of the block with the cursor, or -1."""
        self._keeps_lit = False
        """True while another height of the view scrolls to the highlighted text again."""

    # ------------------------------------------------------------------ content

    def show(self, blocks: Sequence[Block], *, keep_place: bool = False, current: str = "") -> None:
        """Show blocks from the top, or with `keep_place` at the current scroll position.

        The cursor moves to the block with the target `current`, or keeps its position.
        """
        self._blocks = tuple(blocks)
        targets = [index for index, one in enumerate(self._blocks) if one.target]
        named = [index for index in targets if current and self._blocks[index].target == current]
        if named:
            self.current = named[0]
        elif self.current not in targets:
            self.current = targets[0] if targets else -1
        self.make_rows()
        self._keeps_lit = False
        if not keep_place:
            self.scroll_to(y=0, animate=False, force=True)
        self.repaint()

    def show_lit(self) -> None:
        """Scroll to the highlighted text: all of it if it fits, else its beginning."""
        self._keeps_lit = True
        lit = [y for y, row in enumerate(self.rows) if any(piece.light == "lit" for piece in row.pieces)]
        if not lit:
            return
        page = self.page_height
        is_whole = lit[-1] - lit[0] < page
        spare = (page - (lit[-1] - lit[0] + 1)) // 2 if is_whole else 1
        self.scroll_to(y=max(0, lit[0] - min(spare, page // 3)), animate=False, force=True)
        self.repaint()

    def on_resize(self) -> None:
        if self._keeps_lit:
            self.fit()
            self.show_lit()

    def show_current(self) -> None:
        """Scroll as little as possible to show the block at the cursor."""
        own = [y for y, row in enumerate(self.rows) if row.block == self.current]
        if own:
            self.scroll_row_into_view(own[0], own[-1])

    @property
    def plain_text(self) -> str:
        """The raw text, with a line for each block."""
        return "\n".join(
            [
                (one.lead.text if one.lead else "") + "".join([piece.text for piece in one.pieces])
                for one in self._blocks
            ]
        )

    def count_rows(self, blocks: Iterable[Block]) -> int:
        """Count the rows that `blocks` would need at the current width."""
        return sum(len(_rows_of(one, 0, self.row_width - MARGIN - 1)) for one in blocks)

    def rows_within(self, width: int) -> list[_Row]:
        """Return the rows that the shown blocks need at a width, laid out already or not."""
        if width == self._laid_out_for:
            return self.rows
        return [row for index, one in enumerate(self._blocks) for row in _rows_of(one, index, width - MARGIN - 1)]

    def make_rows(self) -> None:
        self._laid_out_for = 0
        self.rows = self.rows_within(self.row_width) if self.row_width else []
        self._laid_out_for = self.row_width
        if self._laid_out_for:
            self.set_height(len(self.rows))

    # ------------------------------------------------------------------ painting

    def row(self, y: int, width: int) -> Strip:
        plain = self.style_of()
        if y >= len(self.rows):
            return Strip.blank(width, plain)
        row = self.rows[y]
        is_current = row.block == self.current and self.has_focus
        over = ("text-view--current",) if is_current else ()
        lights = {piece.light for piece in row.pieces}
        is_lit = "lit" in lights or (not lights and all(one.light == "lit" for one in self._blocks[row.block].pieces))
        mark = CURRENT_MARK if is_current else LIT_MARK if is_lit else " "
        lead = mark + " " * (MARGIN - 1 + row.indent)
        pieces: list[tuple[str, Style]] = [(lead, self.style_of("text-view--mark", *over))]
        for text, style, light in row.pieces:
            # a mark is enough for whole rows; a background behind ragged lines is noise
            shade = (f"text-view--{light}",) if light == "faint" or (light and len(lights) > 1) else ()
            pieces.append((text, self.style_of(f"text-view--{style}", *shade, *over)))
        return strip_of(pieces, width, self.style_of(*over) if over else plain)

    # ------------------------------------------------------------------ keys and mouse

    def action_step(self, by: int) -> None:
        targets = [index for index, one in enumerate(self._blocks) if one.target]
        place = targets.index(self.current) + by if self.current in targets else -1
        if not 0 <= place < len(targets):
            self.scroll_relative(y=by, animate=False, force=True)
            return
        self.current = targets[place]
        self.post_message(self.Moved(self._blocks[self.current].target))
        self.show_current()
        self.repaint()

    def action_choose(self) -> None:
        if 0 <= self.current < len(self._blocks):
            self.post_message(self.Chosen(self._blocks[self.current].target))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self) if self.text_selection is None else None
        y = offset.y + round(self.scroll_y) if offset is not None else -1
        if 0 <= y < len(self.rows) and self._blocks[self.rows[y].block].target:
            self.current = self.rows[y].block
            self.repaint()
            self.action_choose()


def _rows_of(one: Block, index: int, width: int) -> list[_Row]:
    """Return the rows of a block within `width` cells, including its indent, each with its part of the pieces."""
    lead = one.lead._replace(text=safe(one.lead.text)) if one.lead is not None else None
    indent = one.indent + (cell_len(lead.text) if lead is not None else 0)
    if lead is not None and width - indent < NARROWEST_BESIDE_LEAD:
        above = _rows_of(Block((lead,), one.indent, one.target), index, width)
        return above + _rows_of(one._replace(lead=None, indent=one.indent + 2), index, width)
    width = max(1, width - indent)
    shown: list[Piece] = []
    column = 0
    for piece in one.pieces:
        text = expand_tabs(safe(piece.text), column)
        last = text.rpartition("\n")[2]
        column = cell_len(last) + (0 if "\n" in text else column)
        shown.append(piece._replace(text=text))
    whole = "".join([piece.text for piece in shown])
    found: list[_Row] = []
    number = offset = 0
    for start, end in rows(whole, width):
        pieces: list[Piece] = []
        while number < len(shown) and offset + len(shown[number].text) <= start:
            offset += len(shown[number].text)
            number += 1
        here, at = number, offset
        while here < len(shown) and at < end:
            piece = shown[here]
            cut = piece.text[max(0, start - at) : end - at]
            if cut:
                pieces.append(piece._replace(text=cut))
            at += len(piece.text)
            here += 1
        if lead is not None and not found:
            found.append(_Row((lead, *pieces), one.indent, index))
        else:
            found.append(_Row(tuple(pieces), indent, index))
    return found
