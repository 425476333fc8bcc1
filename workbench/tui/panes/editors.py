"""The left pane: tabs with an editor each, and the notes below."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual import events, on
from textual.containers import Vertical
from textual.widget import Widget

from adapters.signatures.agents import TRAJECTORY, takes_steps
from workbench.editing.field_values import ABSENT
from workbench.output.display import one_line
from workbench.state.document import Document, Place, ReadSignature, State, history_field
from workbench.tui.keys import keys_of
from workbench.tui.messages import Edit, GoTo
from workbench.tui.panes.notes import NotesPane
from workbench.tui.panes.rows import FormPane, RowsPane
from workbench.tui.panes.signature import SignaturePane
from workbench.tui.panes.status import case_word
from workbench.tui.panes.turns import DemosPane, HistoryPane, ToolsPane, VariantsPane
from workbench.tui.runs.runs import SendSetup
from workbench.tui.textual_internals.access import put_border_title
from workbench.tui.widgets.field_form import FormRow
from workbench.tui.widgets.tab_line import TabLine, TabName
from workbench.tui.widgets.text.plain import QUIET, lines


class InputsPane(FormPane):
    BINDING_GROUP_TITLE = "Inputs"

    def show(self, state: State, read: ReadSignature) -> None:
        self._state = state
        case, count = state.case, len(state.session.cases)
        key = keys_of(self.app)("{app.cases|^t}")
        named = (f" {case_word(case.name)}", QUIET), (one_line(case.name, 60), "bold")
        if count > 1:  # a long name is cut, not the number of cases
            title = lines((f" {state.case_index + 1:,} of {count:,} · {key} ", QUIET), *named, " ")
        else:
            title = lines(*named, (f"  {key} more ", QUIET))
        put_border_title(self, title)
        if read.signature is None:  # the form may still show another session's inputs
            self.form.show((), case.name, "", {})
            return
        turns = history_field(read.signature)
        elsewhere = TRAJECTORY if takes_steps(read.signature) and TRAJECTORY not in case.inputs else ""
        elsewhere = turns.name if turns is not None else elsewhere
        fields = [one for one in read.signature.input_fields.values() if one.name != elsewhere]
        rows = [
            FormRow(one, case.inputs.get(one.name, ABSENT), state.drafts.get(self._place(one.name))) for one in fields
        ]
        unknown = {name: value for name, value in case.inputs.items() if name not in read.signature.input_fields}
        self.form.show(rows, case.name, "no value: left out of the prompt", unknown)

    def on_click(self, event: events.Click) -> None:
        """Show all cases on a click on the case's name."""
        if event.widget is self and event.y == 0:
            self.call_later(self.app.run_action, "cases")

    @property
    def edited_place(self) -> Place | None:
        """The place of the focused editor."""
        field = self.form.focused_field
        return self._place(field.name) if field is not None else None

    def _place(self, field: str) -> Place:
        return Place("input", case=self._state.case.name, field=field)


EditorPane = SignaturePane | InputsPane | DemosPane | HistoryPane | ToolsPane | VariantsPane

EDITORS = ("signature", "inputs", "demos", "history", "tools", "variants")
TAB_OF = {"input": "inputs", "demo": "demos", "history": "history", "tool": "tools", "variant": "variants"}
"""The tab that edits each kind of place; all other kinds are part of the signature."""
ROWS_AROUND_EDITORS, ROWS_OF_SIGNATURE, LEAST_TOGETHER = 6, 5, 22
"""Rows of the screen outside the editors, rows of a signature besides its text, and the minimum rows for signature and
inputs together.
"""
MIDDLE = 100
"""The width of the screen, in cells, from which a column fits beside the editors."""
LONG_SIGNATURE = 8
"""Rows above which a signature being edited gets more of a small terminal."""
LEAST_BESIDE, ROWS_BESIDE, AROUND_TEXT = 72, 3, 5
"""Limits for inputs at the side of a signature on a narrow screen: minimum width in cells, maximum rows of signature
and instructions in half of it, and cells of a half outside the text.
"""


