"""Who has how much room on the main screen: the lines between panes, and one pane alone."""

from __future__ import annotations

from textual import events, on

from workbench.tui.keys.key_words import keys_of
from workbench.tui.screens.pointing import PointingScreen
from workbench.tui.widgets.prompt.prompt_view import PromptView
from workbench.tui.widgets.reply.field_table import FieldTable
from workbench.tui.widgets.reply.reply_view import ReplyView
from workbench.tui.widgets.splitter import Splitter

SMALLEST_LEFT = 28
SMALLEST_RIGHT = 36
WIDE, MIDDLE = 116, 100
"""Cells from which columns stand side by side beside the editors, as many as fit; from which one stands beside them.

Prompts are ragged: two narrow columns hold more of them than one wide column, whose right half stays blank.
"""
SHARE_WIDE, SHARE_MIDDLE = 0.31, 0.4
"""How much of the width the editors get unless the user has said otherwise."""
LEAST_LEFT = 41
"""Cells that they get at least beside several columns: the names of their tabs fit."""
HIGH = 32
"""Rows from which a prompt and its reply stand together, however narrow the screen is."""


class PaneSizesScreen(PointingScreen):
    """`is_alone` is whether the pane with the focus has the screen for itself.

    `is_projected` is whether a room looks on: one column at a time, its prompt or its reply, and the editors above it
    while something is written there.

    `left_share` is how much of the width the user gave to the editors (None: nothing was said). The widths follow from
    it at every size of the terminal; only what the user said is remembered, never a width of the moment.
    """

    is_alone = False
    is_projected = False
    left_share: float | None = None

    @on(Splitter.Dragged, "#middle")
    def _drag(self, event: Splitter.Dragged) -> None:
        self._put_middle(event.x)

    def widen_editors(self, by: int) -> None:
        """More cells for the editors, or with a negative number for the columns."""
        self._put_middle(self.editors.outer_size.width + by)

    def _put_middle(self, x: int) -> None:
        if self.size.width >= MIDDLE:
            self.left_share = self._fitting(x) / self.size.width
            self.share_room()

    def _fitting(self, width: int) -> int:
        return max(SMALLEST_LEFT, min(width, self.size.width - SMALLEST_RIGHT))

    def share_room(self) -> None:
        """Gives every pane its place and width for the size of now."""
        width = self.size.width
        column = next((one for one in self.columns.all if self.is_alone and one.has_focus_within), None)
        is_left_alone = self.is_alone and column is None
        is_written = self.editors.has_focus_within
        self.set_class(self.is_projected and is_written, "-written")
        usual = max(SHARE_WIDE, LEAST_LEFT / width) if width >= WIDE else SHARE_MIDDLE
        share = self.left_share or usual
        is_beside = width >= MIDDLE and not self.is_projected
        left = self.editors.styles
        if is_left_alone:
            left.width = left.height = "1fr"
        else:
            left.width = self._fitting(round(width * share)) if is_beside else None
            left.height = None
        # on the panes themselves: with a class of the screen each of its widgets would look for its styles anew
        left.display = "none" if column is not None else None
        self.query_one("#middle").styles.display = "none" if self.is_alone else None
        self.columns.styles.display = "none" if is_left_alone else None
        self.editors.signature.stand_alone(is_left_alone)
        self.columns.show_only(
            alone=column,
            one_at_a_time=width < WIDE or self.is_projected,
            one_part=(width < MIDDLE and self.size.height < HIGH) or self.is_projected,
            is_reply=isinstance(self.focused, (ReplyView, FieldTable)),
        )

    def maximize_pane(self) -> None:
        """The pane with the focus alone on the screen, wherever the focus goes; or all of them again."""
        self.is_alone = not self.is_alone
        self.status.say(keys_of(self.app)("alone · {app.maximize_pane|F10} back") if self.is_alone else "all panes")
        self.share_room()

    def project(self, is_projected: bool) -> None:
        """For a room to look on, or for who sits in front of it: what the user said of the sizes stays."""
        self.is_projected = is_projected
        self.share_room()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        if self.is_alone or self.is_projected:
            self.share_room()
        if self.is_alone:
            return
        if isinstance(event.widget, PromptView):
            self.columns.show_part("prompt")
        elif isinstance(event.widget, (ReplyView, FieldTable)):
            self.columns.show_part("reply")
