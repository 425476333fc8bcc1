"""Keep the app alive when a widget raises: report the error and continue.

Textual stops the message loop of a widget whose handler raises, and paints nothing of a screen in which any widget
raises. Catching the exception inside that widget keeps the rest alive; the widget then shows an error line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self

from rich.segment import Segment
from textual import on
from textual.app import App
from textual.dom import DOMNode
from textual.filter import LineFilter, Monochrome, NoColor
from textual.geometry import Region
from textual.message import Message
from textual.notifications import Notify
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

from workbench.output.display import one_line
from workbench.tui.textual_internals.access import make_room_for_toasts, show_controls
from workbench.tui.textual_internals.kept_styles import KeptStyles

Report = Callable[[Exception], object]


class SurvivingApp(App[int]):
    """An app whose handlers and widgets survive exceptions; each is passed to `report_mistake`."""

    stylesheet: KeptStyles

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Leave out every color with NO_COLOR in a theme of the terminal's colors.

        Textual chooses a filter before it knows the theme: grays, which are all black in the terminal's colors.
        """
        filters = super().get_line_filters()
        if not self.native_ansi_color:
            return filters
        return [NoColor() if isinstance(one, Monochrome) else one for one in filters]

    def report_mistake(self, error: Exception) -> None:
        """Handle an exception; the default ends the app with it."""
        self.end_by_mistake(error)

    def end_by_mistake(self, error: Exception) -> None:
        """End the app with an exception, as Textual does."""
        super()._handle_exception(error)

    def refresh_css(self, animate: bool = True) -> None:
        """Give all widgets the styles of the theme, and paint them after they have all changed."""
        self.stylesheet = self.stylesheet.with_variables(self.get_css_variables())
        with self.batch_update():
            super().refresh_css(animate)

    def refresh(self, *, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Repaint the screen; its layout stays when another opens or closes, where Textual makes it anew twice."""
        return self if layout else super().refresh(repaint=repaint, recompose=recompose)

    @on(Notify)
    def _make_room(self) -> None:
        if self.screen_stack:
            make_room_for_toasts(self.screen)

    def _handle_exception(self, error: Exception) -> None:
        self.report_mistake(error)

    async def _dispatch_message(self, message: Message) -> None:
        try:
            await super()._dispatch_message(message)
        except Exception as error:  # a handler may raise anything
            self.report_mistake(error)

    def _register_child(self, parent: DOMNode, child: Widget, before: int | None, after: int | None) -> None:
        isolate(child, self.report_mistake)
        if isinstance(child, Input):
            show_controls(child)
        super()._register_child(parent, child, before, after)


def report(widget: Widget, error: Exception) -> None:
    """Report an exception from outside, such as a thread, as if a widget's handler had raised it."""
    widget.app._handle_exception(error)


def isolate(widget: Widget, report: Report) -> None:
    """Make a widget survive exceptions in its handlers, measuring and painting.

    This patches the object instead of its class, because other apps in the process also use Textual's classes.
    """
    if "_dispatch_message" in vars(widget):
        return
    dispatch = widget._dispatch_message

    async def dispatch_message(message: Message) -> None:
        try:
            await dispatch(message)
        except Exception as error:  # a handler may raise anything
            report(error)

    surviving: dict[str, Any] = {
        "_dispatch_message": dispatch_message,
        "render_lines": _surviving(widget.render_lines, partial(_error_rows, widget), report),
        "get_content_width": _surviving(widget.get_content_width, lambda _, container, __: container.width, report),
        "get_content_height": _surviving(widget.get_content_height, lambda *_: 1, report),
    }
    vars(widget).update(surviving)


def _surviving(work: Callable[..., Any], otherwise: Callable[..., Any], report: Report) -> Any:
    """Make a function that reports an exception of `work`, and returns `otherwise` of it and the arguments."""

    def survived(*about: Any, **named: Any) -> Any:
        try:
            return work(*about, **named)
        except Exception as error:  # measuring and painting may raise anything
            report(error)
            return otherwise(error, *about, **named)

    return survived


def _error_rows(widget: Widget, error: Exception, crop: Region) -> list[Strip]:
    said = f"✗ {type(widget).__name__} cannot be shown: {type(error).__name__}: {error}"
    line = Strip([Segment(one_line(said, max(1, widget.outer_size.width)))])
    line = line.adjust_cell_length(widget.outer_size.width)
    rows = [line if crop.y + row == 0 else Strip.blank(line.cell_length) for row in range(crop.height)]
    return [row.crop(crop.x, crop.x + crop.width) for row in rows]
