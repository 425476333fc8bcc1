"""Edit field values as text, as a choice, or as rows, with errors in place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.css.scalar import Scalar
from textual.geometry import Size
from textual.widget import Widget

from adapters.signatures.signature import Field
from adapters.signatures.type_names import written
from workbench.editing import field_values, plain_values
from workbench.editing.field_values import ABSENT, NotAValue
from workbench.output.display import cut
from workbench.tui.keys import keys_of, pane_keys
from workbench.tui.messages import AttachFile
from workbench.tui.textual_internals.access import NeverScrolls
from workbench.tui.widgets.tab_line import ChoiceLine
from workbench.tui.widgets.text.editor import Editor, Mark, Syntax
from workbench.tui.widgets.text.plain import QUIET, PlainStatic, content, lines

ROWS_AROUND = 3
"""Approximate number of rows for a field's name, description and gap."""
LEAST_ROWS = 8
LONGEST_UNKNOWN = 300
"""Characters shown of a value without a field in the signature."""


class FormRow(NamedTuple):
    """A field of a form: its value, the draft of an invalid text, and its problem.

    For a draft that does not parse, the form itself describes the error.
    """

    field: Field
    value: Any
    draft: str | None = None
    problem: str = ""
    has_type: bool = True
    """True if the field's type is shown."""
    is_plain: bool = True
    """True if values other than texts and choices are shown as in `workbench.editing.plain_values` instead of JSON."""


