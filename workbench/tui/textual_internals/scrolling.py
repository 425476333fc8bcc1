"""The length of what can be scrolled, without the whole screen being laid out or painted for it."""

from __future__ import annotations

from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.widget import Widget


def set_virtual_size(view: ScrollView, size: Size, has_scrollbar: bool = True) -> None:
    """Gives a view another size of its content; of what is painted only its scrollbar is told, where it has one."""
    view.set_reactive(Widget.virtual_size, size)
    if has_scrollbar:
        view._scroll_update(size)


class FitsItsRoom(Widget):
    """A widget that makes what it holds for the room it has: once it has it, and before anything of it is painted.

    Textual tells a widget of its size when it has painted it there, so that what depends on the size is painted twice.
    It stands behind the class that a widget is: Textual takes styles from the first base alone.
    """

    def fit(self) -> None:
        """Called behind every layout, and wherever else the room may be another; most calls find it as it was."""
        raise NotImplementedError


class StillScrollView(ScrollView):
    """A view whose scrollbar a layout paints anew only if it gave it other room; `set_virtual_size` does otherwise.

    Textual's own compares the room inside of its borders with that around them, and paints it with every layout.
    """

    _told: tuple[Size, ...] = ()

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        told = (size, container_size)
        if told == self._told:
            return False
        self._told = told
        return super()._size_updated(size, virtual_size, container_size, layout)


class NeverScrolls(Widget):
    """A widget that holds all of its content: another size of it asks for no further layout.

    Textual lays out the screen twice when a widget has grown, in case scrollbars have to be fitted in.
    It stands behind the class that a widget is: Textual takes styles from the first base alone.
    """

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        return super()._size_updated(size, virtual_size, container_size, layout=False)