class EditorsPane(Vertical):
    """The editors, the tabs and the notes; `show` updates every pane.

    A screen of at least `MIDDLE` cells shows a short signature together with the inputs.
    """

    BORDER_TITLE = "You write"

    def __init__(
        self, document: Document, edit: Edit, show: Callable[[], None], go_to: GoTo, sending: SendSetup
    ) -> None:
        self._document = document
        self._show = show
        self.tab, state = EDITORS[0], document.state
        self.signature = SignaturePane(edit, state)
        self.inputs = InputsPane(edit, state)
        self.demos = DemosPane(edit, state)
        self.history = HistoryPane(edit, state)
        self.tools = ToolsPane(edit, state, sending)
        self.variants = VariantsPane(edit, state)
        panes = (self.signature, self.inputs, self.demos, self.history, self.tools, self.variants)
        self.panes: dict[str, EditorPane] = dict(zip(EDITORS, panes, strict=True))
        self.notes = NotesPane(edit, go_to)
        self._tabs = TabLine(id="tabs")
        self._stack = Vertical(self.signature, id="editors")
        super().__init__(self._tabs, self._stack, self.notes, id="left")

    async def complete(self) -> None:
        """Mount the panes behind tabs."""
        mounted = self._stack.mount_all(list(self.panes.values())[1:])
        self.show_tab()
        await mounted

    # -- content

    def show(self, state: State, read: ReadSignature) -> None:
        """Show the visible editors and the tabs."""
        self.show_tab()
        for pane in self.visible_panes:
            if pane.is_mounted:
                pane.show(state, read)
        self.show_tabs(state, read)

    def show_tabs(self, state: State, read: ReadSignature) -> None:
        drafts = {place.kind for place in state.drafts}
        inputs = 0
        if read.signature is not None:
            inputs = len(read.signature.input_fields) - (history_field(read.signature) is not None)

        problem = "✗" if read.problem is not None else ""
        tabs = [TabName("signature", "Signature", problem, wrong=True, short="Sign")]
        for id, kind, count, short in (
            ("inputs", "input", inputs, ""),
            ("demos", "demo", len(state.session.demos), ""),
            ("history", "history", len(state.case.history), "Hist"),
            ("tools", "tool", len(state.session.tools), ""),
            ("variants", "variant", len(state.session.variants), "Var"),
        ):
            is_wrong = kind in drafts
            tabs.append(TabName(id, id.capitalize(), "✗" if is_wrong else str(count or ""), is_wrong, short))
        self._tabs.show(tabs, self.tab)

    @on(SignaturePane.Viewed)
    def show_tab(self) -> None:
        """Make only the editors of the current tab visible, arranged for the screen's size."""
        visible = self.visible_panes
        for pane in self.panes.values():
            pane.display = pane in visible
        are_two = len(visible) > 1
        self._stack.set_class(are_two and self._is_wide, "-together")
        self._stack.set_class(are_two and not self._is_wide, "-beside")
        self.set_class(self.tab != EDITORS[0], "-in-rows")
        is_form = self.signature.view == "form" and bool(self._document.session.signature.text)
        is_long = is_form or self._rows_of_signature > LONG_SIGNATURE  # a form has a row for each field of a short text
        self.set_class(self.tab != EDITORS[0] or is_long, "-long")

    @property
    def visible_panes(self) -> tuple[EditorPane, ...]:
        """The current tab's editor; a short signature and the inputs are shown together if both fit."""
        pane = self.panes[self.tab]
        size, signature = self.app.size, self._document.session.signature
        fits = False
        if self.signature.view == "source" and self._is_wide:
            room = size.height - ROWS_AROUND_EDITORS
            fits = room >= LEAST_TOGETHER and self._rows_of_signature <= room // 2
            fits = fits and pane in (self.signature, self.inputs)
        elif self.signature.view == "source" and pane is self.signature and size.width >= LEAST_BESIDE:
            written = [*signature.text.split("\n"), *(signature.instructions or "").split("\n")]
            half = size.width // 2 - AROUND_TEXT
            fits = sum(1 + len(line) // half for line in written) <= ROWS_BESIDE
        return (self.signature, self.inputs) if fits else (pane,)

    @property
    def _is_wide(self) -> bool:
        """Tell whether the editors are at the side of the columns."""
        return self.app.size.width >= MIDDLE

    @property
    def _rows_of_signature(self) -> int:
        """Rows of the signature pane if no line is wrapped."""
        signature = self._document.session.signature
        return signature.text.count("\n") + (signature.instructions or "").count("\n") + ROWS_OF_SIGNATURE

    # -- navigation

    def open(self, tab: str) -> None:
        """Show an editor."""
        self.tab = tab
        self.show_tab()
        self._show()

    def focus_next(self) -> None:
        """Focus the current editor; if it has the focus, go to the next tab."""
        if self.panes[self.tab].has_focus_within or self._tabs.has_focus:
            self.open(EDITORS[(EDITORS.index(self.tab) + 1) % len(EDITORS)])
        self._focus_first(self.panes[self.tab])

    def focus_on(self, tab: str) -> None:
        """Show an editor and focus it."""
        self.open(tab)
        self._focus_first(self.panes[tab])

    def go_to(self, place: Place, line: int = 0, column: int = 0) -> None:
        """Focus the editor of the value at `place`."""
        tab = TAB_OF.get(place.kind, EDITORS[0])
        self.open(tab)
        pane = self.panes[tab]
        if isinstance(pane, RowsPane):
            pane.go_to(max(0, place.row), place.field)
        elif pane is self.inputs:
            self.inputs.form.focus_field(place.field or None)
        else:
            self.signature.go_to(place, line, column)

    @on(TabLine.Chosen)
    def _tab_chosen(self, event: TabLine.Chosen) -> None:
        if event.by_key:
            self.open(event.tab)
        else:
            self.focus_on(event.tab)

    def _focus_first(self, pane: Widget, is_late: bool = False) -> None:
        if is_late and not pane.display:  # another was opened meanwhile
            return
        if pane is self.inputs and self.inputs.form.focus_field(None):
            return  # its editors take the focus once they are mounted
        if isinstance(pane, RowsPane) and pane.focus_value():
            return
        first: Any = next((one for one in pane.query("*") if one.focusable), None)
        if first is not None:
            first.focus()
        elif not is_late:  # a pane that was just opened is not mounted yet
            self.call_after_refresh(self._focus_first, pane, is_late=True)

    # -- prompt pieces and their editors

    def light(self, field: str | None, place: Place | None) -> None:
        """Highlight the origin of a prompt's piece: its field in the signature, and the value at `place`."""
        self.signature.light(field)
        self.inputs.form.light(place.field if place and place.kind == "input" else None)
        for pane in (self.demos, self.history):
            is_here = place is not None and place.kind == pane.KIND
            pane.light(place.field if place and is_here else None, place.row if place and is_here else None)

    @property
    def edited_place(self) -> Place | None:
        """The place of the focused editor, if it is part of the prompts."""
        panes: tuple[SignaturePane | InputsPane | RowsPane, ...] = (
            self.signature,
            self.inputs,
            self.demos,
            self.history,
        )
        pane = next((one for one in panes if one.has_focus_within), None)
        return pane.edited_place if pane is not None else None

    def clear_field(self) -> None:
        """Clear the value of the focused field."""
        for pane in (self.inputs, self.demos, self.history, self.tools, self.variants):
            field = pane.form.focused_field
            if field is not None:
                pane.choose(field, ABSENT)
