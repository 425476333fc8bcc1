"""A text area that repaints only changed rows and can indent wrapped lines.

Textual's `TextArea` repaints every row at each key, and starts every row of a wrapped line at the left edge.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Self

from textual import events
from textual.document._document import DocumentBase, Location
from textual.document._document_navigator import DocumentNavigator
from textual.document._wrapped_document import WrappedDocument
from textual.geometry import Offset, Region, Size
from textual.reactive import Reactive, reactive
from textual.strip import Strip
from textual.widgets import TextArea
from textual.widgets.text_area import EditResult, Selection

from workbench.tui.textual_internals.access import FitsItsRoom, set_virtual_size

CELLS_OF_CURSOR = 1
"""Cells kept free after the longest row."""


class Hanging(NamedTuple):
    """Two functions: the indent of a line's continuation rows at a width, and the offsets where those rows begin."""

    hang_of: Callable[[str, int], int]
    breaks: Callable[[str, int, int], Sequence[int]]


class HangingDocument(WrappedDocument):
    """Wrap indented lines so that their continuation rows start below the first word."""

    def __init__(self, document: DocumentBase, hanging: Hanging, tab_width: int) -> None:
        self._hanging = hanging
        super().__init__(document, tab_width=tab_width)

    def hang(self, line_index: int) -> int:
        """Return the indent of a line's continuation rows, in cells; 0 for lines with tabs.

        Textual wraps lines with tabs.
        """
        line = self.document.get_line(line_index)
        if not self._width or not line.startswith(" ") or "\t" in line:
            return 0
        return self._hanging.hang_of(line, self._width)

    def wrap(self, width: int, tab_width: int | None = None) -> None:
        super().wrap(width, tab_width)
        self._hang_rows(0, self.document.line_count - 1)

    def wrap_range(self, start: Location, old_end: Location, new_end: Location) -> None:
        super().wrap_range(start, old_end, new_end)
        last = self.document.line_count - 1
        first, end = sorted((start[0], new_end[0]))
        self._hang_rows(min(first, old_end[0], last), min(end, last))

    def location_to_offset(self, location: Location) -> Offset:
        offset = super().location_to_offset(location)
        line_index, section = self._offset_to_line_info[offset.y]
        return offset + Offset(self.hang(line_index), 0) if section else offset

    def get_target_document_column(self, line_index: int, x_offset: int, y_offset: int) -> int:
        if y_offset and self.get_offsets(line_index % self.document.line_count):
            x_offset = max(0, x_offset - self.hang(line_index))
        return super().get_target_document_column(line_index, x_offset, y_offset)

    def _hang_rows(self, first: int, last: int) -> None:
        """Wrap indented lines again, and renumber rows from the first line whose row count changed."""
        changed: int | None = None
        for index in range(first, last + 1):
            breaks = self.get_offsets(index)
            if not breaks or not (hang := self.hang(index)):
                continue
            count = len(breaks)
            breaks[:] = self._hanging.breaks(self.document.get_line(index), self._width, hang)
            if changed is None and len(breaks) != count:
                changed = index
        if changed is None:
            return
        row = self._line_index_to_offsets[changed][0]
        del self._offset_to_line_info[row:], self._line_index_to_offsets[changed:]
        for index in range(changed, self.document.line_count):
            count = len(self.get_offsets(index)) + 1
            self._line_index_to_offsets.append(list(range(row, row + count)))
            self._offset_to_line_info.extend([(index, section) for section in range(count)])
            row += count


class RowLook(NamedTuple):
    """Everything about a row's look that can change without a full repaint."""

    text: str
    decoration: object
    selected: tuple[int, int | None] | None
    cursor: tuple[int, bool] | None
    """The cursor's column, and whether it is at a bracket."""
    bracket: int | None
    """The column of the matching bracket."""


