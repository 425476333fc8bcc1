"""Wrap private names of Textual, and resize scrolled content."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from textual.app import App
from textual.binding import Binding
from textual.content import Content
from textual.dom import DOMNode
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.widget import Widget


def set_virtual_size(view: ScrollView, size: Size, has_scrollbar: bool = True) -> None:
    """Set the size of a view's content, repainting only its scrollbar, if it has one."""
    view.set_reactive(Widget.virtual_size, size)
    if has_scrollbar:
        view._scroll_update(size)


class FitsItsRoom(Widget):
    """A widget that fits its content to its size after each layout, before painting.

    Textual reports a new size only after painting, so content that depends on the size would be painted twice. List
    this class after the widget's main base: Textual takes styles from the first base alone.
    """

    def fit(self) -> None:
        """Fit the content to the size; called after every layout, usually with an unchanged size."""
        raise NotImplementedError


class StillScrollView(ScrollView):
    """A view that repaints its scrollbar only when its size changes.

    Textual compares the size inside the borders with the size outside them, and so repaints the scrollbar at every
    layout.
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

    Textual lays out the screen twice when a widget has grown, in case scrollbars must be added. List this class after
    the widget's main base: Textual takes styles from the first base alone.
    """

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        return super()._size_updated(size, virtual_size, container_size, layout=False)


def put_border_title(widget: Widget, title: Content, is_below: bool = False) -> None:
    """Set a title on the upper or lower edge and repaint only its row.

    `widget.border_title = …` would repaint the widget and its children. Setting the same title again paints nothing.
    """
    shown = title.expand_tabs(4).split()[0] if title.plain else title
    before = (widget._border_subtitle if is_below else widget._border_title) or Content("")
    if (shown.plain, shown.spans) == (before.plain, before.spans):
        return
    if is_below:
        widget._border_subtitle = shown
    else:
        widget._border_title = shown
    left, top = widget.content_offset
    row = widget.outer_size.height - 1 if is_below else 0
    widget.refresh(Region(-left, row - top, max(1, widget.outer_size.width), 1))


def own_bindings(node: DOMNode) -> Iterator[Binding]:
    """Yield a widget's own bindings, enabled or not, with their keys from the config file."""
    for _, binding in node._bindings:
        yield binding


def take_back(app: App[Any], title: str) -> None:
    """Dismiss the warnings with this title that are no longer true."""
    for one in [note for note in app._notifications if (note.title, note.severity) == (title, "warning")]:
        app._unnotify(one)
