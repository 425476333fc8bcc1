"""The base of the Demos, History, Tools and Variants tabs: a list of rows and a form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Literal

from textual.actions import SkipAction
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget

from adapters.signatures.signature import Field
from workbench.editing import column_edits, edits, row_edits
from workbench.editing.field_values import ABSENT, in_one_line
from workbench.output.display import cell_width
from workbench.state.document import Place, PlaceKind, ReadSignature, State
from workbench.tui.keys import pane_keys
from workbench.tui.messages import Change, Edit
from workbench.tui.panes.notes import name_of
from workbench.tui.widgets.field_form import FieldForm, FormRow
from workbench.tui.widgets.row_list import RowList
from workbench.tui.widgets.text.plain import QUIET, KeyRows, content, lines

SWITCH = ("space", "change('switch')", "On/off")
"""The key that disables demos and turns, its action and its label."""
OFF = ("○ off", QUIET)
"""The mark and style of a disabled row."""


HINT = "{rows.add|^n} add  {rows.leave|esc} rows: {rows.duplicate|d} copy  {rows.delete|x} delete"
MOVE_HINT = "  {rows.move_up|K} {rows.move_down|J} move"
"""The key hints above the rows; each pane may add its own."""
INVALID = ("✗ invalid", "$text-error")
"""The mark and style of a row with an invalid value."""
PROBLEM_OF: Mapping[str, Callable[[State, int, str, str], str]] = {
    "tool": row_edits.problem_of,
    "variant": column_edits.problem_of,
}
"""Functions that find errors other than invalid JSON, by the kind of row."""


Rows = Sequence[Mapping[str, Any]]
"""The values of each row by field name."""
ROWS_OF: Mapping[str, Callable[[State], Rows]] = {
    "demo": lambda state: [one.values for one in state.session.demos],
    "history": lambda state: state.case.history,
    "tool": lambda state: [row_edits.values_of(one) for one in state.session.tools],
    "variant": lambda state: [column_edits.values_of(one) for one in state.session.variants],
}
"""Functions that return the rows, by their kind."""


class FormPane(Vertical):
    """A pane whose form edits values of the session, below other widgets."""

    def __init__(self, edit: Edit, state: State, *above: Widget) -> None:
        name = type(self).__name__.removesuffix("Pane").lower()
        self.form = FieldForm(self._typed, self.choose, id=f"{name}-form")
        super().__init__(*above, self.form, id=f"{name}-pane")
        self._edit = edit
        self._state = state

    def _place(self, field: str) -> Place:
        """Return the place of a field's value."""
        raise NotImplementedError

    def _typed(self, field: Field, text: str) -> None:
        place = self._place(field.name)
        change: Change = partial(edits.set_text, place=place, field=field, text=text)
        if place.kind == "tool":
            change = partial(row_edits.set_text, place=place, text=text)
        elif place.kind == "variant":
            change = partial(column_edits.set_text, place=place, text=text)
        self._edit(change, place, name_of(place), typing=True)

    def choose(self, field: Field, value: Any) -> None:
        """Set the value of a field; `ABSENT` clears it."""
        place = self._place(field.name)
        change: Change = partial(edits.set_value, place=place, value=value)
        if place.kind == "tool":
            assert value is ABSENT  # no field of a tool is a choice
            change = partial(row_edits.clear, place=place)
        elif place.kind == "variant":
            if value is ABSENT or field.name != "of":
                return
            change = partial(column_edits.set_of, row=place.row, of=value)
        self._edit(change, place, name_of(place))


