"""A text area that repaints the rows that look different, where Textual's own repaints all of them for each key.

It also gives a public name to what editors need of Textual's text area and Textual keeps private.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import zip_longest
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from textual import events
from textual.geometry import Region, Size
from textual.reactive import Reactive, reactive
from textual.strip import Strip
from textual.widgets import TextArea
from textual.widgets.text_area import Location, Selection, TextAreaTheme

from workbench.tui.textual_internals.scrolling import FitsItsRoom, set_virtual_size

CELLS_OF_CURSOR = 1
"""Kept free behind the longest row."""


class RowLook(NamedTuple):
    """All that decides how a row looks and can change without everything being repainted."""

    text: str
    decoration: object
    selected: tuple[int, int | None] | None
    cursor: tuple[int, bool] | None
    """The column of the cursor, and whether it is at a bracket."""
    bracket: int | None
    """The column of the other bracket."""


class RowPainting(TextArea, FitsItsRoom):
    """A subclass tells by `decorations` what its lines look like besides their text, and calls `repaint_changes`."""

    selection: Reactive[Selection] = reactive(Selection(), init=False, always_update=True, repaint=False)
    """As Textual declares it, but for the repainting."""

    _looks: list[RowLook | None] | None = None
    """The rows as they were painted last; None when all of them will be painted anyway."""
    _is_wrapped_anew = False
    _rows_told: Mapping[int, int] = MappingProxyType({})
    """By the cells of a row how many rows the text was last said to take: Textual keeps what it was told."""

    def decorations(self) -> Callable[[int], object]:
        """Tells what the line of an index looks like besides its text: equal as long as that looks the same."""
        return lambda index: None

    def repaint_changes(self) -> None:
        """Repaints the rows in sight whose looks are others than those painted last."""
        if self._looks is None:
            return
        before, self._looks = self._looks, self._rows_in_sight()
        changed = [y for y, (old, new) in enumerate(zip_longest(before, self._looks)) if old != new]
        width = max(self.virtual_size.width, self.size.width)
        for first, count in _stretches(changed):
            self.refresh(Region(0, first, width, count))

    def refresh(self, *regions: Region, **options: Any) -> Self:
        # a scroll repaints the region of everything
        if (not regions or self.size.region in regions) and options.get("repaint", True):
            self._looks = None
        return super().refresh(*regions, **options)

    def render_lines(self, crop: Region) -> list[Strip]:
        if self._looks is None:
            self._looks = self._rows_in_sight()
        return super().render_lines(crop)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Of the text within this width. Textual's own tells that of the last width, and asks for another layout."""
        if self.soft_wrap:
            left = self._cells_of_row(width)
            self._wrap_within(left)
            if self._rows_told.get(left) != self.wrapped_document.height:
                self._rows_told = {**self._rows_told, left: self.wrapped_document.height}
        return super().get_content_height(container, viewport, width)

    def fit(self) -> None:
        """Wraps the text for the width of now, if it is wrapped for another."""
        width = self.wrap_width
        if self.soft_wrap:
            self._wrap_within(width)
        if self._is_wrapped_anew:
            self._is_wrapped_anew = False
            set_virtual_size(self, self.virtual_size, has_scrollbar=self.is_attached)
            is_other = self._rows_told.get(width) != self.wrapped_document.height
            self.refresh(layout=self.styles.is_auto_height and is_other)

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        if self.soft_wrap and size:  # before it is seen whether the text needs a scrollbar
            self._wrap_within(self._cells_of_row(size.width - self.styles.gutter.width))
        return super()._size_updated(size, virtual_size, container_size, layout)

    def _cells_of_row(self, width: int) -> int:
        """The cells of text in a row of a widget of so many, as `wrap_width` has them for the width of now."""
        return max(0, width - self.scrollbar_size_vertical - self.gutter_width - CELLS_OF_CURSOR)

    def _wrap_within(self, width: int) -> None:
        if width != self.wrapped_document._width:
            self.wrapped_document.wrap(width, tab_width=self.indent_width)
            self.forget_painted_lines()
            self._looks = None
            self._is_wrapped_anew = True
            set_virtual_size(self, Size(0, self.wrapped_document.height), has_scrollbar=False)

    def _on_resize(self, event: events.Resize | None = None) -> None:
        if event is not None:
            event.prevent_default()  # Textual's own wraps whatever the width was
        self.fit()

    # -- what Textual has no public name for

    def paint_row(self, y: int) -> Strip:
        """Row `y` of the widget as it looks, for a subclass to paint another way."""
        return super()._render_line(y)

    def forget_painted_lines(self) -> None:
        """Lines look different now, though their text does not."""
        self._line_cache.clear()

    def type_over(self, text: str, start: Location, end: Location) -> None:
        """Puts `text` in place of what is there as if the user had typed it: it can be undone, not while read-only."""
        self._replace_via_keyboard(text, start, end)

    def delete_as_typed(self, start: Location, end: Location) -> None:
        """Takes away what is there as if the user had deleted it."""
        self._delete_via_keyboard(start, end)

    def rewrap(self) -> None:
        """Wraps all lines anew, as for another width."""
        self._rewrap_and_refresh_virtual_size()

    def fit_scrollbars(self) -> None:
        """Lays out anew what depends on the length of the text."""
        self._refresh_size()

    @property
    def lines_by_row(self) -> list[tuple[int, int]]:
        """For each row of the wrapped text the index of its line, and which of the line's rows it is."""
        return self.wrapped_document._offset_to_line_info

    @property
    def theme_in_force(self) -> TextAreaTheme | None:
        """The styles of selection, cursor and text."""
        return self._theme

    @property
    def shows_cursor(self) -> bool:
        """Whether the cursor is painted now: it blinks, and rests without focus."""
        return self._draw_cursor

    def _render_line(self, y: int) -> Strip:
        return self.paint_row(y)

    def _watch_selection(self, previous_selection: Selection, selection: Selection) -> None:
        super()._watch_selection(previous_selection, selection)
        self.repaint_changes()

    def _rewrap_and_refresh_virtual_size(self) -> None:
        super()._rewrap_and_refresh_virtual_size()
        self.refresh()

    def _rows_in_sight(self) -> list[RowLook | None]:
        """Each row of the widget, from the top; None below the end of the text."""
        rows = self.lines_by_row
        top = self.scroll_offset.y
        decoration_of = self.decorations()
        return [
            self._look_of(*rows[row], decoration_of) if row < len(rows) else None
            for row in range(top, top + self.size.height)
        ]

    def _look_of(self, index: int, section: int, decoration_of: Callable[[int], object]) -> RowLook:
        first, last = sorted(self.selection)
        selected = None
        if first != last and first[0] <= index <= last[0]:
            selected = (first[1] if index == first[0] else 0, last[1] if index == last[0] else None)
        line, column = self.selection.end
        match = self._matching_bracket_location
        edges = (0, *self.wrapped_document.get_offsets(index), None)[section : section + 2]
        return RowLook(
            self.document.get_line(index)[edges[0] : edges[1]],
            decoration_of(index),
            selected,
            (column, match is not None) if index == line else None,
            match[1] if match is not None and match[0] == index else None,
        )


def _stretches(rows: list[int]) -> list[tuple[int, int]]:
    """Neighbouring rows together: the first of them, and how many."""
    found: list[tuple[int, int]] = []
    for row in rows:
        if found and sum(found[-1]) == row:
            found[-1] = (found[-1][0], found[-1][1] + 1)
        else:
            found.append((row, 1))
    return found
