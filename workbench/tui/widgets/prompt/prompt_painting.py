"""Paint the rows of a prompt: styles by origin, highlighted pieces, cursor, marks in the margin."""

from __future__ import annotations

import re
from collections.abc import Callable

from rich.cells import cell_len
from rich.style import Style
from textual.strip import Strip

from workbench.output.display import one_line
from workbench.tui.widgets.prompt.prompt_forms import heading_of
from workbench.tui.widgets.prompt.prompt_layout import PromptLayout, Spot
from workbench.tui.widgets.prompt.prompt_section import Section
from workbench.tui.widgets.text.line_view import KIND_STYLES, component_css, strip_of
from workbench.tui.widgets.text.wrapping import rows

PROMPT_CSS = (
    """
PromptView {
"""
    + component_css("prompt-view", KIND_STYLES)
    + """
    & .prompt-view--title { color: $foreground; text-style: bold; }
    & .prompt-view--rule { color: $foreground 25%; }
    & .prompt-view--tokens { color: $foreground 60%; }
    & .prompt-view--data { color: $text-success; }
    & .prompt-view--note { color: $foreground 60%; text-style: italic; }
    & .prompt-view--fold { color: $text-accent; text-style: bold; }
    & .prompt-view--error { color: $text-error; background: $error-muted; }
    & .prompt-view--lit { background: $accent 30%; text-style: bold; }
    & .prompt-view--related { background: $accent 15%; }
    & .prompt-view--cursor { background: $foreground 18%; }
    & .prompt-view--found { background: $warning 45%; text-style: bold; }
    & .prompt-view--mark { color: $text-accent; text-style: bold; }
    &:ansi {
        & .prompt-view--boilerplate { text-style: dim; }
        & .prompt-view--tokens { text-style: dim; }
        & .prompt-view--rule { text-style: dim; }
        & .prompt-view--error { background: transparent; text-style: bold; }
        & .prompt-view--lit { background: transparent; text-style: bold underline; }
        & .prompt-view--related { background: transparent; text-style: underline; }
        & .prompt-view--cursor { background: transparent; text-style: reverse; }
        & .prompt-view--found { background: transparent; text-style: bold reverse; }
    }
}
"""
)
PROMPT_CLASSES = {
    f"prompt-view--{name}"
    for name in (
        *KIND_STYLES,
        *("title", "rule", "tokens", "data", "note", "fold", "error", "lit", "related", "cursor", "mark", "found"),
    )
}


OriginKey = tuple[str, str | None, str]
"""An `Origin` as (kind, field, turn)."""

MARGIN = 1
"""Cells to the left of the text for the marks of cursor and highlighted pieces."""

CURSOR_MARK, LIT_MARK, RELATED_MARK = "▌", "┃", "╎"
MOST_STRIPS_KEPT = 4_000


