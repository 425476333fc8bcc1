"""A scrolling view that renders rows on demand and repaints only changed rows.

Textual redraws a whole widget on `refresh()`. With five columns of a thousand messages, a key may only cost the rows
that look different, so the last painted strips are kept and compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rich.segment import Segment
from rich.style import Style
from textual import events, on
from textual.geometry import Region, Size
from textual.selection import Selection
from textual.strip import Strip

from adapters.prompts.text import Kind
from adapters.replies.reading import SpanKind
from workbench.tui.textual_internals.access import FitsItsRoom, StillScrollView, set_virtual_size
from workbench.tui.textual_internals.text_area import adjacent
from workbench.tui.widgets.text.wrapping import cell_offsets

KIND_STYLES: Mapping[Kind, str] = {
    "instructions": "color: $foreground; text-style: bold;",
    "name": "color: $text-primary; text-style: bold;",
    "type": "color: $text-primary; text-style: italic;",
    "description": "color: $foreground 85%; text-style: italic;",
    "constraint": "color: $text-warning;",
    "schema": "color: $text-primary; text-style: dim;",
    "value": "color: $foreground;",
    "marker": "color: $text-accent;",
    "reminder": "color: $text-warning; text-style: italic;",
    "filler": "color: $text-error; text-style: underline;",
    "boilerplate": "color: $foreground 70%;",
    "custom": "color: $foreground;",
}
"""Styles for the kinds of a prompt's text."""
SPAN_STYLES: Mapping[SpanKind, str] = {
    "marker": "color: $text-accent;",
    "value": "color: $foreground;",
    "repaired": "color: $text-warning; text-style: underline;",
    "duplicate": "color: $text-warning; text-style: strike;",
    "unknown": "color: $text-error; text-style: italic;",
    "ignored": "color: $foreground 65%; text-style: italic;",
    "prose": "color: $foreground; text-style: italic;",
    "untraced": "color: $foreground 85%;",
}
"""Styles for the parsed spans of a reply."""


def css_beside(module: str) -> str:
    """Read the style sheet beside a widget's module."""
    return Path(module).with_suffix(".tcss").read_text(encoding="utf-8")


def component_css(widget: str, prefix: str, styles: Mapping[Any, str]) -> str:
    """Return CSS with a component class `prefix--name` of the widget for each style."""
    return "".join([f"{widget} .{prefix}--{name} {{ {style} }}\n" for name, style in styles.items()])


