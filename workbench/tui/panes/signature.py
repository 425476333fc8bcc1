"""The Signature tab: source or form, instructions and predictor, with errors in place."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args

from textual.containers import Vertical
from textual.message import Message

from adapters.errors import SignatureError
from adapters.late_dataclasses import replace
from adapters.signatures.signature import Signature
from sessions.model.session import Predictor, SignatureText
from workbench.editing import edits
from workbench.editing.field_values import Choice
from workbench.state.document import Place, ReadSignature, State
from workbench.tui.messages import Edit
from workbench.tui.panes.source_editor import SourceEditor
from workbench.tui.widgets.tab_line import ChoiceLine
from workbench.tui.widgets.text.editor import Editor, Mark
from workbench.tui.widgets.text.plain import QUIET, PlainStatic, content
from workbench.tui.widgets.text.plain import lines as content_lines

if TYPE_CHECKING:
    from workbench.tui.panes.signature_form import Changed, SignatureForm

FORM = "(form)"
"""The field of a place that refers to the form itself."""
NOTHING_YET = "question -> answer: str   or paste a class of your program"
View = Literal["source", "form", "both"]
VIEWS: tuple[View, ...] = get_args(View)
PREDICTORS: tuple[Predictor, ...] = get_args(Predictor)
WITHOUT_INSTRUCTIONS = ("ProgramOfThought.", "Refine.feedback")
"""The predictors whose prompts have instructions of their own alone."""
FIRST = ("Predict", "ChainOfThought", "ReAct.react")
"""Predictors that are always offered; the palette lists all."""


def predictors_beside(chosen: str) -> list[Choice]:
    """Return the usual predictors and the other inner signatures of the chosen module."""
    module = chosen.partition(".")[0]
    named = [one for one in PREDICTORS if one in FIRST or ("." in chosen and one.startswith(f"{module}."))]
    return [Choice(one, one) for one in named]


class SignaturePane(Vertical):
    """An editor for the signature's text, class, predictor and instructions."""

    BINDING_GROUP_TITLE = "Signature"

    def __init__(self, edit: Edit, state: State) -> None:
        self._edit = edit
        self._lit: str | None = None
        self._default = ""
        self._error: SignatureError | None = None
        self._names: tuple[str, ...] = ()
        self._text_of_names: str | None = None
        self._fields: tuple[str, ...] = ()
        self._signature: Signature | None = None
        self._readable = ""
        self._state = state
        self.view: View = "source"
        self._is_alone = False
        self._form: SignatureForm | None = None
        self._writes_docstring = False
        text = state.session.signature
        self._editor = SourceEditor(
            lambda: _types_in(self._readable),
            text=text.text,
            syntax="python",
            on_edit=self._typed,
            placeholder=content(NOTHING_YET),
            id="signature-editor",
        )
        self._message = PlainStatic(classes="field-error", id="signature-error")
        choices = predictors_beside(text.predictor)
        self._predictor = ChoiceLine(choices, text.predictor, partial(self._choose, "predictor"))
        self._predictor.id = "predictor"
        self._class_choice: ChoiceLine | None = None
        self._instructions_label = PlainStatic(classes="field-label", id="instructions-label")
        self._instructions = Editor(text.instructions or "", on_edit=self._typed_instructions, id="instructions-editor")
        parts = (self._editor, self._message, self._instructions_label, self._instructions, self._predictor)
        super().__init__(*parts, id="signature-pane")
        self.set_class(text.instructions is not None and "\n" not in text.text, "-short")

    def show(self, state: State, read: ReadSignature) -> None:
        text, self._state = state.session.signature, state
        self._editor.show(text.text)
        if self._form is not None and self.view != "source":
            self._form.show(text.text, text.class_name)
        self._predictor.choices = tuple(predictors_beside(text.predictor))
        self._predictor.show(text.predictor)
        self._show_classes(text.text, text.class_name)
        if "." not in text.predictor or read.signature is None:
            self._signature = read.signature
        elif read.error is None:  # its own instructions, not those of a module's inner prompt
            self._signature = replace(text, predictor="Predict", decisions={}).read()
        self._show_instructions(text)
        self._error = read.problem
        self._fields = tuple(read.signature.fields) if read.signature is not None else ()
        problem = read.problem
        self._message.display = problem is not None
        if problem is not None:
            hint = f"\n  {problem.hint}" if problem.hint else ""
            place = f"✗ line {problem.line}, column {problem.column}: "
            self._message.show(place + problem.message + hint)
        self._mark()

    class Viewed(Message):
        """Another view is shown, which needs more or less room."""

    def show_as(self, view: View, focus: bool = True) -> None:
        """Show source, form or both, and move the focus there."""
        self.post_message(self.Viewed())
        if self._form is None:
            if view == "source":
                return
            from workbench.tui.panes.signature_form import SignatureForm

            self._form = SignatureForm(self._changed_by_form, self._problem_of)
            self.mount(self._form, before=self._editor)
        self.view = view
        self._form.display = view != "source"
        self._form.fill(view == "form")
        self.set_class(view == "form", "-form")
        self.stand_alone(self._is_alone)
        text = self._state.session.signature
        self._form.show(text.text, text.class_name)
        self._show_instructions(text)
        if not focus:
            return
        if view == "source":
            self._editor.focus()
        else:
            self._form.go_to()

    def stand_alone(self, is_alone: bool) -> None:
        """Style the form of a maximised pane.

        Done only for the form, because changing a class restyles the whole pane.
        """
        self._is_alone = is_alone
        self.set_class(is_alone and self.view == "form", "-alone")

    def light(self, field: str | None) -> None:
        """Highlight the declaration of a field."""
        if field != self._lit:
            self._lit = field
            self._mark()

    @property
    def edited_place(self) -> Place | None:
        """The field declared at the cursor, or the instructions."""
        if self._instructions.has_focus:
            return Place("instructions")
        if not self._editor.has_focus:
            return None
        is_source = bool(self._names_in(self._editor.raw))
        lines, cursor = self._editor.document.lines, self._editor.cursor_location
        field = edits.field_at(lines, *cursor, self._fields, is_source)
        return Place("signature", field=field) if field is not None else None

    def go_to(self, place: Place, line: int = 0, column: int = 0) -> None:
        """Go to the instructions, a line of the text, or a field, in the form if that is visible."""
        field = place.field if place.kind == "signature" and not line else ""
        if place.kind == "instructions" and self._instructions.display:
            self._instructions.focus()
        elif field and self._form is not None and (self.view == "form" or field == FORM):
            self._form.go_to(field)
        else:
            self._editor.focus()
            declared = self._declarations(field) if field else []
            if declared:
                line, column = declared[0].line + 1, declared[0].start + 1
            if line:
                self._editor.go_to(line, column)

    def _typed(self, text: str) -> None:
        self._edit(partial(edits.set_signature, text=text), Place("signature"), "signature", typing=True)

    def _typed_instructions(self, text: str) -> None:
        """Write the instructions into the class's docstring, or beside the class if that is impossible."""
        change = partial(edits.set_signature, instructions=text if text.strip() else None)
        if self._writes_docstring:
            from adapters.signatures import outline_edits
            from adapters.signatures.outline import outline_of

            signature = self._state.session.signature
            with suppress(SignatureError):
                outline = outline_of(signature.text)
                of = outline.class_named(signature.class_name)
                if of is not None:
                    made = outline_edits.set_instructions(outline, of, _strip_like_docstring(text))
                    change = partial(edits.set_signature, text=made) if made else change
        self._edit(change, Place("instructions"), "instructions", typing=True)

    def _changed_by_form(self, changed: Changed) -> None:
        if changed.renamed is not None:
            old, new = changed.renamed
            change = partial(edits.rename_field, text=changed.text, old=old, new=new)
        else:
            named: dict[str, Any] = {"class_name": changed.class_name} if changed.class_name is not None else {}
            change = partial(edits.set_signature, text=changed.text, **named)
        self._edit(change, Place("signature", field=FORM), changed.label)

    def _problem_of(self, text: str) -> str:
        """Return why the form's text would be invalid; "" if it is valid or had an error before."""
        from adapters.signatures import notation

        try:
            notation.read(text, self._state.session.signature.class_name)
        except SignatureError as error:
            if self._error is None:
                return error.with_hint
        return ""

    def _choose(self, what: Literal["predictor", "class"], value: Any) -> None:
        if isinstance(value, str):
            change: dict[str, Any] = {"predictor" if what == "predictor" else "class_name": value}
            self._edit(partial(edits.set_signature, **change), Place("signature", field=what), f"signature {what}")

    def _names_in(self, text: str) -> tuple[str, ...]:
        """Return the classes of the text; while it has an error, the last valid ones."""
        if text != self._text_of_names:
            self._text_of_names = text
            from adapters.signatures import notation

            with suppress(SignatureError, SyntaxError, ValueError, RecursionError):
                self._names = notation.class_names(text)
                self._readable = text
        return self._names

    def _show_classes(self, text: str, chosen: str | None) -> None:
        names = self._names_in(text)
        choice = self._class_choice
        if len(names) < 2:
            if choice is not None:
                choice.remove()
                self._class_choice = None
            return
        if choice is None or [one.value for one in choice.choices] != list(names):
            if choice is not None:
                choice.remove()
            self._class_choice = choice = ChoiceLine(
                [Choice(one, one) for one in names], chosen, partial(self._choose, "class")
            )
            self.mount(choice, before=self._predictor)
        choice.show(chosen if chosen is not None else names[-1])

    def _show_instructions(self, text: SignatureText) -> None:
        instructions, signature = text.instructions, self._signature
        is_short = not self._names_in(text.text)
        is_form = self.view == "form" and not is_short
        wanted = instructions is not None or is_short or is_form
        self.set_class(is_short, "-short")
        self._instructions.display = self._instructions_label.display = wanted
        if wanted:
            origin = "" if is_short or (is_form and instructions is None) else "replaces the class's docstring"
            origin = "not in this prompt" if text.predictor.startswith(WITHOUT_INSTRUCTIONS) else origin
            self._instructions_label.show(content_lines(("Instructions", "bold"), (f"  {origin}", QUIET)))
            written = ""
            if is_form and signature is not None:
                is_own = signature.instructions != Signature.make(signature.fields_in_order).instructions
                written = signature.instructions if is_own else ""
            self._writes_docstring = is_form and instructions is None
            # docstrings are parsed without surrounding blanks, which must not vanish while the user types
            if instructions is not None or not is_form or _strip_like_docstring(self._instructions.raw) != written:
                self._instructions.show(instructions if instructions is not None else written)
            default = signature.instructions if signature is not None and instructions is None else ""
            if default != self._default:
                self._default = default
                self._instructions.placeholder = content(default)

    def _mark(self) -> None:
        marks = [] if self._lit is None else self._declarations(self._lit)
        if self._error is not None:
            line, column = self._error.line - 1, self._error.column - 1
            lines = self._editor.document.lines
            text = lines[line] if 0 <= line < len(lines) else ""
            end = column + 1
            while end < len(text) and (text[end].isalnum() or text[end] == "_"):
                end += 1
            marks.append(Mark(line, column, end, "error"))
        self._editor.mark(marks)

    def _declarations(self, name: str) -> list[Mark]:
        marks = []
        for number, line in enumerate(self._editor.document.lines):
            start = line.find(name)
            while start >= 0:
                end = start + len(name)
                before = line[start - 1 : start]
                after = line[end : end + 1]
                if not (before.isalnum() or before in ("_", ".", '"', "'")) and after in (":", ",", " ", ""):
                    marks.append(Mark(number, start, end, "lit"))
                start = line.find(name, end)
        lines = self._editor.document.lines
        return [mark for mark in marks if lines[mark.line][mark.end : mark.end + 1] == ":"] or marks


def _strip_like_docstring(text: str) -> str:
    """Strip blanks as in a docstring: around the text and in empty lines."""
    return "\n".join(line if line.strip() else "" for line in text.strip().split("\n"))


def _types_in(text: str) -> tuple[str, ...]:
    """Return the models and enums of a text; () if it has an error."""
    from adapters.signatures.outline import outline_of

    try:
        return outline_of(text).types
    except SignatureError:
        return ()