class FieldForm(VerticalScroll, can_focus=False):
    """A form that calls `on_text` or `on_value` with the field, only when the user edits it."""

    def __init__(
        self,
        on_text: Callable[[Field, str], None],
        on_value: Callable[[Field, Any], None],
        *,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._on_text = on_text
        self._on_value = on_value
        self._shape: tuple[Any, ...] = ()
        self._identity: Any = None
        self._editors: dict[str, FieldEditor] = {}

    def show(self, rows: Sequence[FormRow], identity: Any, absent: str, unknown: Mapping[str, Any]) -> None:
        """Show rows, reusing editors while the fields are the same.

        A changed `identity` moves the cursors to the start. `absent` is the placeholder for a missing value; `unknown`
        holds values without a field in the signature.
        """
        # what decides which editors the fields get; while it stays, only their labels change
        fields = [one.field for one in rows]
        faces = [(one.name, written(one.annotation), field_values.choices_of(one)) for one in fields]
        shape = (absent, faces, tuple(unknown.items()))
        is_other = identity != self._identity
        self._identity = identity
        if shape == self._shape:
            for row in rows:
                self._editors[row.field.name].show(row, is_other)
            if is_other:
                self.scroll_home(animate=False)
            return
        self._shape = shape
        self._editors = {
            row.field.name: FieldEditor(row, absent, self._on_text, self._on_value, one_of=len(rows)) for row in rows
        }
        leftovers: list[PlainStatic] = []
        for name, value in unknown.items():
            text = cut(field_values.shown(value, "text"), LONGEST_UNKNOWN, " …")
            said = f"{name}  not a field of this signature; kept in the file\n{text}"
            leftovers.append(PlainStatic(said, classes="unknown-value"))
        with self.app.batch_update():
            self.remove_children()
            self.mount_all([*self._editors.values(), *leftovers])

    def on_resize(self) -> None:
        focused = next((one for one in self._editors.values() if one.has_focus_within), None)
        if focused is not None:
            focused.call_after_refresh(focused.scroll_visible, animate=False)

    def light(self, field: str | None) -> None:
        """Mark the editor of the field that the user points at elsewhere."""
        for name, editor in self._editors.items():
            editor.set_class(name == field, "-lit")

    def focus_field(self, name: str | None = None, is_new: bool = False) -> bool:
        """Focus the editor of a field, by default the first; return False if there is none.

        If the row `is_new`, typing replaces a proposed text.
        """
        editor = self._editors.get(name) if name else next(iter(self._editors.values()), None)
        if editor is not None:
            editor.focus_input(is_new)
        return editor is not None

    @property
    def focused_field(self) -> Field | None:
        return next((one.field for one in self._editors.values() if one.has_focus_within), None)


class FieldEditor(Vertical, NeverScrolls):
    """An editor for a field's value, with name and type above and the error below.

    The form shares its height among `one_of` fields.
    """

    BINDING_GROUP_TITLE = "Value"
    BINDINGS = pane_keys(
        "Value",
        ("alt+v", "notation", "Rows or JSON", "value.notation", "Switch between rows and JSON"),
        ("ctrl+@,ctrl+space", "skeleton", "Skeleton", "value.skeleton", "Fill an empty value with its type's template"),
        ("alt+a", "attach", "Attach", "value.attach", "Attach a file to an Image, Audio, File or Document"),
    )

    def __init__(
        self,
        row: FormRow,
        absent: str,
        on_text: Callable[[Field, str], None],
        on_value: Callable[[Field, Any], None],
        *,
        one_of: int,
    ) -> None:
        self._one_of = one_of
        self._absent = absent
        self.field = row.field
        self._row = row
        self._on_value = on_value
        self._editing = field_values.editing_of(row.field)
        self._is_plain = self._editing == "json" and row.is_plain
        """True if the value is shown in rows instead of JSON; `action_notation` toggles it."""
        self._wants_focus = False
        self._label = PlainStatic(_label(row), classes="field-label")
        self._error = PlainStatic(classes="field-error")
        self._error.display = False
        self._input: Widget
        if self._editing == "choice":
            choices = field_values.choices_of(row.field)
            self._input = ChoiceLine(choices, row.value, lambda value: on_value(self.field, value))
        else:
            self._input = Editor(
                self._text_of(row),
                syntax=self._syntax_of(self._text_of(row)),
                on_edit=lambda text: on_text(self.field, text),
                next_line=lambda before: (
                    plain_values.next_line(before, self.field.annotation) if self._is_plain else ""
                ),
                placeholder=content(absent if row.value is ABSENT else "empty text"),
                takes_paste=self._takes_paste,
                read_only=self._is_embedded,
            )
        super().__init__(self._label, self._input, self._error)
        self._show_error()

    @property
    def _is_embedded(self) -> bool:
        """Tell whether a file's data is shown as its type and size."""
        is_shown = self._is_plain and self._row.draft is None and field_values.takes_file(self.field)
        return is_shown and bool(field_values.described(self._row.value))

    def show(self, row: FormRow, is_other: bool = False) -> None:
        """Show a row, keeping typed text that already means its value; one that `is_other` from its start."""
        self.field = row.field
        self._row = row
        self._label.show(_label(row))
        if isinstance(self._input, Editor):
            if self._editing == "text":
                self._input.placeholder = content(self._absent if row.value is ABSENT else "empty text")
            is_json = self._editing == "json" and row.draft is None and not self._is_embedded
            if is_other or not (is_json and field_values.same(self._read(self._input.raw), row.value)):
                self._put(self._text_of(row))
            if is_other:
                self._input.move_cursor((0, 0))
        elif isinstance(self._input, ChoiceLine):
            self._input.show(row.value)
        self._show_error()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Give a long text its share of the form's height, at least a few lines; longer texts scroll.

        Set during the layout, because a later change would lay out the screen again.
        """
        room = container.height + self.styles.margin.height - ROWS_AROUND * self._one_of
        self._input.styles.set_rule("max_height", Scalar.from_number(max(LEAST_ROWS, room // self._one_of)))
        return super().get_content_height(container, viewport, width)

    def on_mount(self) -> None:
        said = ""
        if field_values.takes_file(self.field):
            said = "empty: {value.attach|alt+a} attaches a file"
        elif plain_values.has_parts(self.field.annotation):
            is_list = plain_values.skeleton(self.field.annotation) == "- "
            said = "empty: one item per line" if is_list else "empty: {value.skeleton|^space} inserts a template"
        if said and self._is_plain and isinstance(self._input, Editor):
            self._input.placeholder = content(keys_of(self.app)(said))
        if self._wants_focus:
            self.focus_input()

    def focus_input(self, is_new: bool = False) -> None:
        """Focus the editor, as soon as it is mounted."""
        self._wants_focus = not self._input.is_attached
        if is_new and isinstance(self._input, Editor):
            self._input.select_all()
        self._input.focus(scroll_visible=False)
        self.call_after_refresh(self.scroll_visible, animate=False)  # with its label, once both are laid out

    def _text_of(self, row: FormRow) -> str:
        if row.draft is not None:
            return row.draft
        if self._is_embedded:
            return field_values.described(row.value)
        if self._is_plain:
            return plain_values.shown(row.value, self.field.annotation)
        return field_values.shown(row.value, self._editing)

    def _read(self, text: str) -> Any:
        """Parse text that is neither free text nor a choice."""
        return plain_values.read(text, self.field.annotation) if self._row.is_plain else field_values.read_json(text)

    def _syntax_of(self, text: str) -> Syntax:
        return "json" if self._editing == "json" and (not self._is_plain or text.lstrip()[:1] in ("[", "{")) else "text"

    def _put(self, text: str) -> None:
        assert isinstance(self._input, Editor)
        self._input.syntax = self._syntax_of(text)
        self._input.read_only = self._is_embedded
        self._input.show(text)

    def action_notation(self) -> None:
        """Switch between rows and JSON; an invalid text stays as typed."""
        if self._editing == "json" and self._row.is_plain and self._row.draft is None:
            self._is_plain = not self._is_plain
            self._put(self._text_of(self._row))

    def action_attach(self, path: Path | None = None) -> None:
        """Attach a file, asking for its path if there is none."""
        before = None if self._row.value is ABSENT else self._row.value
        self.post_message(AttachFile(self.field, before, partial(self._on_value, self.field), path))

    def _takes_paste(self, text: str) -> bool:
        """Attach the file named by a pasted or dropped path, if the field accepts files."""
        path = field_values.path_in(text) if field_values.takes_file(self.field) else None
        if path is not None:
            self.action_attach(path)
        return path is not None

    def action_skeleton(self) -> None:
        """Fill an empty value with its type's template."""
        if isinstance(self._input, Editor) and self._row.is_plain and not self._input.raw.strip():
            made = plain_values.skeleton(self.field.annotation)
            if made:
                self._input.type_over(made, *self._input.selection)
                self._input.go_to(1, len(made.split("\n")[0]) + 1)

    def _show_error(self) -> None:
        if not isinstance(self._input, Editor):
            return
        is_json = self._editing == "json"
        wrong = self._read(self._row.draft) if is_json and self._row.draft is not None else None
        kept = "" if self._row.value is ABSENT else " · the last value stays in use"
        if isinstance(wrong, NotAValue):
            self._error.show(f"✗ line {wrong.line}, column {wrong.column}: {wrong.message}{kept}")
            self._input.mark([Mark(wrong.line - 1, wrong.column - 1, wrong.column, "error")])
        else:
            self._input.mark(())
            if self._row.problem:
                self._error.show(f"✗ {self._row.problem}" + (kept if self._row.draft is not None else ""))
        value, is_wrong = self._row.value, isinstance(wrong, NotAValue) or bool(self._row.problem)
        is_one = self._is_plain and isinstance(value, list) and len(value) == 1 and isinstance(value[0], str)
        has_commas = not is_wrong and is_one and "," in value[0]
        if has_commas:
            self._error.show(content("one item; begin each item with - on a line of its own", QUIET))
        self._error.display = is_wrong or has_commas


def _label(row: FormRow) -> Content:
    field = row.field
    about = f"\n{field.description}" if field.description else ""
    kind = f"  {written(field.annotation)}" if row.has_type else ""
    return lines((field.name, "bold"), (kind, QUIET), (about, QUIET))
