"""An editor to whose end text is added while it arrives, at so little cost that keys elsewhere do not wait for it."""

from __future__ import annotations

import math

from textual.geometry import Size

from workbench.output.display import safe
from workbench.tui.textual_internals.scrolling import set_virtual_size
from workbench.tui.widgets.text.editor import Editor

LONGEST_WRAPPED_LINE = 20_000
"""Characters in one line above which it is not wrapped: a key in such a line would cost more than a frame."""
ROOM = 3
"""When the text reaches the last row it is scrolled by so many parts of the page: a scroll repaints every row, and an
eye that reads along loses its line less often."""


class StreamedText(Editor):
    _followed_to = 0.0
    """How far it was scrolled to keep the end in sight; whoever scrolls back from there reads something else, until the
    end is in sight again. Infinite meanwhile."""

    def append(self, chunk: str) -> None:
        """Adds to the end; the view follows unless the user scrolled away. The cursor stays, and no edit is told of."""
        follows = self.scroll_y >= min(self._followed_to, self.max_scroll_y) - 1
        self._raw += chunk
        end = self.document.end
        added = self.document.replace_range(end, end, safe(chunk))
        self.wrapped_document.wrap_range(end, end, added.end_location)
        self.forget_painted_lines()
        if self.soft_wrap and len(self.document.get_line(end[0])) > LONGEST_WRAPPED_LINE:
            self.soft_wrap = False
        self._grow(follows)
        self._followed_to = self.scroll_y if follows else math.inf
        self.repaint_changes()

    def on_resize(self) -> None:
        """Another width is another number of rows, so how far was scrolled means nothing any more."""
        if self._followed_to != math.inf:
            self._followed_to = 0.0

    def end_stream(self) -> None:
        """Nothing more is added."""
        self._followed_to = 0.0
        self.fit_scrollbars()

    def _grow(self, follows: bool) -> None:
        """Makes room for the text. Its length concerns its scrollbar alone: laying out the whole screen for each piece
        would stall the keys."""
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

    def _wrap_unless_too_long(self) -> None:
        wrap = max(map(len, self.document.lines)) <= LONGEST_WRAPPED_LINE
        if wrap != self.soft_wrap:
            self.soft_wrap = wrap
