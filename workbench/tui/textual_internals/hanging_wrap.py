"""A text area whose lines are wrapped under their own indent, as the prompts beside it are: Textual's own begin every
row at the edge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

from textual.document._document import DocumentBase, Location
from textual.document._document_navigator import DocumentNavigator
from textual.document._wrapped_document import WrappedDocument
from textual.geometry import Offset
from textual.widgets import TextArea


class Hanging(NamedTuple):
    """How lines are broken: the cells by which the further rows of a line are indented at a width, and where its rows
    begin when all but the first have so many cells less."""

    hang_of: Callable[[str, int], int]
    breaks: Callable[[str, int, int], Sequence[int]]


class HangingDocument(WrappedDocument):
    """Breaks lines that begin with blanks so that their further rows have room to begin below the first word."""

    def __init__(self, document: DocumentBase, hanging: Hanging, tab_width: int) -> None:
        self._hanging = hanging
        super().__init__(document, tab_width=tab_width)

    def hang(self, line_index: int) -> int:
        """The cells by which the further rows of a line are indented. A line with tabs is left to Textual."""
        line = self.document.get_line(line_index)
        if not self._width or not line.startswith(" ") or "\t" in line:
            return 0
        return self._hanging.hang_of(line, self._width)

    def wrap(self, width: int, tab_width: int | None = None) -> None:
        super().wrap(width, tab_width)
        self._hang_rows(0, len(self._wrap_offsets) - 1)

    def wrap_range(self, start: Location, old_end: Location, new_end: Location) -> None:
        super().wrap_range(start, old_end, new_end)
        last = len(self._wrap_offsets) - 1
        first, end = sorted((start[0], new_end[0]))
        self._hang_rows(min(first, old_end[0], last), min(end, last))

    def location_to_offset(self, location: Location) -> Offset:
        offset = super().location_to_offset(location)
        line_index, section = self._offset_to_line_info[offset.y]
        return offset + Offset(self.hang(line_index), 0) if section else offset

    def get_target_document_column(self, line_index: int, x_offset: int, y_offset: int) -> int:
        if y_offset and self.get_offsets(line_index % len(self._wrap_offsets)):
            x_offset = max(0, x_offset - self.hang(line_index))
        return super().get_target_document_column(line_index, x_offset, y_offset)

    def _hang_rows(self, first: int, last: int) -> None:
        """Breaks these lines anew where they hang, and counts the rows from the first that has others then."""
        changed: int | None = None
        for index in range(first, last + 1):
            if not self._wrap_offsets[index] or not (hang := self.hang(index)):
                continue
            offsets = list(self._hanging.breaks(self.document.get_line(index), self._width, hang))
            if changed is None and len(offsets) != len(self._wrap_offsets[index]):
                changed = index
            self._wrap_offsets[index] = offsets
        if changed is None:
            return
        row = self._line_index_to_offsets[changed][0]
        del self._offset_to_line_info[row:], self._line_index_to_offsets[changed:]
        for index in range(changed, len(self._wrap_offsets)):
            count = len(self._wrap_offsets[index]) + 1
            self._line_index_to_offsets.append(list(range(row, row + count)))
            self._offset_to_line_info.extend([(index, section) for section in range(count)])
            row += count


class HangingWrap(TextArea):
    """A subclass says how its lines hang, paints the rows itself, and begins all but the first at `hang_of_line`."""

    HANGING: ClassVar[Hanging]

    def hang_of_line(self, index: int) -> int:
        document = self.wrapped_document
        return document.hang(index) if isinstance(document, HangingDocument) else 0

    def _set_document(self, text: str, language: str | None) -> None:
        super()._set_document(text, language)
        self.wrapped_document = HangingDocument(self.document, self.HANGING, tab_width=self.indent_width)
        self.navigator = DocumentNavigator(self.wrapped_document)
        self._rewrap_and_refresh_virtual_size()
