"""The length of what can be scrolled, without the whole screen being laid out for it."""

from __future__ import annotations

from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.widget import Widget


def set_virtual_size(view: ScrollView, size: Size, has_scrollbar: bool = True) -> None:
    """Gives a view another size of its content; of what is painted only its scrollbar is told, where it has one."""
    view.set_reactive(Widget.virtual_size, size)
    if has_scrollbar:
        view._scroll_update(size)
