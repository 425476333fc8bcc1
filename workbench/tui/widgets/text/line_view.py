"""A scrolling view that makes its rows on demand and repaints only those that changed.

Textual redraws a whole widget on `refresh()`. With five columns of a thousand messages a keystroke must cost only the
rows that look different, so the strips last painted are kept and compared.
"""

from __future__ import annotations

from collections.abc import Iterable

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from workbench.tui.textual_internals.scrolling import set_virtual_size


class LineView(ScrollView, can_focus=True):
    """Base of views painted row by row; rows are numbered from the top of the whole content."""

    ALLOW_SELECT = False

    DEFAULT_CSS = """
    LineView {
        width: 1fr;
        height: 1fr;
        background: $surface;
        color: $foreground;
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
        scrollbar-background: $surface;
        scrollbar-background-hover: $surface;
        scrollbar-background-active: $surface;
        scrollbar-color: $foreground 20%;
        scrollbar-color-hover: $foreground 35%;
        scrollbar-color-active: $accent;
    }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._painted: dict[int, Strip] = {}
        self._styles_by_name: dict[tuple[str, ...], Style] = {}

    def row(self, y: int, width: int) -> Strip:
        """The strip of row `y`, exactly `width` cells (the `row_width` of now); blank below the end."""
        raise NotImplementedError

    @property
    def row_width(self) -> int:
        """Cells of a row (the scrollbar's cell is kept free); 0 before the first layout."""
        return max(0, self.scrollable_content_region.width)

    @property
    def page_height(self) -> int:
        """Rows that fit the view."""
        return max(1, self.scrollable_content_region.height)

    def render_line(self, y: int) -> Strip:
        strip = self.row(y + round(self.scroll_y), self.row_width)
        self._painted[y] = strip
        return strip

    def repaint(self) -> None:
        """Repaints the visible rows that differ from what was painted last."""
        width = self.row_width
        if not self.is_attached or not width:
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
            self.refresh(*_regions(dirty, self.size.width))

    def set_height(self, rows: int) -> None:
        """The rows of the whole content; no new layout of the screen is needed for it."""
        if self.virtual_size.height != rows or self.virtual_size.width != self.row_width:
            set_virtual_size(self, Size(self.row_width, rows), has_scrollbar=self.is_attached)

    def style_of(self, *names: str) -> Style:
        """The style of component classes, later ones over earlier ones."""
        style = self._styles_by_name.get(names)
        if style is None:
            style = self.get_visual_style(*names).rich_style
            # textual's visual styles know no reverse, which ansi themes need for want of a second background
            if any(self.get_component_styles(name).text_style.reverse for name in names):
                style += Style(reverse=True)
            self._styles_by_name[names] = style
        return style

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._styles_by_name.clear()
        self.forget_strips()

    def forget_strips(self) -> None:
        """Drops strips that were made with styles that hold no more."""
        self._painted.clear()

    def scroll_row_into_view(self, first: int, last: int | None = None) -> None:
        """Scrolls as little as possible so that rows `first` to `last` show; `first` wins when not all of them fit."""
        last = first if last is None else last
        top, page = round(self.scroll_y), self.page_height
        if last >= top + page:
            top = last - page + 1
        if first < top:
            top = first
        self.scroll_to(y=top, animate=False, force=True)


def strip_of(pieces: Iterable[tuple[str, Style]], width: int, fill: Style) -> Strip:
    """Pieces of gated text as one strip, cropped or filled to `width` cells."""
    return Strip([Segment(text, style) for text, style in pieces if text]).adjust_cell_length(width, fill)


def _regions(rows: list[int], width: int) -> list[Region]:
    """Neighbouring rows as one region each."""
    regions: list[Region] = []
    for y in rows:
        if regions and regions[-1].bottom == y:
            regions[-1] = regions[-1].grow((0, 0, 1, 0))
        else:
            regions.append(Region(0, y, width, 1))
    return regions
