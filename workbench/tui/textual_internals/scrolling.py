"""Change the length of scrolled content without a layout or a repaint of the screen."""

from __future__ import annotations

from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.widget import Widget


def set_virtual_size(view: ScrollView, size: Size, has_scrollbar: bool = True) -> None:
    """Set the size of a view's content; of the screen, only its scrollbar is repainted, if it has any."""
    view.set_reactive(Widget.virtual_size, size)
    if has_scrollbar:
        view._scroll_update(size)


class FitsItsRoom(Widget):
    """A widget that prepares its content for its size after each layout, before anything is painted.

    Textual tells a widget its size after painting it, so that content that depends on the size would be painted twice.
    List this class after the widget's main base: Textual takes styles from the first base alone.
    """

    def fit(self) -> None:
        """Fit the content to the size; called after every layout, mostly without any change."""
        raise NotImplementedError


class StillScrollView(ScrollView):
    """A view whose scrollbar is repainted by a layout only when its size changed.

    Textual's own compares the size inside the borders with that outside, and repaints it at every layout.
    """

    _told: tuple[Size, ...] = ()

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        told = (size, container_size)
        if told == self._told:
            return False
        self._told = told
        return super()._size_updated(size, virtual_size, container_size, layout)


class NeverScrolls(Widget):
    """A widget that never scrolls, so that its growth causes no second layout.

    Textual lays out the screen twice when a widget has grown, in case scrollbars must fit in. List this class after the
    widget's main base: Textual takes styles from the first base alone.
    """

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        return super()._size_updated(size, virtual_size, container_size, layout=False)
