"""The title in the border of a widget, put at the cost of its own row."""

from __future__ import annotations

from textual.content import Content
from textual.geometry import Region
from textual.widget import Widget


def put_border_title(widget: Widget, title: Content) -> None:
    """As `widget.border_title = title`, which paints all of the widget anew, with everything that it holds."""
    widget._border_title = title.expand_tabs(4).split()[0]
    left, top = widget.content_offset
    widget.refresh(Region(-left, -top, max(1, widget.outer_size.width), 1))