class LineView(StillScrollView, FitsItsRoom, can_focus=True):
    """Base of views painted row by row; rows are numbered from the top of the content.

    Subclasses build their rows in `make_rows`.
    """

    ALLOW_SELECT = True

    DEFAULT_CSS = css_beside(__file__)

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._painted: dict[int, Strip] = {}
        self._laid_out_for = 0
        """The width that the rows are made for."""
        self._room: tuple[int, int] | None = None
        """Width and height of the last layout; None if a change happened while there was no room."""
        self._styles_by_name: dict[tuple[str, ...], Style] = {}

    def row(self, y: int, width: int) -> Strip:
        """Return the strip of row `y`, exactly `width` cells (the current `row_width`); blank below the end."""
        raise NotImplementedError

    @property
    def row_width(self) -> int:
        """Width of a row without the scrollbar; 0 before the first layout."""
        return max(0, self.scrollable_content_region.width)

    @property
    def page_height(self) -> int:
        """Number of rows that fit the view."""
        return max(1, self.scrollable_content_region.height)

    def render_line(self, y: int) -> Strip:
        number = y + round(self.scroll_y)
        strip = self.row(number, self.row_width)
        self._painted[y] = strip
        selection = self.text_selection
        span = selection.get_span(number) if selection is not None else None
        if span is not None:
            strip = self._selected(strip, *span)
        return strip.apply_offsets(0, number)

    def _selected(self, strip: Strip, start: int, end: int) -> Strip:
        """Return a row with the characters from `start` to `end` selected; `end` -1 is the end of the row."""
        cells = cell_offsets(strip.text)
        last = len(cells) - 1
        first, behind = min(start, last), last if end < 0 else min(end, last)
        if first >= behind:
            return strip
        left, middle, right = strip.divide([cells[first], cells[behind], cells[last]])
        look = self.screen.get_component_rich_style("screen--selection")
        if look.color == look.bgcolor:  # a theme with a transparent text colour for selections: keep the text's own
            look = Style(bgcolor=look.bgcolor)
        chosen = Strip([Segment(text, (style or Style()) + look) for text, style, _ in middle])
        return Strip.join([left, chosen, right])

    def row_text(self, y: int) -> tuple[int, str, str]:
        """Return what to copy for row `y`: the width of its margin, its text, and the text before the next row.

        The default is the painted text and a line break.
        """
        return 0, self.row(y, self.row_width).text.rstrip(), "\n"

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text, without line breaks added by the view."""
        rows = self.virtual_size.height
        first = selection.start.y if selection.start is not None else 0
        last = min(selection.end.y if selection.end is not None else rows - 1, rows - 1)
        found: list[str] = []
        for y in range(max(0, first), last + 1):
            span = selection.get_span(y)
            if span is None:
                continue
            margin, text, behind = self.row_text(y)
            start, end = max(0, span[0] - margin), len(text) if span[1] < 0 else max(0, span[1] - margin)
            found += [text[start:end], behind if y < last else ""]
        return "".join(found), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()

    def text_select_all(self) -> None:
        """Select nothing: a double click has another meaning here, and text is selected by dragging."""

    def lay_out(self) -> None:
        """Rebuild the rows if the width has changed; called before painting when it may have."""
        if self.row_width != self._laid_out_for:
            self.make_rows()

    def make_rows(self) -> None:
        """Build the rows for the current width, and set their number as the height."""

    def fit(self) -> None:
        room = (self.row_width, self.page_height)
        if self.row_width and room != self._room:
            self._room = room
            self.lay_out()
            self.refresh()

    def on_resize(self) -> None:
        self.fit()

    @on(events.Focus)
    @on(events.Blur)
    def repaint(self) -> None:
        """Repaint the visible rows that differ from those last painted."""
        width = self.row_width
        if not self.is_attached or not width:
            self._room = None
            return
        if not self._painted:
            self.refresh()
            return
        top = round(self.scroll_y)
        dirty: list[int] = []
        for y in range(self.page_height):
            painted, strip = self._painted.get(y), self.row(top + y, width)
            if painted is not strip and painted != strip:
                dirty.append(y)
        if dirty:
            self.refresh(*[Region(0, first, width, count) for first, count in adjacent(dirty)])

    def set_height(self, rows: int) -> None:
        """Set the number of content rows without a layout of the screen."""
        if self.virtual_size.height != rows or self.virtual_size.width != self.row_width:
            set_virtual_size(self, Size(self.row_width, rows), has_scrollbar=self.is_attached)

    def style_of(self, *names: str) -> Style:
        """Return the combined style of component classes; later classes win."""
        style = self._styles_by_name.get(names)
        if style is None:
            style = self.get_visual_style(*names).rich_style
            # Textual's visual styles do not support reverse, which ANSI themes need because they lack a second
            # background.
            if any(self.get_component_styles(name).text_style.reverse for name in names):
                style += Style(reverse=True)
            self._styles_by_name[names] = style
        return style

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._styles_by_name.clear()
        self.forget_strips()

    def forget_strips(self) -> None:
        """Drop strips painted with outdated styles."""
        self._painted.clear()

    def scroll_row_into_view(self, first: int, last: int | None = None) -> None:
        """Scroll as little as possible to show rows `first` to `last`; `first` wins if they do not all fit."""
        last = first if last is None else last
        top, page = round(self.scroll_y), self.page_height
        if last >= top + page:
            top = last - page + 1
        if first < top:
            top = first
        self.scroll_to(y=top, animate=False, force=True)


def strip_of(pieces: Iterable[tuple[str, Style]], width: int, fill: Style) -> Strip:
    """Join pieces of `safe` text into a strip, cropped or padded to `width` cells."""
    return Strip([Segment(text, style) for text, style in pieces if text]).adjust_cell_length(width, fill)
