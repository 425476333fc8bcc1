"""Widgets that survive mistakes: what a handler raises is reported and the next message handled; what cannot be
painted is replaced by a line that says so.

Textual stops the message loop of whatever raises in a handler, and paints nothing of a screen of which one widget
raises. Only catching the exception inside of the widget keeps the rest alive.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from rich.segment import Segment
from textual.geometry import Region, Size
from textual.message import Message
from textual.message_pump import MessagePump
from textual.strip import Strip
from textual.widget import Widget

from workbench.output.display import one_line

if TYPE_CHECKING:
    _Base = MessagePump
else:
    _Base = object

Report = Callable[[Exception], object]


class Sturdy(_Base):
    """To be put in front of an app's base class, whose own handlers then survive; widgets are made so one by one."""

    async def _dispatch_message(self, message: Message) -> None:
        try:
            await super()._dispatch_message(message)
        except Exception as error:
            self.app._handle_exception(error)


def make_sturdy(widget: Widget, report: Report) -> None:
    """Makes one widget, of whatever class, survive its own handlers, its measuring and its painting.

    Put on the object and not on its class: most classes are Textual's, and other apps of the process use them too.
    """
    if "_dispatch_message" in vars(widget):
        return
    surviving: dict[str, Any] = {
        "_dispatch_message": _surviving_handler(widget._dispatch_message, report),
        "render_lines": _surviving_painter(widget, widget.render_lines, report),
        "get_content_width": _surviving_measure(widget.get_content_width, _whole_width, report),
        "get_content_height": _surviving_measure(widget.get_content_height, _one_line, report),
    }
    vars(widget).update(surviving)


def _surviving_handler(dispatch: Callable[[Message], Awaitable[None]], report: Report) -> Any:
    async def dispatch_message(message: Message) -> None:
        try:
            await dispatch(message)
        except Exception as error:
            report(error)

    return dispatch_message


def _surviving_measure(measure: Callable[..., int], otherwise: Callable[..., int], report: Report) -> Any:
    def measured(*about: Any, **named: Any) -> int:
        try:
            return measure(*about, **named)
        except Exception as error:
            report(error)
            return otherwise(*about, **named)

    return measured


def _whole_width(container: Size, viewport: Size) -> int:
    return container.width


def _one_line(*_: Any) -> int:
    return 1


def _surviving_painter(widget: Widget, paint: Callable[[Region], list[Strip]], report: Report) -> Any:
    def render_lines(crop: Region) -> list[Strip]:
        try:
            return paint(crop)
        except Exception as error:
            report(error)
            said = f"✗ {type(widget).__name__} cannot be shown: {type(error).__name__}: {error}"
            line = Strip([Segment(one_line(said, max(1, widget.outer_size.width)))])
            line = line.adjust_cell_length(widget.outer_size.width)
            rows = [line if crop.y + row == 0 else Strip.blank(line.cell_length) for row in range(crop.height)]
            return [row.crop(crop.x, crop.x + crop.width) for row in rows]

    return render_lines
