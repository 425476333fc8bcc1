"""Lay out and paint a prompt in a scrolling view: styles by origin, highlighted pieces, cursor, margin."""

from __future__ import annotations

import re
from collections.abc import Mapping

from rich.cells import cell_len
from rich.style import Style
from textual.strip import Strip

from adapters.prompts.text import Prompt
from adapters.requests.token_estimates import of_message
from workbench.output.display import one_line
from workbench.tui.widgets.prompt.prompt_forms import heading_of
from workbench.tui.widgets.prompt.prompt_layout import PromptLayout, Spot
from workbench.tui.widgets.prompt.prompt_section import Origin, Section, origins_of, title
from workbench.tui.widgets.text.line_view import KIND_STYLES, LineView, strip_of
from workbench.tui.widgets.text.wrapping import rows

PROMPT_CLASSES = {
    f"prompt-view--{name}"
    for name in (
        *KIND_STYLES,
        *("title", "rule", "tokens", "data", "note", "fold", "error", "lit", "related", "cursor", "mark", "found"),
    )
}


MARGIN = 1
"""Cells to the left of the text for the marks of cursor and highlighted pieces."""

CURSOR_MARK, LIT_MARK, RELATED_MARK = "▌", "┃", "╎"
MOST_STRIPS_KEPT = 4_000


ROWS_OF_ERROR, MOST_ERROR_ROWS = 3, 12
"""Rows of an error above a prompt, and the maximum where there is no prompt."""


