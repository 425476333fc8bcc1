"""Frame dialogs; ask for a line of text, or a question with a few answers."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, OptionList
from textual.widgets.input import Selection
from textual.widgets.option_list import Option

from workbench.output.display import LINE_BREAK, cell_width, safe
from workbench.tui.keys import pane_keys
from workbench.tui.textual_internals.access import Options
from workbench.tui.textual_internals.row_compositor import OneLayout
from workbench.tui.widgets.text.plain import QUIET, KeyRows, PlainStatic, content, key_hints, lines

Result = TypeVar("Result")


GAP = "   "
"""The blanks between two keys of the last line."""


class Dialog(ModalScreen[Result], OneLayout[Result]):
    """A dialog that shows `contents` between a title and the `hint` that lists its keys."""

    BINDINGS = pane_keys(
        "This dialog",
        ("ctrl+q", "leave", "Quit", "dialog.leave", "Close the dialog and quit"),
    )
    classes_of_frame = ""
    """More classes of the frame, such as `-large`; set after the dialog is shown, they would style it twice."""

    _said = ""
    """A message before the keys in the last line."""

    def __init__(self, title: str, hint: str) -> None:
        super().__init__()
        self._title = title
        self._hint = hint

    def contents(self) -> Iterable[Widget]:
        """Return the widgets of the dialog."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        with Vertical(classes=f"dialog {self.classes_of_frame}") as frame:
            frame.border_title = content(f" {self._title} ") if self._title else None
            yield from self.contents()
            yield KeyRows(self.last_line, GAP, classes="dialog-hint")

    @property
    def last_line(self) -> Content:
        """The message, and the keys of the dialog as buttons."""
        return key_hints(self.app, f"{self._said}   {self._hint}" if self._said else self._hint)

    def show_last_line(self) -> None:
        """Show another message or other keys."""
        self.query_one(KeyRows).show(self.last_line)

    def action_leave(self) -> None:
        self.dismiss(None)
        self.app.call_later(self.app.run_action, "app.leave")


class AskScreen(Dialog[str | None]):
    """Ask for a line of text; returns None after escape. `refuse` returns why a text is invalid, or ""."""

    BINDINGS = pane_keys(
        "This dialog",
        ("escape", "dismiss(None)", "Close", "ask.close", "Close without an answer"),
    )

    def __init__(
        self,
        title: str,
        value: str,
        refuse: Callable[[str], str],
        hint: str = "enter accept   {ask.close|esc} close",
        take_lines: Callable[[str], None] | None = None,
        is_path: bool = False,
        is_value: bool = False,
        is_typed: bool = False,
    ) -> None:
        """`take_lines` is called with a pasted text of several lines, which closes the dialog; a value is JSON or text.

        Of a path only the file's name is selected, so that a typed name keeps its folder and ending. `is_typed` says
        that the user has begun to type, so that nothing is selected.
        """
        super().__init__(title, hint)
        self._value = value
        self._shown = on_a_row(value)
        self._refuse = refuse
        self._take_lines = take_lines
        self._is_path = is_path
        self._is_value = is_value
        self._is_typed = is_typed
        self._line: OneLine | None = None
        self._error = PlainStatic(classes="field-error", id="ask-error")

    def contents(self) -> Iterable[Widget]:
        if self._is_value:
            return ValueLine(), self._error
        line = OneLine(self._shown, self._took_lines if self._take_lines is not None else None)
        line.select_on_focus = not (self._is_path or self._is_typed)
        if self._is_path:
            start = self._shown.rfind(os.sep) + 1
            line.selection = Selection(start, start + len(self._shown[start:].partition(".")[0]))
        self._line = line
        return line, self._error

    def on_key(self, event: events.Key) -> None:
        """Take the letters that were typed before the line had the focus."""
        if self._is_typed and event.character is not None and event.is_printable:
            event.stop()
            self.add_typed(event.character)

    def add_typed(self, letter: str) -> None:
        """Add a letter at the end of the line."""
        if self._line is None:
            self._value = self._shown = self._shown + letter
        else:  # perhaps not mounted yet
            self._line.value += letter
            self._line.action_end()

    def _took_lines(self, text: str) -> None:
        self.dismiss(None)
        if self._take_lines is not None:
            self._take_lines(text)

    @on(Input.Changed)
    def _typed(self) -> None:
        self._error.show("")

    @on(Input.Submitted)
    def _enter(self, event: Input.Submitted) -> None:
        answer = self._value if event.value == self._shown else event.value
        ending = "".join(self._shown[self._shown.rfind(os.sep) + 1 :].partition(".")[1:])
        if self._is_path and ending and answer.endswith(ending * 2):  # typed before the ending that was left there
            answer = answer.removesuffix(ending)
        refused = self._refuse(answer)
        if refused:
            self._error.show(f"✗ {refused}")
        else:
            self.dismiss(answer)


