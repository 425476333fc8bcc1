"""A list of entries that is laid out and painted once when it opens."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.geometry import Size
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from workbench.tui.textual_internals.access import FitsItsRoom, set_virtual_size


class EntryList(OptionList, FitsItsRoom):
    """A list that knows the size of its content before it is painted.

    Textual measures the entries while it paints them, and then asks for a layout with a scrollbar and a second paint.
    """

    _painted_width = 0
    """The width for which entries may have been painted; 0 before the first layout."""

    def show(self, entries: Sequence[Option], most_rows: int) -> None:
        """Replace the entries, each a row; `most_rows` is the height above which there is a scrollbar."""
        if not self._painted_width:
            set_virtual_size(self, Size(0, len(entries)), has_scrollbar=False)
            self.set_reactive(OptionList.show_vertical_scrollbar, len(entries) > most_rows)
        self.set_options(entries)

    def on_mount(self) -> None:
        if self.show_vertical_scrollbar:  # shown now, it asks for no layout when Textual shows it
            self.vertical_scrollbar.styles.inline.set_rule("display", "block")

    def fit(self) -> None:
        width = self.scrollable_content_region.width
        self._painted_width = self._painted_width or width
        set_virtual_size(self, Size(width, self.virtual_size.height), has_scrollbar=False)

    def on_resize(self, event: events.Resize) -> None:
        width = self.scrollable_content_region.width
        if width == self._painted_width:
            event.prevent_default()  # Textual's handler discards all entries that were painted
        self._painted_width = width
