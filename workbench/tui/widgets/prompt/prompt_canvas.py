"""Lay out and paint a prompt in a scrolling view."""

from __future__ import annotations

from textual.strip import Strip

from adapters.prompts.text import Prompt
from workbench.tui.widgets.prompt.prompt_layout import PromptLayout, Spot
from workbench.tui.widgets.prompt.prompt_painting import MARGIN, OriginKey, PromptBanner, PromptPainter
from workbench.tui.widgets.prompt.prompt_section import Origin, origins_of, title
from workbench.tui.widgets.text.line_view import LineView, strip_of


class PromptCanvas(LineView):
    """A view that shows a prompt, with a cursor that stays on its piece of text while the prompt changes."""

    def __init__(self) -> None:
        super().__init__()
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

    def has(self, key: OriginKey) -> bool:
        """Return whether a piece of the prompt has this origin, folded or not."""
        wanted = Origin(*key)
        return any(one.turn == wanted.turn and wanted in origins_of(one) for one in self._layout.messages)

    def mark_text(self, text: str) -> None:
        """Mark all visible occurrences of a text; "" marks nothing."""
        if text != self._painter.marked_text:
            self._painter.marked_text = text
            self.repaint()

    def plain_text(self) -> str:
        """Return the whole prompt as text, each message under its title."""
        return "\n\n".join([f"{title(one)}:\n\n{one.text}" for one in self._layout.messages])

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

    def _set_cursor(self, spot: Spot | None) -> None:
        self._cursor = spot
        self._painter.cursor = spot if self.has_focus else None

    def _follow(self, start: int = 0, end: int = 0, new_end: int = 0) -> None:
        """Keep the cursor on its piece; arguments are those returned by `PromptLayout.take`."""
        if self._cursor is not None:
            self._set_cursor(self._layout.follow(self._cursor, start, end, new_end))
