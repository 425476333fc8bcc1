"""Show a column's prompt: a section for each message, each piece coloured by its origin."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual import events
from textual.message import Message as TextualMessage

from adapters.late_dataclasses import dataclass
from adapters.prompts.text import Message
from workbench.tui.keys import pane_keys
from workbench.tui.widgets.prompt.prompt_forms import AFTER, PromptForm, text_of
from workbench.tui.widgets.prompt.prompt_layout import Spot
from workbench.tui.widgets.prompt.prompt_painting import MARGIN, PROMPT_CLASSES, PromptCanvas
from workbench.tui.widgets.prompt.prompt_section import Origin, piece_holding
from workbench.tui.widgets.text.line_view import KIND_STYLES, component_css, css_beside

ROWS_ABOVE = 3
"""Rows shown above a piece after scrolling to it."""


class PromptView(PromptCanvas):
    """A view of a prompt; `Hovered` and `Chosen` report the piece under the pointer or cursor."""

    DEFAULT_CSS = css_beside(__file__) + component_css("PromptView", "prompt-view", KIND_STYLES)
    COMPONENT_CLASSES: ClassVar[set[str]] = PROMPT_CLASSES
    BINDINGS = pane_keys(
        "Prompt",
        ("down", "row(1)", "Next row", "prompt.down", "Go to the row below"),
        ("up", "row(-1)", "Row above", "prompt.up", "Go to the row above"),
        ("right,n", "piece(1)", "Next piece", "prompt.next", "Go to the next piece of text"),
        ("left,N", "piece(-1)", "Previous piece", "prompt.before", "Go to the previous piece"),
        ("pagedown", "page(1)", "Page down", "prompt.page_down", "Go a page down"),
        ("pageup", "page(-1)", "Page up", "prompt.page_up", "Go a page up"),
        ("ctrl+down,]", "message(1)", "Next message", "prompt.message", "Go to the next message"),
        ("ctrl+up,[", "message(-1)", "Previous message", "prompt.message_before", "Go to the previous message"),
        ("home", "edge(False)", "First", "prompt.first", "Go to the first piece"),
        ("end", "edge(True)", "Last", "prompt.last", "Go to the last piece"),
        ("enter", "choose", "Go to its editor", "prompt.choose", "Go to the editor of this piece"),
        ("v", "form", "Raw / JSON", "prompt.form", "Show sections, raw text with visible blanks, or JSON"),
        ("o", "quiet", "Open all / fold", "prompt.quiet", "Fold demos and what all columns share, or open all"),
        ("space", "fold", "Fold", "prompt.fold", "Show all of a long value, or fold it again"),
    )

    @dataclass
    class Hovered(TextualMessage):
        """The pointer or the cursor (`by_key`) moved to another piece; `kind` is "" outside all pieces."""

        column_id: str
        kind: str
        field: str | None
        turn: str
        by_key: bool = False

        def can_replace(self, message: TextualMessage) -> bool:
            return isinstance(message, PromptView.Hovered) and message.column_id == self.column_id

    @dataclass
    class Chosen(TextualMessage):
        """The user pressed enter or double-clicked on a piece."""

        column_id: str
        kind: str
        field: str | None
        turn: str

    @dataclass
    class QuietAsked(TextualMessage):
        """The user asked to fold or unfold the text shared by all columns."""

        is_quiet: bool

    def __init__(self, column_id: str) -> None:
        super().__init__()
        self.column_id = column_id

    def reveal(self, key: Origin) -> bool:
        """Move the cursor to a piece of this origin, else of its field, and scroll there unless it is visible.

        Return False if there is no such piece.
        """
        if self._layout.open_where(key):
            self._strips.clear()
        spot = self._layout.find(key)
        if spot is None:
            return False
        self._cursor = spot
        if not self._layout.shows(key, self._top, self._top + self.page_height - len(self._banner) - 1):
            self._settle(spot.section, max(0, spot.row - ROWS_ABOVE))
        self.repaint()
        return True

    def show_last_message(self) -> None:
        """Scroll to the start of the last message."""
        self._settle(len(self._layout.messages) - 1, 0)
        self.repaint()

    def go_to_text(self, message: int, offset: int) -> None:
        """Move the cursor to a character of a message's text, unfolding it if needed."""
        if not 0 <= message < len(self._layout.messages):
            return
        number, offset = piece_holding(self._layout.messages[message], offset)
        if self._layout.open_message(message):
            self._strips.clear()
            self._settle(message, 0)
        section = self._layout.section(message)
        if section.is_away(number, offset) and self._layout.toggle_fold(message, number):
            self._strips.clear()
            self._settle(message, 0)
            section = self._layout.section(message)
        self._place(Spot(message, section.row_of(number, offset), number))

    @property
    def form(self) -> PromptForm:
        return self._layout.form

    def action_form(self) -> None:
        """Switch to the next form and keep the message at the cursor or at the top visible."""
        position, _ = self._anchor()
        self._layout.resize(self._layout.width, AFTER[self.form])
        self._begin_anew(position)
        if self._cursor is not None:
            first = self._layout.section(self._cursor.section).rows_of(self._cursor.piece)[0]
            self._cursor = self._cursor._replace(row=first)
            self._scroll_to_spot(self._cursor._replace(row=first))
        self.repaint()

    def set_quiet(self, is_quiet: bool) -> None:
        """Fold the text shared by all columns to summary lines, or unfold all of it."""
        if is_quiet == self._layout.is_quiet:
            return
        position, _ = self._anchor()
        self._layout.set_quiet(is_quiet)
        self._begin_anew(position)
        self.repaint()

    def _begin_anew(self, position: int) -> None:
        """Lay out the same messages again, with `position` at the top and the cursor on its piece."""
        self.forget_strips()
        self._hovered = None
        self._cursor = self._layout.follow(self._cursor)
        self._settle(position, 0)

    def action_quiet(self) -> None:
        self.post_message(self.QuietAsked(not self._layout.is_quiet))

    @property
    def unfolded(self) -> frozenset[Origin]:
        return frozenset(self._layout.unfolded)

    def unfold(self, origins: Iterable[Origin]) -> None:
        """Unfold these long pieces and fold all others."""
        self._layout.unfolded = set(origins)
        self._layout.resize(self._layout.width)
        self._strips.clear()
        self._settle(*self._anchor())
        self.repaint()

    def text_of_message_at_cursor(self) -> str:
        """Return the text of the message at the cursor, else of the first visible message.

        In the form `json` this is the JSON.
        """
        message = self.message_at_cursor
        return text_of(message, self.form) if message is not None else ""

    @property
    def origin_at_cursor(self) -> Origin | None:
        """The origin of the piece at the cursor."""
        return self._layout.section(self._cursor.section).origins[self._cursor.piece] if self._cursor else None

    @property
    def message_at_cursor(self) -> Message | None:
        if not self._layout.messages:
            return None
        position = self._cursor.section if self._cursor else self._layout.section_at(self._top)
        return self._layout.messages[position]

    # ------------------------------------------------------------------ cursor

    def _place(self, spot: Spot | None, *, keep_cell: bool = False) -> None:
        """Move the cursor, scroll to it and report its piece."""
        if spot is None:
            return
        before = self._cursor
        self._cursor = spot
        if not keep_cell:
            self._cursor_cell = self._layout.section(spot.section).cell_of(spot.piece)
        self._scroll_to_spot(spot)
        self.repaint()
        if before is None or (before.section, before.piece) != (spot.section, spot.piece):
            self._tell(spot.section, spot.piece, by_key=True)

    def _scroll_to_spot(self, spot: Spot) -> None:
        """Show the cursor's row below the banner, with the title if it is a message's first row."""
        position, _ = self._anchor()
        if not position <= spot.section < position + self.page_height:
            self._settle(spot.section, 0)
        y = self._layout.tops[spot.section] + spot.row
        first = y - 1 if spot.row == 1 else y
        self.scroll_row_into_view(first, y + len(self._banner))

    def _tell(self, position: int, piece: int, *, by_key: bool = False) -> None:
        origin = self._layout.section(position).origins[piece]
        self.post_message(self.Hovered(self.column_id, *origin, by_key=by_key))

    def action_piece(self, step: int) -> None:
        cursor = self._cursor
        self._place(self._layout.next_piece(cursor, step) if cursor else self._layout.first_from(self._top))

    def action_row(self, step: int) -> None:
        cursor = self._cursor
        if cursor is None:
            self._place(self._layout.first_from(self._top))
        else:
            self._place(self._layout.next_row(cursor, step, self._cursor_cell), keep_cell=True)

    def action_page(self, direction: int) -> None:
        self.scroll_to(y=self._top + direction * max(1, self.page_height - 2), animate=False, force=True)
        if self._cursor is not None:
            self._place(self._layout.first_from(self._top))

    def action_message(self, step: int) -> None:
        position = self._cursor.section if self._cursor else self._layout.section_at(self._top)
        self._place(self._layout.edge_of_next(position, step, last=False))

    def action_edge(self, last: bool) -> None:
        layout = self._layout
        self._place(layout.edge_of_next(len(layout.messages), -1, last) if last else layout.edge_of_next(-1, 1, last))

    def action_choose(self) -> None:
        origin = self.origin_at_cursor
        if origin is not None:
            self.post_message(self.Chosen(self.column_id, *origin))

    def action_fold(self) -> None:
        position, row = self._anchor()
        spot = self._cursor
        if spot is None or not self._layout.toggle_fold(spot.section, spot.piece):
            return
        self._strips.clear()
        self._cursor = spot._replace(row=self._layout.section(spot.section).rows_of(spot.piece)[0])
        self._settle(position, row)
        self._scroll_to_spot(self._cursor)
        self.repaint()

    def on_focus(self) -> None:
        self._cursor = self._cursor or self._layout.first_from(self._top)
        if self._cursor is not None:
            self._tell(self._cursor.section, self._cursor.piece)

    def watch_has_focus(self, has_focus: bool) -> None:
        """Show or hide the cursor; `on_focus` and `on_blur` run too early for that."""
        super().watch_has_focus(has_focus)
        self.repaint()

    # ------------------------------------------------------------------ pointer

    def _place_of(self, event: events.MouseEvent) -> tuple[int, int] | None:
        """Return the row of the prompt and the cell of its text under the pointer."""
        offset = event.get_content_offset(self)
        if offset is None or offset.y < len(self._banner):
            return None
        return offset.y + self._top - len(self._banner), offset.x - MARGIN

    def on_mouse_move(self, event: events.MouseMove) -> None:
        pointed_at = self._place_of(event)
        under = self._layout.piece_at(*pointed_at) if pointed_at is not None else None
        place = (under[0].section, under[0].piece) if under else None
        if place != self._hovered:
            self._hovered = place
            if place is not None:
                self._tell(*place)

    def on_leave(self) -> None:
        if self._hovered is None:
            return
        self._hovered = None
        if self.has_focus and self._cursor is not None:
            self._tell(self._cursor.section, self._cursor.piece)
        else:
            self.post_message(self.Hovered(self.column_id, "", None, ""))

    def on_click(self, event: events.Click) -> None:
        place = self._place_of(event) if self.text_selection is None else None
        if place is None:
            return
        under = self._layout.piece_at(*place)
        if under is None:  # a click on a title opens a message that shows only its title
            position = self._layout.section_at(place[0])
            is_title = place[0] < self._layout.height and self._layout.section(position).is_title_alone
            if is_title and self._layout.open_message(position):
                self._strips.clear()
                self._settle(*self._anchor())
                self.repaint()
            return
        spot, piece = under
        if piece.kind == "fold":
            self._cursor = spot
            self.action_fold()
            return
        self._place(spot)
        if event.chain == 2:
            self.action_choose()