def on_a_row(text: str) -> str:
    """Write a text in a single row, with visible line breaks."""
    return safe(text).translate({ord("\n"): LINE_BREAK, ord("\t"): " "})


class OneLine(Input):
    """A line of input; a pasted text of several lines is passed to `take_lines`, if given."""

    def __init__(self, value: str, take_lines: Callable[[str], None] | None, placeholder: str = "") -> None:
        super().__init__(value, placeholder=placeholder, compact=True)
        self._take_lines = take_lines

    def on_paste(self, event: events.Paste) -> None:
        """Handle pasted lines before Textual's handler, which inserts only the first line."""
        if self._take_lines is not None and len(event.text.strip().splitlines()) > 1:
            event.prevent_default()
            event.stop()
            self._take_lines(event.text)
        else:
            event.text = event.text.lstrip("\r\n")


def value_of(typed: str) -> Any:
    """Return the typed JSON, or the text if it is not JSON."""
    try:
        return json.loads(typed)
    except (ValueError, RecursionError):
        return typed


class ValueLine(OneLine):
    """A line for JSON or text; pasted lines become JSON on one line."""

    def __init__(self, placeholder: str = "") -> None:
        super().__init__("", self._write, placeholder)

    def _write(self, text: str) -> None:
        """Replace the value; terminals paste `\\r` as line ends."""
        self.value = json.dumps(value_of(re.sub("\r\n?", "\n", text)), ensure_ascii=False)
        self.action_end()


ROWS_AROUND = 10
"""The approximate number of the dialog's rows around its answers."""
USUAL_WIDTH, FRAME = 78, 6
"""The cells of an answer in a dialog that is not wide, and those around it."""


class Answer(NamedTuple):
    """An answer; `key` chooses it: a letter, or with `alt+` where letters of a typed text must not."""

    value: str
    key: str
    name: str
    about: str = ""


class ConfirmScreen(Dialog[str | None]):
    """Ask a question; returns the value of the chosen answer, None after escape."""

    BINDINGS = pane_keys(
        "This dialog",
        ("escape", "dismiss(None)", "Close", "confirm.close", "Close without an answer"),
    )

    def __init__(self, title: str, question: str | Content, answers: Sequence[Answer]) -> None:
        super().__init__(title, "press a key of the list, or ↑↓ enter   {confirm.close|esc} close")
        self._question = question
        self._answers = tuple(answers)
        self._key_width, self._name_width, longest_about = [
            max([cell_width(text) for text in texts])
            for texts in zip(*[(one.key, one.name, one.about) for one in self._answers], strict=True)
        ]
        self._width = self._key_width + self._name_width + longest_about + len("     ") + len(GAP)
        """The cells of an answer if all descriptions are below one another."""
        if self._width > USUAL_WIDTH:
            self.classes_of_frame = "-wide"

    def contents(self) -> Iterable[Widget]:
        if self._question:
            yield PlainStatic(self._question, classes="dialog-text")
        is_aligned = self._width <= self.app.size.width * 94 // 100 - FRAME
        options = []
        for one in self._answers:
            key = (f" {one.key:{self._key_width}}  ", "$text-accent bold")
            pad = " " * (self._name_width - cell_width(one.name)) if is_aligned else ""
            options.append(Option(lines(key, (one.name, "bold"), (f"{pad}{GAP}{one.about}", QUIET))))
        yield Options(*options, compact=True)

    def on_resize(self) -> None:
        """Show as many answers as fit below the question."""
        room = self.size.height * 85 // 100 - ROWS_AROUND
        self.query_one(OptionList).styles.max_height = max(4, min(len(self._answers), room))

    def on_key(self, event: events.Key) -> None:
        for answer in self._answers:
            if event.key == answer.key and self.is_current:  # not a second key pressed before the dialog closed
                event.stop()
                self.dismiss(answer.value)

    @on(OptionList.OptionSelected)
    def _select(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._answers[event.option_index].value)
