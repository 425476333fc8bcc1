"""Screens: the panes, the pages of F7, the lesson, review, bench and stress test."""

from __future__ import annotations

from textual import events, on
from textual.geometry import Size
from textual.screen import ScreenResultType

from workbench.tui.textual_internals.row_compositor import OneLayout


class FrontScreen(OneLayout[ScreenResultType]):
    """A screen in front of the panes, with texts made for its size."""

    _shown_for = Size()
    """The size for which the texts were shown before the first layout; otherwise they follow it."""

    def _show(self) -> None:
        """Show the texts for the current size."""
        raise NotImplementedError

    @on(events.Resize)
    def _show_again(self, event: events.Resize) -> None:
        if event.size != self._shown_for:
            self._shown_for = Size()
            self.call_after_refresh(self._show)
