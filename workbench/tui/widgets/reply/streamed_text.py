"""Show a text that grows at its end without laying out the screen for each piece."""

from __future__ import annotations

import math

from textual import events
from textual.geometry import Size

from workbench.output.display import safe
from workbench.tui.textual_internals.access import set_virtual_size
from workbench.tui.textual_internals.text_area import Hanging
from workbench.tui.widgets.text.editor import Editor
from workbench.tui.widgets.text.wrapping import breaks, hang_of

LONGEST_WRAPPED_LINE = 20_000
"""Characters of a line above which wrapping is off: each key in such a line would cost more than a frame."""
ROOM = 3
"""Fraction of the page scrolled when text reaches the last row.

A scroll repaints every row, and readers lose their line less often if it is rare.
"""


class StreamedText(Editor):
    """A text that grows at its end, with an indent for wrapped lines."""

    HANGING = Hanging(hang_of, breaks)
    LONGEST_WRAPPED = LONGEST_WRAPPED_LINE
    _followed_to = 0.0
    """Scroll position that keeps the end visible; infinite while the user has scrolled back to read."""

    def append(self, chunk: str) -> None:
        """Append text and scroll to it unless the user has scrolled away.

        Moves no cursor and posts no `Edited`.
        """
        follows = self.scroll_y >= min(self._followed_to, self.max_scroll_y) - 1
        self.raw += chunk
        end = self.document.end
        added = self.document.replace_range(end, end, safe(chunk))
        self.wrapped_document.wrap_range(end, end, added.end_location)
        self.forget_painted_lines()
        if self.soft_wrap and len(self.document.get_line(end[0])) > LONGEST_WRAPPED_LINE:
            self.soft_wrap = False
        self._grow(follows)
        self._followed_to = self.scroll_y if follows else math.inf
        self.repaint_changes()

    def on_resize(self, event: events.Resize) -> None:
        """Forget the scroll position, because another width has another number of rows."""
        if self._followed_to != math.inf:
            self._followed_to = 0.0

    def end_stream(self) -> None:
        """Mark the text as complete."""
        self._followed_to = 0.0
        self.fit_scrollbars()

    def _grow(self, follows: bool) -> None:
        """Make room for the text by updating only its scrollbar.

        Laying out the screen for each chunk would delay keys.
        """
        height, page = self.wrapped_document.height, self.scrollable_content_region.height
        if not self.soft_wrap or (height > page and not self.show_vertical_scrollbar):
            self.fit_scrollbars()
            if follows:
                self.scroll_end(animate=False)  # once the scrollbar is there
            return
        if height > self.virtual_size.height:
            size = Size(0, height + (page // ROOM if height > page else 0))
            set_virtual_size(self, size, has_scrollbar=height > page)
        if follows and height > self.scroll_y + page:
            self.scroll_to(y=self.virtual_size.height - page, animate=False, immediate=True, force=True)