class RowsPane(FormPane):
    """A list of rows with a form for the current row; each kind of row has a subclass."""

    BINDINGS = pane_keys(
        "Rows",
        ("ctrl+n,a", "add", "Add", "rows.add", "Add a row at the end"),
        ("d", "change('duplicate')", "Duplicate", "rows.duplicate", "Copy this row"),
        ("delete,x", "change('delete')", "Delete", "rows.delete", "Delete this row (undo restores it)"),
        ("shift+up,K", "move(-1)", "Move up", "rows.move_up", "Move this row up"),
        ("shift+down,J", "move(1)", "Move down", "rows.move_down", "Move this row down"),
        ("enter", "open", "Edit", "rows.open", "Edit the first field of this row"),
        ("escape", "leave_row", "Rows", "rows.leave", "Return from a field to the rows"),
    )
    KIND: ClassVar[PlaceKind]
    NOUN: ClassVar[str]
    ABSENT_TEXT: ClassVar[str]
    EMPTY: ClassVar[str] = "(empty)"
    """The summary of a row without values."""

    def __init__(self, edit: Edit, state: State) -> None:
        self._list = RowList(self._line)
        self._note = KeyRows("", "  ", classes="pane-note")
        super().__init__(edit, state, self._note, self._list)
        self._read = ReadSignature()
        self._rows = ROWS_OF[self.KIND](state)
        self._row = 0
        self._opens = False
        """True to focus the current row's form at the next `show`."""
        self._added: State | None = None
        """The state with a row just added; while nothing else changes, escape takes that row back."""
        self._widths = (3, 1)
        """Widths of the row numbers and the marks, in cells."""

    def mark_of(self, state: State, row: int) -> tuple[str, str]:
        """Return the mark of a row and its style."""
        raise NotImplementedError

    def note_of(self, state: State, read: ReadSignature) -> Content:
        """Return the text above the list."""
        raise NotImplementedError

    def fields_of(self, read: ReadSignature) -> Sequence[Field]:
        return tuple(read.signature.fields.values()) if read.signature is not None else ()

    def show(self, state: State, read: ReadSignature) -> None:
        self._state, self._read = state, read
        self._rows = rows = ROWS_OF[self.KIND](state)
        fields = self.fields_of(read)
        self._row = max(0, min(self._row, len(rows) - 1))
        self._note.show(self.note_of(state, read))
        self.form.display = bool(rows)  # the list stays visible without rows, because its keys add the first row
        self._list.styles.height = max(1, min(len(rows), 10))
        marks = [cell_width(self._mark(state, row)[0]) for row in range(len(rows))]
        self._widths = (max(3, len(str(len(rows)))), max(marks, default=0))
        self._list.show(len(rows), self._row)
        if not rows or not fields:
            return
        values = rows[self._row]
        names = {one.name for one in fields}
        holds_values = self.KIND in ("demo", "history")
        shown: list[FormRow] = []
        for one in fields:
            draft = state.drafts.get(self._place(one.name))
            find = PROBLEM_OF.get(self.KIND) if draft is not None else None
            problem = find(state, self._row, one.name, draft) if find is not None and draft is not None else ""
            value = values.get(one.name, ABSENT)
            shown.append(FormRow(one, value, draft, problem, has_type=holds_values, is_plain=holds_values))
        unknown = {name: value for name, value in values.items() if name not in names}
        self.form.show(shown, (self._place(""), len(rows)), self.ABSENT_TEXT, unknown)
        if self._opens:
            self._opens = False
            self._added = state
            self.form.focus_field(is_new=True)

    def light(self, field: str | None, row: int | None) -> None:
        self.form.light(field if row == self._row else None)

    def go_to(self, row: int, field: str | None) -> None:
        """Focus the editor of a field in a row."""
        self._row = row
        self.show(self._state, self._read)
        if not (self._rows and field and self.form.focus_field(field)):
            self._list.focus()

    def focus_value(self) -> bool:
        """Focus the first empty value of a demo or turn, else the row's first; return False without rows."""
        values = self._rows[self._row] if self._rows else {}
        is_sought = self.KIND in ("demo", "history")
        empty = [one.name for one in self.fields_of(self._read) if values.get(one.name, "") in ("", None)]
        return bool(self._rows) and self.form.focus_field(empty[0] if is_sought and empty else None)

    @property
    def edited_place(self) -> Place | None:
        """The place of the focused editor, or of the row if the list has the focus."""
        if not self._rows:
            return None
        field = self.form.focused_field
        return self._place(field.name if field is not None else "")

    def on_row_list_moved(self, event: RowList.Moved) -> None:
        self._row, self._added = event.index, None
        self.show(self._state, self._read)

    # -- changes to the state, for the keys

    def action_add(self) -> None:
        at = len(self._rows)
        self._opens = True
        self._change(partial(row_edits.add, kind=self.KIND, at=at), "add")
        self._row = at

    def action_change(self, verb: Literal["duplicate", "delete", "switch", "renew"]) -> None:
        """Change the current row; only some panes bind `switch` and `renew`."""
        changes: dict[str, Callable[..., State]] = {
            "duplicate": partial(row_edits.duplicate, kind=self.KIND),
            "delete": partial(row_edits.delete, kind=self.KIND),
            "switch": edits.toggle_demo if self.KIND == "demo" else edits.toggle_turn,
            "renew": column_edits.renew,
        }
        if self._rows:
            self._change(partial(changes[verb], row=self._row), verb)

    def action_move(self, by: int) -> None:
        to = self._row + by
        if 0 <= to < len(self._rows):
            row, self._row = self._row, to
            self._change(partial(row_edits.move, kind=self.KIND, row=row, to=to), "move")

    def action_open(self) -> None:
        self.form.focus_field()

    def action_leave_row(self) -> None:
        """Return from a field to the rows, without a new row that is untouched; there, escape is left to the app."""
        if not self.form.has_focus_within:
            raise SkipAction
        self._list.focus()
        if self._added is not None and self._added is self._state:
            self._added = None
            self.call_later(self.app.run_action, "undo")

    def _line(self, index: int) -> Content:
        mark, style = self._mark(self._state, index)
        number_width, mark_width = self._widths
        room = " " * (mark_width - cell_width(mark) + 2)
        number = lines((f"{index + 1:>{number_width}} ", QUIET), (mark + room, style))
        return Content.assemble(number, self.summary_of(self._state, index))

    def _mark(self, state: State, row: int) -> tuple[str, str]:
        is_invalid = any((one.kind, one.row) == (self.KIND, row) for one in state.drafts)
        return INVALID if is_invalid else self.mark_of(state, row)

    def summary_of(self, state: State, row: int) -> Content:
        """Return a summary of a row."""
        texts = in_one_line(self._rows[row].values())
        return content("  ".join([text[:60] for text in texts]).strip() or self.EMPTY)

    def _place(self, field: str) -> Place:
        case = self._state.case.name if self.KIND == "history" else ""
        return Place(self.KIND, case, self._row, field)

    def _change(self, change: Change, verb: str) -> None:
        self._edit(change, self._place(verb), f"{verb} {self.NOUN} {self._row + 1}")
