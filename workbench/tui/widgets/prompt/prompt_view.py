"""Show a column's prompt: a section for each message, each piece coloured by its origin."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.message import Message as TextualMessage
from textual.strip import Strip

from adapters.prompts.text import Message, Prompt
from workbench.tui.keys.bindings import pane_keys
from workbench.tui.widgets.prompt.prompt_forms import AFTER, PromptForm, text_of
from workbench.tui.widgets.prompt.prompt_layout import PromptLayout, Spot
from workbench.tui.widgets.prompt.prompt_painting import (
    MARGIN,
    PROMPT_CLASSES,
    PROMPT_CSS,
    OriginKey,
    PromptBanner,
    PromptPainter,
)
from workbench.tui.widgets.prompt.prompt_section import Origin, origins_of, piece_holding, title
from workbench.tui.widgets.text.line_view import LineView, strip_of

ROWS_ABOVE = 3
"""Rows shown above a piece after scrolling to it."""
__all__ = ["OriginKey", "PromptView"]


class PromptView(LineView):
    """A view of a prompt; `Hovered` and `Chosen` report the piece under the pointer or cursor."""

    DEFAULT_CSS = PROMPT_CSS
    COMPONENT_CLASSES: ClassVar[set[str]] = PROMPT_CLASSES
    BINDINGS: ClassVar[list[BindingType]] = pane_keys(
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

    def __init__(self, column_id: str, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.column_id = column_id
        self.prompt: Prompt | None = None
        """The shown prompt."""
        self._layout = PromptLayout()
        self._painter = PromptPainter(self._layout, self.style_of)
        self._banner = PromptBanner()
        self._cursor: Spot | None = None
        self._cursor_cell = 0
        self._hovered: tuple[int, int] | None = None
        self._width_laid_out = 0

    # ------------------------------------------------------------------ content

    def show(self, prompt: Prompt | None, *, stale: bool = False, error: str = "", hint: str = "") -> None:
        """Show a prompt, or an error or `hint` in place of it.

        Messages that are the same objects as before cost nothing; only rows that differ are repainted.
        """
        position, row = self._anchor()
        self.prompt = prompt
        self._painter.stale = stale
        self._banner.take(error, hint, width=self._text_width, is_alone=prompt is None)
        messages = prompt.messages if prompt is not None else ()
        if messages is not self._layout.messages:
            start, end, new_end = self._layout.take(messages)
            if self._top and position >= end:
                position += new_end - end
            self._painter.forget_messages(start, end, new_end)
            self._hovered = None
            self._follow(start, end, new_end)
        self._settle(position, row)
        self.repaint()

    def highlight(self, key: OriginKey | None) -> None:
        """Highlight the pieces of this origin strongly, and others of the same field softly."""
        if key != self._painter.lit:
            self._painter.lit = key
            self.repaint()

    def reveal(self, key: OriginKey) -> bool:
        """Move the cursor to a piece of this origin, else of its field, and scroll there unless it is visible.

        Return False if there is no such piece.
        """
        if self._layout.open_where(Origin(*key)):
            self._painter.forget()
        spot = self._layout.find(Origin(*key))
        if spot is None:
            return False
        self._set_cursor(spot)
        if not self._layout.shows(Origin(*key), self._top, self._top + self.page_height - len(self._banner.rows) - 1):
            self._settle(spot.section, max(0, spot.row - ROWS_ABOVE))
        self.repaint()
        return True

    def show_last_message(self) -> None:
        """Scroll to the start of the last message."""
        self._settle(len(self._layout.messages) - 1, 0)
        self.repaint()

    def has(self, key: OriginKey) -> bool:
        """Return whether a piece of the prompt has this origin, folded or not."""
        wanted = Origin(*key)
        return any(one.turn == wanted.turn and wanted in origins_of(one) for one in self._layout.messages)

    def go_to_text(self, message: int, offset: int) -> None:
        """Move the cursor to a character of a message's text, unfolding it if needed."""
        if not 0 <= message < len(self._layout.messages):
            return
        number, offset = piece_holding(self._layout.messages[message], offset)
        if self._layout.open_message(message):
            self._painter.forget()
            self._settle(message, 0)
        section = self._layout.section(message)
        if section.is_away(number, offset) and self._layout.toggle_fold(message, number):
            self._painter.forget()
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
            self._set_cursor(self._cursor._replace(row=first))
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
        self._painter.forget()
        self._hovered = None
        self._follow()
        self._settle(position, 0)

    def action_quiet(self) -> None:
        self.post_message(self.QuietAsked(not self._layout.is_quiet))

    @property
    def unfolded(self) -> frozenset[Origin]:
        return frozenset(self._layout.unfolded)

    def unfold(self, origins: Iterable[Origin]) -> None:
        """Unfold these long pieces and fold all others."""
        self._layout.unfold(origins)
        self._painter.forget()
        self._settle(*self._anchor())
        self.repaint()

    def mark_text(self, text: str) -> None:
        """Mark all visible occurrences of a text; "" marks nothing."""
        if text != self._painter.marked_text:
            self._painter.marked_text = text
            self.repaint()

    def plain_text(self) -> str:
        """Return the whole prompt as text, each message under its title."""
        return "\n\n".join([f"{title(one)}:\n\n{one.text}" for one in self._layout.messages])

    def text_of_message_at_cursor(self) -> str:
        """Return the text of the message at the cursor, else of the first visible message.

        In the form `json` this is the JSON.
        """
        message = self.message_at_cursor
        return text_of(message, self.form) if message is not None else ""

    @property
    def origin_at_cursor(self) -> OriginKey | None:
        """The origin of the piece at the cursor."""
        return self._layout.section(self._cursor.section).origins[self._cursor.piece] if self._cursor else None

    @property
    def message_at_cursor(self) -> Message | None:
        if not self._layout.messages:
            return None
        position = self._cursor.section if self._cursor else self._layout.section_at(self._top)
        return self._layout.messages[position]

    # ------------------------------------------------------------------ layout

    @property
    def _top(self) -> int:
        return round(self.scroll_y)

    def _anchor(self) -> tuple[int, int]:
        """Return the section at the top of the view, and its row at the top."""
        position = self._layout.section_at(self._top)
        return position, self._top - self._layout.top(position)

    def _settle(self, position: int, row: int) -> None:
        """Lay out the visible rows with row `row` of section `position` at the top."""
        if not self.row_width:
            self._room = None
            return
        layout = self._layout
        position = max(0, min(position, len(layout.messages) - 1))
        layout.settle(position, row, self.page_height)
        if layout.fill(self.page_height - len(self._banner.rows)):
            self._painter.forget_messages(0, 1, 1)
            self._follow()
        self.set_height(layout.height + len(self._banner.rows))
        top = max(0, min(layout.top(position) + row, self.max_scroll_y))
        if top != self._top:
            self.set_reactive(LineView.scroll_y, float(top))
            self.set_reactive(LineView.scroll_target_y, float(top))
            self.vertical_scrollbar.position = top
            self._painted.clear()

    @property
    def _text_width(self) -> int:
        return max(1, self.row_width - MARGIN)

    @property
    def rows_held(self) -> int:
        """The height of the folded prompt and banner in rows, as far as it is measured."""
        return self._layout.rows_held + len(self._banner.rows)

    @property
    def rows_in_full(self) -> int:
        """The height in rows if all folded text of the first message were shown."""
        return self._layout.rows_in_full + len(self._banner.rows)

    def lay_out(self) -> None:
        position, row = self._anchor()
        if self.row_width != self._width_laid_out:
            self._width_laid_out = self.row_width
            self._layout.resize(self._text_width)
            self._painter.forget()
            self._banner.lay_out(self._text_width, self.prompt is None)
            if self._cursor is not None:
                self._set_cursor(self._layout.follow(self._cursor._replace(row=0), 0, 0, 0))
            row = min(row, 1)
        self._settle(position, row)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        if round(old_value) != round(new_value):
            self._settle(*self._anchor())
        super().watch_scroll_y(old_value, self.scroll_y)

    def forget_strips(self) -> None:
        super().forget_strips()
        self._painter.forget()

    def row(self, y: int, width: int) -> Strip:
        line = max(0, y - self._top)
        if line < len(self._banner.rows):
            style = self.style_of("prompt-view--error" if self._banner.is_error else "prompt-view--boilerplate")
            return strip_of([(" " * MARGIN + self._banner.rows[line], style)], width, style)
        return self._painter.strip(y - len(self._banner.rows), width)

    def row_text(self, y: int) -> tuple[int, str, str]:
        """Return a row of the message's own text, so that copied lines are not broken by the view's width."""
        place = y - len(self._banner.rows)
        if not 0 <= place < self._layout.height:
            return super().row_text(y)
        position = self._layout.section_at(place)
        section, row = self._layout.section(position), place - self._layout.top(position)
        if not 1 <= row <= len(section.rows):
            return super().row_text(y)
        start, end = section.rows[row - 1]
        goes_on = row < len(section.rows) and section.rows[row][0] == end
        return MARGIN + section.hang(row), section.text[start:end], "" if goes_on else "\n"

    # ------------------------------------------------------------------ cursor

    def _set_cursor(self, spot: Spot | None) -> None:
        self._cursor = spot
        self._painter.cursor = spot if self.has_focus else None

    def _follow(self, start: int = 0, end: int = 0, new_end: int = 0) -> None:
        """Keep the cursor on its piece; arguments are those returned by `PromptLayout.take`."""
        if self._cursor is not None:
            self._set_cursor(self._layout.follow(self._cursor, start, end, new_end))

    def _place(self, spot: Spot | None, *, keep_cell: bool = False) -> None:
        """Move the cursor, scroll to it and report its piece."""
        if spot is None:
            return
        before = self._cursor
        self._set_cursor(spot)
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
        y = self._layout.top(spot.section) + spot.row
        first = y - 1 if spot.row == 1 else y
        self.scroll_row_into_view(first, y + len(self._banner.rows))

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
        self._place(self._layout.edge(last))

    def action_choose(self) -> None:
        origin = self.origin_at_cursor
        if origin is not None:
            self.post_message(self.Chosen(self.column_id, *origin))

    def action_fold(self) -> None:
        if self._cursor is not None:
            self._toggle_fold(self._cursor.section, self._cursor.piece)

    def _toggle_fold(self, section: int, piece: int) -> None:
        position, row = self._anchor()
        if not self._layout.toggle_fold(section, piece):
            return
        self._painter.forget()
        spot = Spot(section, self._layout.section(section).rows_of(piece)[0], piece)
        self._set_cursor(spot)
        self._settle(position, row)
        self._scroll_to_spot(spot)
        self.repaint()

    def on_focus(self) -> None:
        self._set_cursor(self._cursor or self._layout.first_from(self._top))
        if self._cursor is not None:
            self._tell(self._cursor.section, self._cursor.piece)

    def watch_has_focus(self, has_focus: bool) -> None:
        """Show or hide the cursor; `on_focus` and `on_blur` run too early for that."""
        super().watch_has_focus(has_focus)
        self._set_cursor(self._cursor)
        self.repaint()

    # ------------------------------------------------------------------ pointer

    def _place_of(self, event: events.MouseEvent) -> tuple[int, int] | None:
        """Return the row of the prompt and the cell of its text under the pointer."""
        offset = event.get_content_offset(self)
        if offset is None or offset.y < len(self._banner.rows):
            return None
        return offset.y + self._top - len(self._banner.rows), offset.x - MARGIN

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
        place = self._place_of(event) if not self.is_selecting else None
        if place is None:
            return
        under = self._layout.piece_at(*place)
        if under is None:  # a click on a title opens a message that shows only its title
            position = self._layout.section_at(place[0])
            is_title = place[0] < self._layout.height and self._layout.section(position).is_title_alone
            if is_title and self._layout.open_message(position):
                self._painter.forget()
                self._settle(*self._anchor())
                self.repaint()
            return
        spot, piece = under
        if piece.kind == "fold":
            self._toggle_fold(spot.section, spot.piece)
            return
        self._place(spot)
        if event.chain == 2:
            self.action_choose()