class RowPainting(TextArea, FitsItsRoom):
    """Base of the editors; subclasses describe the look of lines in `decorations` and call `repaint_changes`."""

    HANGING: ClassVar[Hanging | None] = None
    """The indent of wrapped lines, or None; a subclass that sets it paints its rows at `hang_of_line`."""

    selection: Reactive[Selection] = reactive(Selection(), init=False, always_update=True, repaint=False)
    """Textual's `selection`, without its repaint."""

    _looks: list[RowLook | None] | None = None
    """The rows as last painted; None if all of them will be painted anyway."""
    _is_wrapped_anew = False
    _rows_told: Mapping[int, int] = MappingProxyType({})
    """Heights reported to Textual, by width in cells; Textual caches them."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._hang_lines()

    def load_text(self, text: str) -> None:
        super().load_text(text)
        self._hang_lines()
        self.refresh()

    def _hang_lines(self) -> None:
        if self.HANGING is not None:
            self.wrapped_document = HangingDocument(self.document, self.HANGING, tab_width=self.indent_width)
            self.navigator = DocumentNavigator(self.wrapped_document)
            self.rewrap()

    def hang_of_line(self, index: int) -> int:
        document = self.wrapped_document
        return document.hang(index) if isinstance(document, HangingDocument) else 0

    def decorations(self) -> Callable[[int], object]:
        """Return a function from a line's index to a value that changes whenever the line looks different."""
        return lambda index: None

    def repaint_changes(self) -> None:
        """Repaint the visible rows whose look changed."""
        if self._looks is None:
            return
        before, self._looks = self._looks, self._rows_in_sight()
        changed = [y for y, (old, new) in enumerate(zip_longest(before, self._looks)) if old != new]
        width = max(self.virtual_size.width, self.size.width)
        for first, count in adjacent(changed):
            self.refresh(Region(0, first, width, count))

    def refresh(self, *regions: Region, **options: Any) -> Self:
        # A scroll passes the region of the whole widget.
        if (not regions or self.size.region in regions) and options.get("repaint", True):
            self._looks = None
        return super().refresh(*regions, **options)

    def render_lines(self, crop: Region) -> list[Strip]:
        if self._looks is None:
            self._looks = self._rows_in_sight()
        return super().render_lines(crop)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the height at this width.

        Textual returns the height at the last width and then asks for another layout.
        """
        if self.soft_wrap:
            left = self._cells_of_row(width)
            self._wrap_within(left)
            if self._rows_told.get(left) != self.wrapped_document.height:
                self._rows_told = {**self._rows_told, left: self.wrapped_document.height}
        return super().get_content_height(container, viewport, width)

    def fit(self) -> None:
        """Wrap the text to the current width if it is not wrapped to it yet."""
        width = self.wrap_width
        if self.soft_wrap:
            self._wrap_within(width)
        if self._is_wrapped_anew:
            self._is_wrapped_anew = False
            set_virtual_size(self, self.virtual_size, has_scrollbar=self.is_attached)
            is_other = self._rows_told.get(width) != self.wrapped_document.height
            self.refresh(layout=self.styles.is_auto_height and is_other)

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        if self.soft_wrap and size:  # before Textual decides whether the text needs a scrollbar
            self._wrap_within(self._cells_of_row(size.width - self.styles.gutter.width))
        return super()._size_updated(size, virtual_size, container_size, layout)

    def _cells_of_row(self, width: int) -> int:
        """Return the width for text in a widget of this width; the counterpart of `wrap_width`."""
        return max(0, width - self.scrollbar_size_vertical - self.gutter_width - CELLS_OF_CURSOR)

    def _wrap_within(self, width: int) -> None:
        if width != self.wrapped_document._width:
            self.wrapped_document.wrap(width, tab_width=self.indent_width)
            self.forget_painted_lines()
            self._looks = None
            self._is_wrapped_anew = True
            set_virtual_size(self, Size(0, self.wrapped_document.height), has_scrollbar=False)

    def on_resize(self, event: events.Resize) -> None:
        event.prevent_default()  # Textual's handler wraps even if the width is the same
        self.fit()

    # -- public names for private parts of Textual

    def paint_row(self, y: int) -> Strip:
        """Paint row `y` of the widget; subclasses override it."""
        return super()._render_line(y)

    def forget_painted_lines(self) -> None:
        """Discard cached lines, so that lines with the same text are painted again."""
        self._line_cache.clear()

    def type_over(self, text: str, start: Location, end: Location) -> EditResult | None:
        """Replace a range as if the user had typed `text`; do nothing while read-only."""
        return None if self.read_only else self.replace(text, start, end, maintain_selection_offset=False)

    def rewrap(self) -> None:
        """Wrap all lines again and repaint."""
        self.wrapped_document.wrap(self.wrap_width, tab_width=self.indent_width)
        self.forget_painted_lines()
        self.fit_scrollbars()
        self.refresh()

    def fit_scrollbars(self) -> None:
        """Update the layout that depends on the length of the text."""
        self._refresh_size()

    @property
    def lines_by_row(self) -> list[tuple[int, int]]:
        """For each row, the index of its line and its number within the line."""
        return self.wrapped_document._offset_to_line_info

    @property
    def shows_cursor(self) -> bool:
        """Tell whether the cursor is visible now: it blinks, and is hidden without focus."""
        return self._draw_cursor

    def _render_line(self, y: int) -> Strip:
        return self.paint_row(y)

    def watch_selection(self) -> None:
        self.repaint_changes()

    def watch_show_vertical_scrollbar(self) -> None:
        self.refresh()  # Textual has wrapped the text to its new width

    def _rows_in_sight(self) -> list[RowLook | None]:
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
        match = self.matching_bracket_location
        edges = (0, *self.wrapped_document.get_offsets(index), None)[section : section + 2]
        return RowLook(
            self.document.get_line(index)[edges[0] : edges[1]],
            decoration_of(index),
            selected,
            (column, match is not None) if index == line else None,
            match[1] if match is not None and match[0] == index else None,
        )


def adjacent(rows: list[int]) -> list[tuple[int, int]]:
    """Group adjacent rows as pairs of first row and count."""
    found: list[tuple[int, int]] = []
    for row in rows:
        if found and sum(found[-1]) == row:
            found[-1] = (found[-1][0], found[-1][1] + 1)
        else:
            found.append((row, 1))
    return found
