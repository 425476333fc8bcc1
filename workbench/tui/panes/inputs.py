"""The Inputs tab: an editor for each input field."""

from __future__ import annotations

from functools import partial
from typing import Any

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical

from adapters.signatures.signature import Field
from workbench.editing import edits
from workbench.editing.field_values import ABSENT
from workbench.output.display import one_line
from workbench.state.derived import ReadSignature, history_field
from workbench.state.document import Place, State
from workbench.tui.keys.key_words import keys_of
from workbench.tui.messages import Edit
from workbench.tui.panes.status import case_word
from workbench.tui.textual_internals.access import put_border_title
from workbench.tui.widgets.field_form import FieldForm, FormRow
from workbench.tui.widgets.text.plain import lines


class InputsPane(Vertical):
    BINDING_GROUP_TITLE = "Inputs"
    HELP = """\
## Inputs

The values of this case, one editor per input field. A `str` field takes plain text; a choice takes ←/→ or a click. A
list has one item per line, each after `- `; enter adds the next. A model has one `name: value` per line; nested values
are indented below; a text of several lines follows a `|`. Texts need no quotes: the field's type decides.
`{value.skeleton|ctrl+space}` fills an empty value with its type's template, `{value.notation|alt+v}` toggles JSON; you
can paste JSON at any time. The line below an editor says where a value is invalid; the last valid value stays in use.

`{app.cases|ctrl+t}` shows the other cases: each has its own inputs, history and replies.
"""

    def __init__(self, edit: Edit) -> None:
        super().__init__(id="inputs-pane")
        self._edit = edit
        self._state: State | None = None
        self._form = FieldForm(self._typed, self._chose, id="inputs-form")

    def compose(self) -> ComposeResult:
        yield self._form

    def show(self, state: State, read: ReadSignature) -> None:
        self._state = state
        case, count = state.case, len(state.session.cases)
        quiet = "$foreground 60%"
        key = keys_of(self.app)("{app.cases|^t}")
        others = f"  {state.case_index + 1} of {count} · {key}" if count > 1 else f"  {key} more"
        named = (one_line(case.name, 32), "bold")
        put_border_title(self, lines((f" {case_word(case.name)}", quiet), named, (f"{others} ", quiet)))
        if read.signature is None:  # nothing could be read yet: what stood here was another session's
            self._form.show((), case.name, "", {})
            return
        turns = history_field(read.signature)
        fields = [one for one in read.signature.input_fields.values() if turns is None or one.name != turns.name]
        rows = [
            FormRow(one, case.inputs.get(one.name, ABSENT), state.drafts.get(self._place(one.name))) for one in fields
        ]
        unknown = {name: value for name, value in case.inputs.items() if name not in read.signature.input_fields}
        self._form.show(rows, case.name, "no value: left out of the prompt", unknown)

    def on_click(self, event: events.Click) -> None:
        """A click on the line that names the case shows all of them."""
        if event.widget is self and event.y == 0:
            self.call_later(self.app.run_action, "cases")

    def light(self, field: str | None) -> None:
        self._form.light(field)

    def go_to_field(self, name: str | None) -> bool:
        return self._form.focus_field(name)

    @property
    def focused_field(self) -> Field | None:
        return self._form.focused_field

    @property
    def edited_place(self) -> Place | None:
        """The place of the focused editor."""
        field = self.focused_field
        return self._place(field.name) if field is not None and self._state is not None else None

    def clear(self, field: Field) -> None:
        """Takes the value of a field away."""
        self._chose(field, ABSENT)

    def _place(self, field: str) -> Place:
        assert self._state is not None
        return Place("input", case=self._state.case.name, field=field)

    def _typed(self, field: Field, text: str) -> None:
        place = self._place(field.name)
        change = partial(edits.set_text, place=place, field=field, text=text)
        self._edit(change, place, f"input {field.name}", typing=True)

    def _chose(self, field: Field, value: Any) -> None:
        place = self._place(field.name)
        self._edit(partial(edits.set_value, place=place, value=value), place, f"input {field.name}")
