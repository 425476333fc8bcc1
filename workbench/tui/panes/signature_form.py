"""Edit the fields, models and enums of a signature in a form, without writing Python."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import NamedTuple, TypeVar

from textual import events
from textual.containers import Vertical

from adapters.errors import SignatureError
from adapters.signatures import notation
from adapters.signatures import outline_edits as change
from adapters.signatures.outline import ClassKind, ClassOutline, MemberKind, Outline, outline_of
from adapters.signatures.outline_edits import NewMember
from adapters.signatures.read.source_text import comments_in
from workbench.tui.dialogs.ask import Answer, AskScreen, ConfirmScreen
from workbench.tui.dialogs.field import FieldScreen
from workbench.tui.keys import keys_of, pane_keys
from workbench.tui.messages import PastedCall
from workbench.tui.panes.signature_form_rows import Row, line_of, not_described, rows_of, spelled
from workbench.tui.widgets.row_list import RowList
from workbench.tui.widgets.text.plain import KeyRows, PlainStatic, key_hints, plain_notify

LINE_END = re.compile(r"\r\n?")
"""Line ends as terminals paste them."""
MOST_SOURCES = 20
"""The most texts of a pasted page that are tried as the signature."""
Wanted = TypeVar("Wanted")
_HINT = (
    "{form.open|enter} edit  {form.add|^n} add  {form.model|m} model  {form.enum|e} enum  "
    "{form.up|K} {form.down|J} move  {form.delete|x} delete  {app.signature_view|F11} source"
)


class Changed(NamedTuple):
    """A change by the form: the new text, its label for undo, a renamed field, and the class to choose."""

    text: str
    label: str
    renamed: tuple[str, str] | None = None
    class_name: str | None = None


class SignatureForm(Vertical):
    """A form that edits the text of a signature.

    `on_change` receives each change; `problem_of` returns why a text is not a valid signature, or "".
    """

    BINDING_GROUP_TITLE = "Form"
    BINDINGS = pane_keys(
        "Form",
        ("enter", "open", "Edit", "form.open", "Edit this line"),
        ("ctrl+n,a", "add", "Add", "form.add", "Add a field or a value here"),
        ("m", "add_class('model')", "Model", "form.model", "Add a model: a group of fields"),
        ("e", "add_class('enum')", "Enum", "form.enum", "Add an enum: a list of values"),
        ("delete,x", "delete", "Delete", "form.delete", "Delete this (undo restores it)"),
        ("shift+up,K", "move(-1)", "Up", "form.up", "Move this field up"),
        ("shift+down,J", "move(1)", "Down", "form.down", "Move this field down"),
    )

    def __init__(self, on_change: Callable[[Changed], None], problem_of: Callable[[str], str]) -> None:
        self._list = RowList(lambda index: line_of(self._rows[index], self._outline))
        self._problem = PlainStatic(classes="field-error")
        self._hint = KeyRows("", "  ", classes="form-hint")
        super().__init__(self._list, self._problem, self._hint, id="signature-form")
        self._on_change = on_change
        self._problem_of = problem_of
        self._text: str | None = None
        self._class_name: str | None = None
        self._outline: Outline | None = None
        self._rows: tuple[Row, ...] = ()
        self._is_alone = self._wants_focus = False

    def on_mount(self) -> None:
        self._hint.show(key_hints(self.app, _HINT))
        if self._wants_focus:
            self._list.focus()

    def show(self, text: str, class_name: str | None) -> None:
        """Show the form of a text; while the text has an error, the last form stays, read-only."""
        if (text, class_name) == (self._text, self._class_name):
            return
        self._text, self._class_name = text, class_name
        try:
            self._outline = outline_of(text) if text.strip() else None
        except SignatureError as error:
            said = f"✗ line {error.line}: {error.message}\nThe form updates when the source is valid again."
            self._problem.show(said)
            self._problem.display = True
            return
        self._problem.display = False
        here, current = self._row, self._list.current
        self._rows = rows_of(self._outline, class_name)
        if here in self._rows:
            current = self._rows.index(here)
        self.fill(self._is_alone)
        self._list.show(len(self._rows), max(0, min(current, len(self._rows) - 1)))

    def fill(self, is_alone: bool) -> None:
        """Fill the height if alone, else only the rows that the lines need."""
        self._is_alone = is_alone
        self._list.styles.height = "1fr" if is_alone else max(3, len(self._rows))

    def go_to(self, member: str = "", of: str | None = None) -> None:
        """Focus the list, at the line of a member if given."""
        self._wants_focus = not self._list.is_attached  # before that, another widget would be focused
        self._list.focus()
        for index, row in enumerate(self._rows):
            if row.kind == "member" and row.member == member and of in (None, row.of):
                self._list.show(len(self._rows), index)
                return

    def on_key(self, event: events.Key) -> None:
        """Begin the signature with the first letter typed; its dialog gets the next letters, even without the focus."""
        letter, row, screen = event.character, self._row, self.app.screen
        if letter is None or row is None or row.kind != "begin":
            return
        if isinstance(screen, AskScreen) and event.is_printable:
            event.stop()
            screen.add_typed(letter)
        elif letter.isidentifier():
            event.stop()
            self._begin(letter)

    def on_paste(self, event: events.Paste) -> None:
        """Use a pasted signature if there is none yet."""
        event.stop()
        self.take_pasted(event.text)

    def take_pasted(self, pasted: str) -> None:
        """Use pasted text as the signature, or report in a toast why that is impossible."""
        from sessions.imports.pasted_text import holds_calls, names_error

        if holds_calls(pasted):
            self.post_message(PastedCall(pasted))
            return
        key = keys_of(self.app)("{app.signature_view|F11}")
        if self._text and self._text.strip():
            said = f"There is a signature already. {key} shows its source, where you can paste text."
        else:
            wrong: list[SignatureError] = []
            for text in islice(notation.sources_in(LINE_END.sub("\n", pasted)), MOST_SOURCES):
                try:
                    names = notation.class_names(text)
                    notation.read(text, names[-1] if names else None)
                except SignatureError as error:
                    wrong.append(error)
                    continue
                made = f"{text}\n" if "\n" in text else text
                chosen = names[-1] if len(names) > 1 else None
                self._on_change(Changed(made, "paste a signature", class_name=chosen))
                return
            if names_error(pasted):
                self.post_message(PastedCall(pasted))
                return
            said = f"line {wrong[0].line}, column {wrong[0].column}: {wrong[0].with_hint}"
            said += f"\n{key} shows the source, where you can paste and fix it."
        plain_notify(self.app, said, title="Not pasted", severity="warning", timeout=12)

    # -- actions

    def action_open(self) -> None:
        row = self._row
        if row is None or row.kind == "note":
            return
        if row.kind in ("begin", "add"):
            self.action_add()
        elif row.kind == "class":
            self._rename_class()
        else:
            self._edit_member()

    def action_add_class(self, kind: ClassKind) -> None:
        outline = self._fresh()
        if outline is None:
            return
        title = "A new model: a group of fields" if kind == "model" else "A new enum: a list of values"
        hint = "a name such as LineItem   enter accept   {ask.close|esc} close"
        new_text = partial(change.add_class, outline, kind=kind)

        def done(name: str | None) -> None:
            if name:
                self._make(partial(new_text, name), f"add {kind} {name}")
                self.go_to("name" if kind == "model" else "FIRST", name)

        self.app.push_screen(AskScreen(title, "", partial(self._problem_with, new_text), hint), done)

    def action_delete(self) -> None:
        if (found := self._fresh_row()) is None:
            return
        row, outline, of = found
        member = of.member(row.member)
        if row.kind == "class" and of.kind != "signature":
            lost, label = of.block.of(outline.text), f"delete {of.name}"
            make = partial(change.delete_class, outline, of)
        elif row.kind == "member" and member is not None:
            lost = outline.text[member.statement.start : (member.block or member.statement).end]
            label = f"delete {member.name}"
            make = partial(change.delete_member, outline, of, member)
        else:
            return
        comments = comments_in(lost)
        if not comments:
            self._make(make, label)
            return
        listed = "\n".join(one[:100] for one in comments[:8])
        question = f"These comments in the source are deleted too:\n\n{listed}"
        answers = [Answer("yes", "d", "Delete"), Answer("no", "k", "Cancel")]

        def done(answer: str | None) -> None:
            if answer == "yes":
                self._make(make, label)

        self.app.push_screen(ConfirmScreen(label.capitalize(), question, answers), done)

    def action_move(self, by: int) -> None:
        if (found := self._fresh_row()) is None:
            return
        row, outline, of = found
        if (member := of.member(row.member)) is not None:
            self._make(partial(change.move_member, outline, of, member, by), f"move {member.name}")

    # -- dialogs and changes

    def _begin(self, begun: str = "") -> None:
        def refuse(typed: str) -> str:
            if typed.isidentifier():
                return ""
            if "->" not in typed:
                return "expected a name of letters, digits and _, such as ExtractInvoice"
            return _why_not(notation.read, typed)

        def done(typed: str | None) -> None:
            if typed and "->" in typed:
                self.take_pasted(typed)
            elif typed:
                self._make(partial(change.new_source, typed, "text"), "begin a signature")
                self.go_to("text")
                self.action_open()  # its name is selected, so that typing replaces it

        way = "a name such as Extract" if begun else "type another name over it"
        hint = f"{way}, or a whole signature: `mail -> tags: list[str]`\nenter accept   {{ask.close|esc}} close"
        start, is_typed = begun or "Extract", bool(begun)
        screen = AskScreen("A new signature", start, refuse, hint, self.take_pasted, is_typed=is_typed)
        self.app.push_screen(screen, done)

    def action_add(self) -> None:
        if self._row is not None and self._row.kind == "begin":
            self._begin()
            return
        if (found := self._fresh_row()) is None:
            return
        row, outline, of = found
        kinds = [one.kind for one in of.members]
        usual: MemberKind = "output" if "input" in kinds and "output" not in kinds else "input"
        role = "output" if usual == "output" and row.kind != "add" else row.role
        kind = role or {"enum": "value", "signature": usual}.get(of.kind, "member")
        start = NewMember("", kind, "" if kind == "value" else "str", "")

        def new_text(wanted: NewMember) -> str:
            return change.add_member(outline, of, spelled(wanted))

        def done(wanted: NewMember | None) -> None:
            if wanted is not None:
                self._make(partial(new_text, wanted), f"add {wanted.name}")
                self.go_to("" if row.kind == "add" else wanted.name, row.of)  # enter adds the next

        what = "value" if kind == "value" else "field"
        title = f"A new {what} of {of.name}" if of.name else f"A new {what}"
        refuse = partial(self._problem_with, new_text)
        self.app.push_screen(FieldScreen(title, start, outline.types, refuse, not_described(of, None)), done)

    def _edit_member(self) -> None:
        found = self._fresh_row()
        member = found[2].member(found[0].member) if found is not None else None
        if found is None or member is None:
            return
        row, outline, of = found
        start = NewMember(
            member.name, member.kind, member.type_text or ("" if member.kind == "value" else "str"), member.description
        )

        def new_text(wanted: NewMember) -> str:
            same = wanted.type_text == start.type_text
            wanted = wanted if not same else NewMember(wanted.name, wanted.kind, member.type_text, wanted.description)
            return change.set_member(outline, of, member, spelled(wanted))

        def done(wanted: NewMember | None) -> None:
            if wanted is not None:
                is_field = of.kind == "signature" and wanted.name != member.name
                renamed = (member.name, wanted.name) if is_field else None
                self._make(partial(new_text, wanted), f"field {wanted.name}", renamed)
                self.go_to(wanted.name, row.of)

        title = f"{of.name}.{member.name}" if of.name else member.name
        refuse = partial(self._problem_with, new_text)
        self.app.push_screen(FieldScreen(title, start, outline.types, refuse, not_described(of, member)), done)

    def _rename_class(self) -> None:
        found = self._fresh_row()
        if found is None or found[1].short:
            return
        _, outline, of = found
        new_text = partial(change.rename_class, outline, of)

        def done(name: str | None) -> None:
            if name and name != of.name:
                chosen = name if self._class_name == of.name else None
                self._on_change(Changed(new_text(name), f"rename {of.name}", class_name=chosen))

        self.app.push_screen(AskScreen(f"Rename {of.name}", of.name, partial(_why_not, new_text)), done)

    def _make(self, make: Callable[[], str], label: str, renamed: tuple[str, str] | None = None) -> None:
        try:
            text = make()
        except SignatureError as error:
            plain_notify(self.app, error.with_hint, title="Not changed", severity="warning")
            return
        if text != self._text:
            self._on_change(Changed(text, label, renamed))
            self.show(text, self._class_name)

    def _problem_with(self, new_text: Callable[[Wanted], str], wanted: Wanted) -> str:
        try:
            return self._problem_of(new_text(wanted))
        except SignatureError as error:
            return error.with_hint

    def _fresh(self) -> Outline | None:
        """Return the outline of the text, or report its error and return None."""
        try:
            return outline_of(self._text) if self._text and self._text.strip() else None
        except SignatureError as error:
            plain_notify(self.app, error.with_hint, title="Fix the source first", severity="warning")
            return None

    def _fresh_row(self) -> tuple[Row, Outline, ClassOutline] | None:
        """Return the current row, the outline and the row's class; None if the text has an error or no such class."""
        row, outline = self._row, self._fresh()
        of = outline.class_named(row.of) if outline is not None and row is not None else None
        return None if row is None or outline is None or of is None else (row, outline, of)

    @property
    def _row(self) -> Row | None:
        return self._rows[self._list.current] if self._list.current < len(self._rows) else None


def _why_not(make: Callable[[str], object], text: str) -> str:
    """Return why nothing can be made of a text, or ""."""
    try:
        make(text)
    except SignatureError as error:
        return error.with_hint
    return ""
