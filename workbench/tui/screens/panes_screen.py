"""Base classes of the main screen, for highlighting and for the sizes of panes."""

from __future__ import annotations

from textual import events, on
from textual.widgets import TextArea

from workbench.state.document import Document, Place, key_of, place_of
from workbench.tui.keys import keys_of
from workbench.tui.panes.columns import ColumnsPane
from workbench.tui.panes.editors import MIDDLE, EditorsPane
from workbench.tui.panes.status import StatusLine
from workbench.tui.textual_internals.row_compositor import OneLayout
from workbench.tui.widgets.prompt.prompt_section import Origin
from workbench.tui.widgets.prompt.prompt_view import PromptView
from workbench.tui.widgets.reply.field_table import FieldTable
from workbench.tui.widgets.reply.reply_view import ReplyView
from workbench.tui.widgets.row_list import RowList
from workbench.tui.widgets.splitter import Splitter


class PointingScreen(OneLayout[None]):
    """Highlights what the user points at, in all prompts and in its editor."""

    def __init__(self, document: Document, columns: ColumnsPane, editors: EditorsPane, status: StatusLine) -> None:
        super().__init__()
        self.document = document
        self.columns = columns
        self.editors = editors
        self.status = status
        self._edited: Origin | None = None
        """The origin of the focused editor's text; None while no editor has the focus."""
        self._without: frozenset[str] = frozenset()
        """The columns whose prompts do not contain the edited text yet."""

    # -- from a prompt to its editor

    @on(PromptView.Hovered)
    def _hovered(self, event: PromptView.Hovered) -> None:
        if not event.kind:
            self.columns.highlight(self._edited, "")
            self.editors.light(None, None)
            return
        key = Origin(event.kind, event.field, event.turn)
        self.columns.highlight(key, event.column_id)
        if event.by_key:
            self.columns.reveal(key, but=(event.column_id,))
        self.editors.light(event.field, place_of(self.document.state, event.field, event.turn))

    def point_at(self, column_id: str, key: Origin) -> None:
        """Highlight and show the piece with this origin, as if the user pointed at it."""
        column = self.columns.column(column_id)
        if column is None:
            return
        self._edited = None
        column.prompt.reveal(key)
        self.columns.highlight(key, column_id)
        self.call_after_refresh(column.prompt.reveal, key)  # a prompt that was hidden is laid out by then

    @on(PromptView.Chosen)
    def _chosen(self, event: PromptView.Chosen) -> None:
        is_data = event.kind in ("value", "filler")
        place = place_of(self.document.state, event.field, event.turn if is_data else None)
        if event.kind == "instructions" and self.document.session.signature.instructions is not None:
            place = Place("instructions")
        self.go_to(place)

    def go_to(self, place: Place, line: int = 0, column: int = 0) -> None:
        """Focus the editor of `place`."""
        pane = self.columns.column(place.field) if place.kind in ("reply", "column") else None
        if pane is not None:
            self.columns.focus_on(pane.column_id, ReplyView if place.kind == "reply" else PromptView)
        elif place.kind != "reply":
            self.editors.go_to(place, line, column)

    # -- from an editor to the prompts

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        if isinstance(event.widget, PromptView):
            if self._edited is not None:  # a hidden prompt could not be scrolled before
                self.call_after_refresh(self.columns.reveal, self._edited)
            self._edited = None  # the prompt itself reports the piece at its cursor
            return
        if self._edited is None:
            self.columns.highlight(None, "")
        if not self.editors.signature.has_focus_within:  # the signature's editor reports it when its cursor moves
            self.call_after_refresh(self._point_at_edited)  # after a new row is in the prompts

    @on(TextArea.SelectionChanged)
    @on(RowList.Moved)
    def _point_at_edited(self) -> None:
        """Highlight the focused editor's text in every prompt, and scroll to it."""
        place = self.editors.edited_place
        found = key_of(self.document.state, place) if place is not None else None
        key = Origin(*found) if found is not None else None
        if key == self._edited:
            return
        self._edited = key
        self.columns.highlight(key, "")
        self._without = frozenset()
        if key is not None:
            self._without = self.columns.without(key)
            self.columns.reveal(key)

    def show_what_came(self) -> None:
        """Scroll to the edited text in prompts that did not contain it before."""
        if self._without and self._edited is not None:
            without = self.columns.without(self._edited)
            if without != self._without:
                before, self._without = self._without, without
                self.columns.reveal(self._edited, but={*set(self.columns.ids).difference(before), *without})


