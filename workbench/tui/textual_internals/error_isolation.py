"""Widgets that survive mistakes: what a handler raises is reported and the next message handled; what cannot be
painted is replaced by a line that says so.

Textual stops the message loop of whatever raises in a handler, and paints nothing of a screen of which one widget
raises. Only catching the exception inside of the widget keeps the rest alive.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from rich.segment import Segment
from textual.app import App
from textual.dom import DOMNode
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from workbench.output.display import one_line
from workbench.tui.textual_internals import painted_lines

Report = Callable[[Exception], object]


class SurvivingApp(App[int]):
    """An app of which every handler, and every widget, survives what it raises; `report_mistake` is called with it."""

    def report_mistake(self, error: Exception) -> None:
        """What is to happen about an exception; unless a subclass says otherwise the app ends with it."""
        self.end_by_mistake(error)

    def end_by_mistake(self, error: Exception) -> None:
        """Ends the app with an exception, as Textual would for every exception."""
        super()._handle_exception(error)

    def _handle_exception(self, error: Exception) -> None:
        self.report_mistake(error)

    async def _dispatch_message(self, message: Message) -> None:
        try:
            await super()._dispatch_message(message)
        except Exception as error:  # whatever a handler raises
            self.report_mistake(error)

    def _register_child(self, parent: DOMNode, child: Widget, before: int | None, after: int | None) -> None:
        isolate(child, self.report_mistake)
        painted_lines.let_go_with(child)
        super()._register_child(parent, child, before, after)

    def _start_widget(self, parent: Widget, widget: Widget) -> None:
        painted_lines.let_go_with(widget)  # a scroll bar, which is nobody's child
        super()._start_widget(parent, widget)


def report(widget: Widget, error: Exception) -> None:
    """Reports what was raised elsewhere, such as in a thread, as if a handler of the widget had raised it."""
    widget.app._handle_exception(error)


def isolate(widget: Widget, report: Report) -> None:
    """Makes one widget, of whatever class, survive what its own handlers, measuring and painting raise.

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
        except Exception as error:  # whatever a handler raises
            report(error)

    return dispatch_message


def _surviving_measure(measure: Callable[..., int], otherwise: Callable[..., int], report: Report) -> Any:
    def measured(*about: Any, **named: Any) -> int:
        try:
            return measure(*about, **named)
        except Exception as error:  # whatever a widget raises while it is measured
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
        except Exception as error:  # whatever a widget raises while it is painted
            report(error)
            said = f"✗ {type(widget).__name__} cannot be shown: {type(error).__name__}: {error}"
            line = Strip([Segment(one_line(said, max(1, widget.outer_size.width)))])
            line = line.adjust_cell_length(widget.outer_size.width)
            rows = [line if crop.y + row == 0 else Strip.blank(line.cell_length) for row in range(crop.height)]
            return [row.crop(crop.x, crop.x + crop.width) for row in rows]

    return render_lines
