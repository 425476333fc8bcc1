"""The titles in the border of a widget, put at the cost of their own rows."""

from __future__ import annotations

from textual.content import Content
from textual.geometry import Region
from textual.widget import Widget


def put_border_title(widget: Widget, title: Content) -> None:
    """As `widget.border_title = title`, which paints all of the widget anew, with everything that it holds.

    The title that is there already paints nothing.
    """
    shown, before = title.expand_tabs(4).split()[0], widget._border_title
    if before is not None and (before.plain, before.spans) == (shown.plain, shown.spans):
        return
    widget._border_title = shown
    left, top = widget.content_offset
    widget.refresh(Region(-left, -top, max(1, widget.outer_size.width), 1))


def put_border_subtitle(widget: Widget, title: Content) -> None:
    """As `put_border_title`, at the lower edge."""
    shown, before = title.expand_tabs(4).split()[0] if title.plain else Content(""), widget._border_subtitle
    if (before.plain, before.spans) == (shown.plain, shown.spans) if before is not None else not shown.plain:
        return
    widget._border_subtitle = shown
    left, top = widget.content_offset
    widget.refresh(Region(-left, widget.outer_size.height - 1 - top, max(1, widget.outer_size.width), 1))
