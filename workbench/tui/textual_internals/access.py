"""Reach three things of Textual that have no public name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from textual.app import App
from textual.binding import Binding
from textual.content import Content
from textual.dom import DOMNode
from textual.geometry import Region
from textual.notifications import SeverityLevel
from textual.widget import Widget


def put_border_title(widget: Widget, title: Content) -> None:
    """Set a border title and repaint its row alone; `widget.border_title = …` repaints the widget and its children.

    Setting the same title again paints nothing.
    """
    shown = title.expand_tabs(4).split()[0]
    if _differs(shown, widget._border_title):
        widget._border_title = shown
        _repaint_border(widget, 0)


def put_border_subtitle(widget: Widget, title: Content) -> None:
    """Set the title at the lower edge, as `put_border_title` does at the upper edge."""
    shown = title.expand_tabs(4).split()[0] if title.plain else title
    if _differs(shown, widget._border_subtitle):
        widget._border_subtitle = shown
        _repaint_border(widget, widget.outer_size.height - 1)


def _differs(title: Content, before: Content | None) -> bool:
    return (title.plain, title.spans) != (before.plain, before.spans) if before is not None else bool(title.plain)


def _repaint_border(widget: Widget, row: int) -> None:
    left, top = widget.content_offset
    widget.refresh(Region(-left, row - top, max(1, widget.outer_size.width), 1))


def own_bindings(node: DOMNode) -> Iterator[Binding]:
    """Yield the bindings of a widget itself, enabled or not, each with its keys from the config file."""
    for _, binding in node._bindings:
        yield binding


def take_back(app: App[Any], title: str, severity: SeverityLevel) -> None:
    """End the toasts with this title and severity before their time, when they are no longer true."""
    for one in [note for note in app._notifications if (note.title, note.severity) == (title, severity)]:
        app._unnotify(one)