class PromptPainter:
    """Paint rows of `layout`; rows without highlight or cursor are cached.

    `style_of` returns the style of `prompt-view--…` classes, `cursor` is the visible cursor (None without focus), and
    `stale` dims all text.
    """

    def __init__(self, layout: PromptLayout, style_of: Callable[..., Style]) -> None:
        self._layout = layout
        self._style_of = style_of
        self.cursor: Spot | None = None
        self.marked_text = ""
        self._stale = False
        self._lit: OriginKey | None = None
        self._lights_of: dict[int, dict[int, str]] = {}
        self._strips: dict[tuple[int, int], Strip] = {}

    @property
    def lit(self) -> OriginKey | None:
        return self._lit

    @lit.setter
    def lit(self, key: OriginKey | None) -> None:
        self._lit = key
        self._lights_of.clear()

    @property
    def stale(self) -> bool:
        return self._stale

    @stale.setter
    def stale(self, stale: bool) -> None:
        if stale != self._stale:
            self._stale = stale
            self._strips.clear()

    def forget(self) -> None:
        """Drop all cached rows."""
        self._strips.clear()

    def forget_messages(self, start: int, end: int, new_end: int) -> None:
        """Drop the cached rows of messages `start` to `end`, which `start` to `new_end` replace."""
        self._lights_of.clear()
        if end == new_end:
            self._strips = {key: strip for key, strip in self._strips.items() if not start <= key[0] < end}
        else:
            self._strips.clear()

    def strip(self, y: int, width: int) -> Strip:
        """Return row `y` of the layout, `width` cells wide."""
        layout = self._layout
        if y >= layout.height:
            return Strip.blank(width, self._style_of())
        position = layout.section_at(y)
        section, row = layout.section(position), y - layout.top(position)
        if row >= section.height:  # its height is still an estimate
            return Strip.blank(width, self._style_of())
        if row and (self.marked_text or self._is_marked(section, position, row)):
            return self._text_row(section, position, row, width)
        strip = self._strips.get((position, row))
        if strip is None:
            if len(self._strips) > MOST_STRIPS_KEPT:
                self._strips.clear()
            strip = self._text_row(section, position, row, width) if row else self._title_row(section, width)
            self._strips[position, row] = strip
        return strip

    def _cursor_piece(self, position: int) -> int | None:
        return self.cursor.piece if self.cursor is not None and self.cursor.section == position else None

    def _is_marked(self, section: Section, position: int, row: int) -> bool:
        """Return whether any piece in this row is highlighted or under the cursor."""
        lights, at_cursor = self._lights(section, position), self._cursor_piece(position)
        if not lights and at_cursor is None:
            return False
        return any(piece.number in lights or piece.number == at_cursor for piece, _ in section.runs(row))

    def _lights(self, section: Section, position: int) -> dict[int, str]:
        """Map pieces of a section to `lit` (the same origin) or `related` (the same field)."""
        if self._lit is None:
            return {}
        lights = self._lights_of.get(position)
        if lights is None:
            field = self._lit[1]
            lights = {}
            for number, origin in enumerate(section.origins):
                if origin == self._lit:
                    lights[number] = "lit"
                elif field is not None and origin.field == field:
                    lights[number] = "related"
            self._lights_of[position] = lights
        return lights

    def _text_row(self, section: Section, position: int, row: int, width: int) -> Strip:
        plain = self._style_of()
        lights, at_cursor = self._lights(section, position), self._cursor_piece(position)
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
            style = self._shade(self._style_of(*names))
            for part, is_found in _split(text, self.marked_text):
                pieces.append((part, self._style_of(*names, "prompt-view--found") if is_found else style))
        if at_cursor is not None and self.cursor is not None and self.cursor.row == row:
            mark = CURSOR_MARK
        return strip_of([(mark, self._style_of("prompt-view--mark") if mark != " " else plain), *pieces], width, plain)

    def _title_row(self, section: Section, width: int) -> Strip:
        tokens = f" ~{section.tokens:,} tok"
        room = max(1, width - MARGIN)
        name = one_line(heading_of(section), max(1, room - len(tokens) - 1))
        rule = " " + "─" * max(0, room - cell_len(name) - len(tokens) - 1)
        plain = self._style_of()
        pieces = [
            (" " * MARGIN, plain),
            (name, self._shade(self._style_of("prompt-view--title"))),
            (rule, self._style_of("prompt-view--rule")),
            (tokens, self._shade(self._style_of("prompt-view--tokens"))),
        ]
        return strip_of(pieces, width, plain)

    def _shade(self, style: Style) -> Style:
        return style + Style(dim=True) if self._stale else style


def _split(text: str, wanted: str) -> list[tuple[str, bool]]:
    """Split `text` into parts, each with whether it matches `wanted`, ignoring case."""
    if not wanted:
        return [(text, False)]
    found = re.split(f"({re.escape(wanted)})", text, flags=re.IGNORECASE)
    return [(part, index % 2 == 1) for index, part in enumerate(found) if part]


ROWS_OF_ERROR, MOST_ERROR_ROWS = 3, 12
"""Rows of an error above a prompt, and the maximum where there is no prompt."""


class PromptBanner:
    """An error or hint above a prompt or in place of it; `rows` are the visible rows."""

    def __init__(self) -> None:
        self.rows: list[str] = []
        self._error = self._hint = ""

    @property
    def is_error(self) -> bool:
        return bool(self._error)

    def take(self, error: str, hint: str, *, width: int, is_alone: bool) -> None:
        """Set the error or hint.

        An error is always laid out again, because a prompt may have appeared or disappeared below it.
        """
        if (error, hint) != (self._error, self._hint) or error:
            self._error, self._hint = error, hint
            self.lay_out(width, is_alone)

    def lay_out(self, width: int, is_alone: bool) -> None:
        """Wrap the text to a width, with more rows if no prompt follows."""
        most = MOST_ERROR_ROWS if is_alone else ROWS_OF_ERROR
        text = f"✗ {one_line(self._error, most * width)}" if self._error else self._hint
        found = rows(text, width) if text else []
        self.rows = [text[start:end] for start, end in found[:most]]
        if len(found) > most:
            self.rows[-1] = one_line(text[found[most - 1][0] :], width)
