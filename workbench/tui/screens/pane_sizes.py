"""Who has how much room on the main screen: the lines between panes, and one pane alone."""

from __future__ import annotations

from textual import events, on

from workbench.tui.keys.key_words import keys_of
from workbench.tui.screens.pointing import PointingScreen
from workbench.tui.widgets.reply.field_table import FieldTable
from workbench.tui.widgets.reply.reply_view import ReplyView
from workbench.tui.widgets.splitter import Splitter

SMALLEST_LEFT = 28
SMALLEST_RIGHT = 36


class RoomScreen(PointingScreen):
    """`is_alone` is whether the pane with the focus has the screen for itself."""

    is_alone = False

    def say(self, activity: str) -> None:
        """A short word in the last line, for a moment."""
        raise NotImplementedError

    @property
    def shows_editors(self) -> bool:
        """Whether the editors are in sight, and not behind the prompts of a narrow terminal."""
        raise NotImplementedError

    @on(Splitter.Dragged, "#middle")
    def _drag(self, event: Splitter.Dragged) -> None:
        self._put_middle(event.x)

    def resize(self, by: float) -> None:
        """More of the height for the prompts, or with a negative number for the replies."""
        self.columns.resize_prompts(by)

    def widen_editors(self, by: int) -> None:
        """More cells for the editors, or with a negative number for the columns."""
        self._put_middle(self.query_one("#left").outer_size.width + by)

    def _put_middle(self, x: int) -> None:
        self.query_one("#left").styles.width = max(SMALLEST_LEFT, min(x, self.size.width - SMALLEST_RIGHT))

    def maximize_pane(self) -> None:
        """The pane with the focus alone on the screen, wherever the focus goes; or all of them again."""
        self.is_alone = not self.is_alone
        self.say(keys_of(self.app)("alone · {app.maximize_pane|F10} back") if self.is_alone else "all panes")
        self._show_alone()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        if self.is_alone:
            self._show_alone()

    def _show_alone(self) -> None:
        column = next((one for one in self.columns.all if self.is_alone and one.has_focus_within), None)
        self.set_class(self.is_alone and column is None and self.shows_editors, "-alone-left")
        self.set_class(column is not None, "-alone-columns")
        self.columns.show_alone(column, isinstance(self.focused, (ReplyView, FieldTable)))
