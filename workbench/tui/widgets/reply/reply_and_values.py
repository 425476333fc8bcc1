"""A reply and the table of its fields: one below the other, or side by side in a column as wide as two."""

from __future__ import annotations

from textual.containers import Container

from workbench.tui.widgets.reply.field_table import FieldTable
from workbench.tui.widgets.reply.reply_view import ReplyView

TWICE_THE_NARROWEST, LEAST_BESIDE = 64, 56
"""Cells from which they stand side by side, as each has then as much as in the narrowest column; and from which they
do where nothing of either has to be wrapped for it.
"""
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
        self._most = self._height = 0

    @property
    def is_beside(self) -> bool:
        return self.has_class("-beside")

    @property
    def rows_held(self) -> int:
        """The rows that both would fill."""
        reply, fields = self._reply.wrapped_document.height, self._fields.virtual_size.height
        return max(reply, fields) if self.is_beside else reply + fields

    @property
    def _has_room_beside(self) -> bool:
        width = self.size.width
        if width >= TWICE_THE_NARROWEST or width < LEAST_BESIDE:
            return width >= TWICE_THE_NARROWEST
        of_reply = width - width * SHARE_OF_FIELDS // 100
        return not self._fields.has_sentences and self._reply.widest_row <= of_reply

    def place(self, height: int) -> None:
        """Side by side where there is room and something to show, else the table gets what the reply leaves of
        `height` rows, and half of them at least. Away from the screen there is no height, and all stays.
        """
        if height <= 0:
            return
        self._height = height
        is_beside = self._fields.has_something and self._has_room_beside
        most = height if is_beside else max(height // 2, height - self._reply.wrapped_document.height)
        if is_beside == self.is_beside and most == self._most:
            return
        self._most = most
        self.set_class(is_beside, "-beside")
        styles = self._fields.styles
        styles.width = f"{SHARE_OF_FIELDS}%" if is_beside else "1fr"
        styles.max_height = most

    def on_resize(self) -> None:
        self.place(self.size.height)
