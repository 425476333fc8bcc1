"""Ask for a field of a signature or model, or a value of an enum."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from textual import events, on
from textual.widget import Widget
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from adapters.late_dataclasses import replace
from adapters.signatures.outline_edits import NewMember
from workbench.editing.completion import TypeWord, matching, type_said
from workbench.editing.field_values import Choice
from workbench.output.display import one_line, safe
from workbench.tui.dialogs.ask import Dialog, on_a_row
from workbench.tui.keys import pane_keys
from workbench.tui.textual_internals.access import Options
from workbench.tui.widgets.tab_line import ChoiceLine
from workbench.tui.widgets.text.plain import QUIET, PlainStatic, lines

ROLES = (Choice("input", "input"), Choice("output", "output"))
_HINT = "tab next field   {field.accept|enter} accept   {field.close|esc} close"
_HINT_OF_TYPES = "{field.up|↑}{field.down|↓} choose a type, {field.accept|enter} takes it   "
_HINT_OF_ROLE = "{choice.previous|←}{choice.next|→} choose   "


class FieldScreen(Dialog[NewMember | None]):
    """Edit a field in a form; returns the field, None after escape.

    `own` are the source's models and enums, which are suggested as types. `refuse` returns why a field is invalid, or
    ""; `not_described` says why the description cannot be edited, or is "".
    """

    BINDINGS = pane_keys(
        "Form",
        ("escape", "dismiss(None)", "Close", "field.close", "Close without changes"),
        ("enter", "accept", "Accept", "field.accept", "Take the chosen type, or accept the field", True),
        ("down", "move(1)", "Down", "field.down", "Choose the next type", True),
        ("up", "move(-1)", "Up", "field.up", "Choose the previous type", True),
    )

    def __init__(
        self,
        title: str,
        start: NewMember,
        own: Sequence[str],
        refuse: Callable[[NewMember], str],
        not_described: str = "",
    ) -> None:
        super().__init__(one_line(title, 60), _HINT)
        self._start = start
        self._own = tuple(own)
        self._refuse = refuse
        self._not_described = not_described
        self._kind = start.kind
        self._shown: tuple[TypeWord, ...] = ()
        self._narrowed_to: str | None = None
        self._called = Input(safe(start.name), compact=True, id="field-name", placeholder="a word, such as total")
        self._role = ChoiceLine(ROLES, start.kind, self._choose_role, by_letter=False)
        is_value = start.kind == "value"
        kind_hint = 'such as "open"' if is_value else "choose below, or type: one of red, green"
        self._type = Input(on_a_row(start.type_text), compact=True, id="field-type", placeholder=kind_hint)
        self._types = Options(compact=True, id="field-types")
        described = "what the model is told about it; may be empty"
        self._about = Input(on_a_row(start.description or ""), compact=True, id="field-about", placeholder=described)
        self._error = PlainStatic(classes="field-error")

    def contents(self) -> Iterable[Widget]:
        is_value = self._start.kind == "value"
        yield PlainStatic("Name", classes="field-label")
        yield self._called
        yield PlainStatic("Value" if is_value else "Type", classes="field-label -spaced")
        yield self._type
        if not is_value:
            self._types.can_focus = False
            yield self._types
            yield PlainStatic("Description", classes="field-label -spaced")
            yield PlainStatic(self._not_described, classes="unknown-value") if self._not_described else self._about
        if self._start.kind in ("input", "output"):
            yield self._role
        yield self._error

    def on_mount(self) -> None:
        self._narrow()
        self._called.focus()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self._types.display = self._type.has_focus
        self._hint = _HINT
        if self._role.has_focus:
            self._hint = _HINT_OF_ROLE + _HINT
        elif self._lists_types:
            self._hint = _HINT_OF_TYPES + _HINT
        self.show_last_line()

    @property
    def _lists_types(self) -> bool:
        return self._type.has_focus and self._start.kind != "value"

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self._error.show("")
        if event.input is self._type:
            self._narrow()

    def action_accept(self) -> None:
        """Take the highlighted type, or accept the field.

        A text that is not a type, or a list or dict whose items have no type yet, takes the first suggestion.
        """
        self._narrow()
        if self._lists_types and self._types.highlighted is not None:
            self._take(self._types.highlighted)
            return
        start = self._start  # unedited values keep their exact text
        type_text, about = self._type.value, self._about.value
        if type_text == on_a_row(start.type_text):
            type_text = start.type_text
        elif start.kind != "value":
            type_text = type_said(type_text)
        described = start.description if self._not_described or about == on_a_row(start.description or "") else about
        wanted = NewMember(self._called.value.strip(), self._kind, type_text, described)
        refused = self._refuse(wanted)
        typed, first = self._type.value.strip(), self._shown[0].text.strip() if self._shown else ""
        is_start = self._lists_types and first not in ("", typed)
        lacks_items = is_start and first.startswith(f"{typed}[") and typed != self._start.type_text
        if not refused and not lacks_items:
            self.dismiss(wanted)
        elif is_start and not self._refuse(replace(wanted, type_text="str")):
            self._take(0)
        else:
            self._error.show(f"✗ {refused}")

    @on(OptionList.OptionSelected)
    def _select(self, event: OptionList.OptionSelected) -> None:
        self._take(event.option_index)

    def action_move(self, by: int) -> None:
        """Move in the list of types if the type has the focus, else in the form."""
        self._narrow()
        if not self._lists_types:
            self.focus_next() if by > 0 else self.focus_previous()
        elif self._types.option_count:
            before_first = -1 if by > 0 else 0
            at = before_first if self._types.highlighted is None else self._types.highlighted
            self._types.highlighted = (at + by) % self._types.option_count

    def _take(self, index: int) -> None:
        word = self._shown[index]
        self._type.value = word.text
        self._type.cursor_position = len(word.text)
        self._types.highlighted = None
        if not word.open and not self._not_described:
            self._about.focus()

    def _narrow(self) -> None:
        """List the types that match the text; a key may arrive before the change of the text is reported."""
        typed = self._type.value
        if typed == self._narrowed_to:
            return
        self._narrowed_to = typed
        is_whole = typed == on_a_row(self._start.type_text)
        self._shown = matching("" if is_whole else typed, self._own)
        self._types.clear_options()
        self._types.add_options(
            [Option(lines((f"{one.text:<18}", "bold"), (f" {one.about}", QUIET))) for one in self._shown]
        )
        self._types.highlighted = None

    def _choose_role(self, value: Any) -> None:
        if value in ("input", "output"):
            self._kind = value
            self._role.show(value)