SMALLEST_LEFT = 28
SMALLEST_RIGHT = 36
WIDE = 116
"""The width in cells from which several columns fit beside the editors."""
SHARE_WIDE, SHARE_MIDDLE = 0.26, 0.4
"""The editors' default share of the width."""
CELLS_OF_MIDDLE = 1
"""Cells between editors and columns."""
LEAST_LEFT = 41
"""The editors' smallest default width, in cells, beside several columns; the names of their tabs fit."""
HIGH, MEDIUM = 32, 24
"""Heights in rows from which, on a narrow screen, a prompt and its reply are shown together, or a reply shows a few
rows of its prompt."""


class PaneSizesScreen(PointingScreen):
    """Divides the screen between the panes.

    `is_alone` is whether the focused pane fills the screen. `is_projected` is projector mode, which shows one column at
    a time, its prompt or its reply, with the editors above it while they have the focus.

    `left_share` is the share of the width that the user gave to the editors, None for the default. Widths are computed
    from it for each terminal size; only the share is remembered.
    """

    is_alone = False
    is_projected = False
    left_share: float | None = None

    @on(Splitter.Dragged)
    def _drag(self, event: Splitter.Dragged) -> None:
        self._put_middle(event.x)

    def widen_editors(self, by: int) -> None:
        """Widen the editors by `by` cells; a negative number widens the columns."""
        self._put_middle(self.editors.outer_size.width + by)

    def _put_middle(self, x: int) -> None:
        if self.app.size.width >= MIDDLE:
            self.left_share = self._fitting(x) / self.app.size.width
            self.share_room()

    def _fitting(self, width: int) -> int:
        return max(SMALLEST_LEFT, min(width, self.app.size.width - SMALLEST_RIGHT))

    def share_room(self) -> None:
        """Set the position and width of every pane for the current size."""
        width = self.app.size.width
        column = next((one for one in self.columns.all if self.is_alone and one.has_focus_within), None)
        is_left_alone = self.is_alone and column is None
        self._mark_written()
        one_part = (width < MIDDLE and self.app.size.height < HIGH) or self.is_projected
        usual = max(SHARE_WIDE, LEAST_LEFT / width) if width >= WIDE else SHARE_MIDDLE
        share = self.left_share or usual
        is_beside = width >= MIDDLE and not self.is_projected
        of_editors = self._fitting(round(width * share)) if is_beside else None
        styles = self.editors.styles.inline
        size = {"width": "1fr" if is_left_alone else of_editors, "height": "1fr" if is_left_alone else None}
        for name, value in size.items():  # Textual lays out the screen again even if None replaces None
            if value is not None or styles.has_rule(name):
                setattr(styles, name, value)
        if not is_left_alone:
            beside = of_editors + CELLS_OF_MIDDLE if of_editors is not None and column is None else 0
            self.columns.expect(width - beside, (self.app.size, self.is_projected, self.is_alone))
        # set on the panes: after a change of the screen's classes every widget would look up its styles again
        self.editors.styles.display = "none" if column is not None else None
        self.query_one("#middle").styles.display = "none" if self.is_alone else None
        self.columns.styles.display = "none" if is_left_alone else None
        self.editors.signature.stand_alone(is_left_alone)
        self.columns.show_only(
            alone=column,
            one_at_a_time=width < WIDE or self.is_projected,
            one_part=one_part,
            prompt_with_reply=one_part and self.app.size.height >= MEDIUM and not self.is_projected,
            is_reply=isinstance(self.focused, (ReplyView, FieldTable)),
        )

    def maximize_pane(self) -> None:
        """Toggle between all panes and only the focused pane, which changes with the focus."""
        self.is_alone = not self.is_alone
        self.status.say(keys_of(self.app)("alone · {app.maximize_pane|F10} back") if self.is_alone else "all panes")
        self.share_room()

    def project(self, is_projected: bool) -> None:
        """Turn projector mode on or off; sizes that the user set are kept. The caller updates the styles."""
        self.is_projected = is_projected
        self._mark_written(restyle=False)
        self.share_room()

    def _mark_written(self, restyle: bool = True) -> None:
        self.set_class(self.is_projected and self.editors.has_focus_within, "-written", update=restyle)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        if self.is_alone or self.is_projected:
            self.share_room()
        if self.is_alone:
            return
        if isinstance(event.widget, PromptView):
            self.columns.show_part("prompt")
        elif isinstance(event.widget, (ReplyView, FieldTable)):
            self.columns.show_part("reply")
