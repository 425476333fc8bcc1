"""A reply and the table of its fields: one below the other, or side by side in a column as wide as two."""

from __future__ import annotations

from textual.containers import Container

from workbench.tui.widgets.reply.field_table import FieldTable
from workbench.tui.widgets.reply.reply_view import ReplyView

TWICE_THE_NARROWEST = 64
"""Cells from which they stand side by side: each has then as much as in the narrowest column."""
SHARE_OF_FIELDS = 46
"""Percent of the width that the table has then."""


class ReplyAndValues(Container, can_focus=False):
    """Replies are ragged: in a wide column the table beside one costs no rows, below it it would cut the reply off."""

    DEFAULT_CSS = """
    ReplyAndValues {
        width: 1fr;
        height: 1fr;
        &.-beside { layout: horizontal; }
    }
    """

    def __init__(self, reply: ReplyView, fields: FieldTable) -> None:
        super().__init__(reply, fields)
        self._reply = reply
        self._fields = fields
        self._most = ""
        self._height = 0.0

    @property
    def is_beside(self) -> bool:
        return self.has_class("-beside")

    @property
    def rows_held(self) -> int:
        """The rows that both would fill."""
        reply, fields = self._reply.wrapped_document.height, self._fields.virtual_size.height
        return max(reply, fields) if self.is_beside else reply + fields

    def place(self, height: float) -> None:
        """Side by side where there is room and something to show, else the table gets what the reply leaves of
        `height` rows, and half of them at least. Away from the screen there is no height, and all stays.
        """
        if not height:
            return
        self._height = height
        is_beside = self.size.width >= TWICE_THE_NARROWEST and self._fields.has_something
        left = 1 - (self._reply.wrapped_document.height + 1) / max(1.0, height)
        most = "100%" if is_beside else f"{max(0.5, left) * 100:.1f}%"
        if is_beside == self.is_beside and most == self._most:
            return
        self._most = most
        self.set_class(is_beside, "-beside")
        styles = self._fields.styles
        styles.width = f"{SHARE_OF_FIELDS}%" if is_beside else "1fr"
        styles.max_height = most

    def on_resize(self) -> None:
        self.place(self._height)
