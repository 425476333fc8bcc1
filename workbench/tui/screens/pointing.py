"""From a piece of a prompt to the editor that made it, and from an editor to its pieces in every prompt."""

from __future__ import annotations

from textual import events, on
from textual.screen import Screen
from textual.widgets import TextArea

from workbench.editing.origins import key_of, place_of
from workbench.state.document import Document, Place
from workbench.tui.messages import GoTo
from workbench.tui.panes.columns import ColumnsPane
from workbench.tui.panes.editors import EditorsPane
from workbench.tui.panes.status import StatusLine
from workbench.tui.widgets.prompt.prompt_view import OriginKey, PromptView
from workbench.tui.widgets.reply.reply_view import ReplyView
from workbench.tui.widgets.row_list import RowList


class PointingScreen(Screen[None]):
    """What the user points at is lit wherever it stands: a piece of a prompt by mouse or cursor, an editor by focus."""

    def __init__(self, document: Document, columns: ColumnsPane, editors: EditorsPane, status: StatusLine) -> None:
        super().__init__()
        self.document = document
        self.columns = columns
        self.editors = editors
        self.status = status
        self._edited: OriginKey | None = None
        """The origin of what the editor with the focus makes; None while the focus is elsewhere."""
        self._without: frozenset[str] = frozenset()
        """The columns whose prompts have nothing of it yet."""

    # -- from a prompt to its editor

    @on(PromptView.Hovered)
    def _hovered(self, event: PromptView.Hovered) -> None:
        if not event.kind:
            self.columns.highlight(self._edited, "")
            self.editors.light(None, None)
            return
        key = (event.kind, event.field, event.turn)
        self.columns.highlight(key, event.column_id)
        if event.by_key:
            self.columns.reveal(key, but=(event.column_id,))
        self.editors.light(event.field, place_of(self.document.state, event.field, event.turn))

    def point_at(self, column_id: str, key: OriginKey) -> None:
        """As if the user had gone to what has this origin, in the prompt of this column."""
        column = self.columns.column(column_id)
        if column is None:
            return
        self._edited = None
        column.prompt.reveal(key)
        self.columns.highlight(key, column_id)
        self.call_after_refresh(column.prompt.reveal, key)  # one that comes into sight now is laid out by then

    @on(PromptView.Chosen)
    def _chosen(self, event: PromptView.Chosen) -> None:
        is_data = event.kind in ("value", "filler")
        place = place_of(self.document.state, event.field, event.turn if is_data else None)
        if event.kind == "instructions" and self.document.session.signature.instructions is not None:
            place = Place("instructions")
        self.go_to(place)

    @on(GoTo)
    def _go_to(self, event: GoTo) -> None:
        self.go_to(event.place, event.line, event.column)

    def go_to(self, place: Place, line: int = 0, column: int = 0) -> None:
        """Puts the focus where the thing at `place` is edited."""
        pane = self.columns.column(place.field) if place.kind in ("reply", "column") else None
        if pane is not None:
            self.columns.focus_on(pane.column_id, ReplyView if place.kind == "reply" else PromptView)
        elif place.kind != "reply":
            self.editors.go_to(place, line, column)

    # -- from an editor to the prompts

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        if isinstance(event.widget, PromptView):
            if self._edited is not None:  # a prompt that was behind a tab could not be scrolled before
                self.call_after_refresh(self.columns.reveal, self._edited)
            self._edited = None  # it tells by itself what its cursor is on
            return
        if self._edited is None:
            self.columns.highlight(None, "")
        if not self.editors.signature.has_focus_within:  # there the cursor tells, once it is moved
            self.call_after_refresh(self._point_at_edited)  # by when a row just added is in the prompts

    @on(TextArea.SelectionChanged)
    def _cursor_moved(self) -> None:
        self._point_at_edited()

    @on(RowList.Moved)
    def _row_moved(self) -> None:
        self._point_at_edited()

    def _point_at_edited(self) -> None:
        """Lights what the editor with the focus makes in every prompt, and scrolls to it."""
        place = self.editors.edited_place
        key = key_of(self.document.state, place) if place is not None else None
        if key == self._edited:
            return
        self._edited = key
        self.columns.highlight(key, "")
        self._without = frozenset()
        if key is not None:
            self._without = self.columns.without(key)
            self.columns.reveal(key)

    def show_what_came(self) -> None:
        """Scrolls to what is edited in the prompts that had nothing of it before: to the first value of a field."""
        if self._without and self._edited is not None:
            without = self.columns.without(self._edited)
            if without != self._without:
                before, self._without = self._without, without
                self.columns.reveal(self._edited, but={*self.columns.ids - before, *without})