class PromptCanvas(LineView):
    """A view that shows a prompt, with a cursor that stays on its piece of text while the prompt changes."""

    def __init__(self) -> None:
        super().__init__()
        self.prompt: Prompt | None = None
        """The shown prompt."""
        self._layout = PromptLayout()
        self._marked_text = ""
        self._lit: Origin | None = None
        self._lights_of: dict[int, dict[int, str]] = {}
        """The highlighted pieces by section; empty once `_lit` has changed."""
        self._is_stale = False
        self._strips: dict[tuple[int, int], Strip] = {}
        """Rows without highlight or cursor, by section and row."""
        self._error = self._hint = ""
        self._banner: list[str] = []
        """Rows of an error or hint above the prompt or in place of it."""
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
        if stale != self._is_stale:  # all text is dimmed, or shown as usual
            self._is_stale = stale
            self._strips.clear()
        if (error, hint) != (self._error, self._hint) or error:  # a prompt may have appeared below an error, or gone
            self._error, self._hint = error, hint
            self._lay_out_banner()
        messages = prompt.messages if prompt is not None else ()
        if messages is not self._layout.messages:
            start, end, new_end = self._layout.take(messages)
            if self._top and position >= end:
                position += new_end - end
            self._forget_messages(start, end, new_end)
            self._hovered = None
            self._cursor = self._layout.follow(self._cursor, start, end, new_end)
        self._settle(position, row)
        self.repaint()

    def highlight(self, key: Origin | None) -> None:
        """Highlight the pieces of this origin strongly, and others of the same field softly."""
        if key != self._lit:
            self._lit, self._lights_of = key, {}
            self.repaint()

    def has(self, key: Origin) -> bool:
        """Return whether a piece of the prompt has this origin, folded or not."""
        return any(one.turn == key.turn and key in origins_of(one) for one in self._layout.messages)

    def mark_text(self, text: str) -> None:
        """Mark all visible occurrences of a text; "" marks nothing."""
        if text != self._marked_text:
            self._marked_text = text
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
        return position, self._top - self._layout.tops[position]

    def _settle(self, position: int, row: int) -> None:
        """Lay out the visible rows with row `row` of section `position` at the top."""
        if not self.row_width:
            self._room = None
            return
        layout = self._layout
        position = max(0, min(position, len(layout.messages) - 1))
        layout.settle(position, row, self.page_height)
        if layout.fill(self.page_height - len(self._banner)):
            self._forget_messages(0, 1, 1)
            self._cursor = layout.follow(self._cursor)
        self.set_height(layout.height + len(self._banner))
        top = max(0, min(layout.tops[position] + row, self.max_scroll_y))
        if top != self._top:
            self.set_reactive(LineView.scroll_y, float(top))
            self.set_reactive(LineView.scroll_target_y, float(top))
            self.vertical_scrollbar.position = top
            self._painted.clear()

    @property
    def rows_held(self) -> int:
        """The height of the folded prompt and banner in rows, as far as it is measured."""
        return self._layout.rows_held + len(self._banner)

    @property
    def rows_in_full(self) -> int:
        """The height in rows if all folded text of the first message were shown."""
        return self.rows_held + (self._layout.section(0).hidden_rows if self._layout.messages else 0)

    def lay_out(self) -> None:
        position, row = self._anchor()
        if self.row_width != self._width_laid_out:
            self._width_laid_out = self.row_width
            self._layout.resize(max(1, self.row_width - MARGIN))
            self._strips.clear()
            self._lay_out_banner()
            self._cursor = self._layout.follow(self._cursor and self._cursor._replace(row=0))
            row = min(row, 1)
        self._settle(position, row)

    def _lay_out_banner(self) -> None:
        """Wrap the error or hint to the width, with more rows of an error if no prompt follows."""
        width = max(1, self.row_width - MARGIN)
        most = MOST_ERROR_ROWS if self.prompt is None else ROWS_OF_ERROR
        text = f"✗ {one_line(self._error, most * width)}" if self._error else self._hint
        found = rows(text, width) if text else []
        self._banner = [text[start:end] for start, end in found[:most]]
        if len(found) > most:
            self._banner[-1] = one_line(text[found[most - 1][0] :], width)

    def _forget_messages(self, start: int, end: int, new_end: int) -> None:
        """Drop the cached rows of messages `start` to `end`, which `start` to `new_end` replace."""
        self._lights_of.clear()
        if end == new_end:
            self._strips = {key: strip for key, strip in self._strips.items() if not start <= key[0] < end}
        else:
            self._strips.clear()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        if round(old_value) != round(new_value):
            self._settle(*self._anchor())
        super().watch_scroll_y(old_value, self.scroll_y)

    def forget_strips(self) -> None:
        super().forget_strips()
        self._strips.clear()

    def row(self, y: int, width: int) -> Strip:
        line = max(0, y - self._top)
        if line < len(self._banner):
            style = self.style_of("prompt-view--error" if self._error else "prompt-view--boilerplate")
            return strip_of([(" " * MARGIN + self._banner[line], style)], width, style)
        layout, y = self._layout, y - len(self._banner)
        position = layout.section_at(y)
        section, row = (layout.section(position), y - layout.tops[position]) if y < layout.height else (None, 0)
        if section is None or row >= section.height:  # its height is still an estimate
            return Strip.blank(width, self.style_of())
        if row:  # a row with marked text, a highlighted piece or the cursor is painted anew
            lights, at_cursor = self._lights(section, position), None
            if self.has_focus and self._cursor is not None and self._cursor.section == position:
                at_cursor = self._cursor.piece
            is_marked = bool(self._marked_text)
            if not is_marked and (lights or at_cursor is not None):
                is_marked = any(one.number in lights or one.number == at_cursor for one, _ in section.runs(row))
            if is_marked:
                return self._text_row(section, row, width, lights, at_cursor)
        strip = self._strips.get((position, row))
        if strip is None:
            if len(self._strips) > MOST_STRIPS_KEPT:
                self._strips.clear()
            strip = self._text_row(section, row, width, {}, None) if row else self._title_row(section, width)
            self._strips[position, row] = strip
        return strip

    def row_text(self, y: int) -> tuple[int, str, str]:
        """Return a row of the message's own text, so that copied lines are not broken by the view's width."""
        place = y - len(self._banner)
        if not 0 <= place < self._layout.height:
            return super().row_text(y)
        position = self._layout.section_at(place)
        section, row = self._layout.section(position), place - self._layout.tops[position]
        if not 1 <= row <= len(section.rows):
            return super().row_text(y)
        start, end = section.rows[row - 1]
        goes_on = row < len(section.rows) and section.rows[row][0] == end
        return MARGIN + section.hang(row), section.text[start:end], "" if goes_on else "\n"

    def _lights(self, section: Section, position: int) -> dict[int, str]:
        """Map pieces of a section to `lit` (the same origin) or `related` (the same field)."""
        if self._lit is None:
            return {}
        lights = self._lights_of.get(position)
        if lights is None:
            field = self._lit.field
            lights = {}
            for number, origin in enumerate(section.origins):
                if origin == self._lit:
                    lights[number] = "lit"
                elif field is not None and origin.field == field:
                    lights[number] = "related"
            self._lights_of[position] = lights
        return lights

    def _text_row(
        self, section: Section, row: int, width: int, lights: Mapping[int, str], at_cursor: int | None
    ) -> Strip:
        plain = self.style_of()
        mark = " "
        pieces: list[tuple[str, Style]] = []
        for piece, text in section.runs(row):
            names = [f"prompt-view--{piece.kind}"]
            light = lights.get(piece.number)
            if light:
                # Boilerplate is only highlighted softly: whole screens of it would drown the rest.
                names.append(f"prompt-view--{'related' if piece.kind == 'boilerplate' else light}")
                mark = LIT_MARK if light == "lit" or mark == LIT_MARK else RELATED_MARK
            if piece.number == at_cursor:
                names.append("prompt-view--cursor")
            style = self._shade(self.style_of(*names))
            for part, is_found in _split(text, self._marked_text):
                pieces.append((part, self.style_of(*names, "prompt-view--found") if is_found else style))
        if at_cursor is not None and self._cursor is not None and self._cursor.row == row:
            mark = CURSOR_MARK
        return strip_of([(mark, self.style_of("prompt-view--mark") if mark != " " else plain), *pieces], width, plain)

    def _title_row(self, section: Section, width: int) -> Strip:
        tokens = f" ~{of_message(section.message):,} tok"
        room = max(1, width - MARGIN)
        name = one_line(heading_of(section), max(1, room - len(tokens) - 1))
        rule = " " + "─" * max(0, room - cell_len(name) - len(tokens) - 1)
        plain = self.style_of()
        pieces = [
            (" " * MARGIN, plain),
            (name, self._shade(self.style_of("prompt-view--title"))),
            (rule, self.style_of("prompt-view--rule")),
            (tokens, self._shade(self.style_of("prompt-view--tokens"))),
        ]
        return strip_of(pieces, width, plain)

    def _shade(self, style: Style) -> Style:
        return style + Style(dim=True) if self._is_stale else style


def _split(text: str, wanted: str) -> list[tuple[str, bool]]:
    """Split `text` into parts, each with whether it matches `wanted`, ignoring case."""
    if not wanted:
        return [(text, False)]
    found = re.split(f"({re.escape(wanted)})", text, flags=re.IGNORECASE)
    return [(part, index % 2 == 1) for index, part in enumerate(found) if part]
