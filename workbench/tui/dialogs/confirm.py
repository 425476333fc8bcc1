"""One question with a few answers, each with a letter of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from workbench.tui.keys.key_words import keys_of
from workbench.tui.widgets.text.plain import PlainStatic, content, lines

_GROUP = Binding.Group("This dialog")


ROWS_AROUND = 10
"""Rows of a dialog that its answers do not take, about."""


class Answer(NamedTuple):
    """`key` is the letter that gives this answer."""

    value: str
    key: str
    name: str
    about: str = ""


class ConfirmScreen(ModalScreen[str | None]):
    """Returns the value of the answer, None after escape."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Close", id="confirm.close", tooltip="Close without an answer", group=_GROUP)
    ]

    def __init__(self, title: str, question: str | Content, answers: Sequence[Answer]) -> None:
        super().__init__()
        self._title = title
        self._question = question
        self._answers = tuple(answers)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = content(f" {self._title} ")
            if self._question:
                yield PlainStatic(self._question, classes="dialog-text")
            yield OptionList(*[Option(_line(one)) for one in self._answers], compact=True)
            hint = keys_of(self.app)("the letter, or ↑↓ enter   {confirm.close|esc} closes")
            yield PlainStatic(lines((hint, "$foreground 60%")), classes="dialog-hint")

    def on_resize(self) -> None:
        """As many answers as fit with the question."""
        room = self.size.height * 85 // 100 - ROWS_AROUND
        self.query_one(OptionList).styles.max_height = max(4, min(len(self._answers), room))

    def on_key(self, event: events.Key) -> None:
        for answer in self._answers:
            if event.character == answer.key and self.is_current:  # and not the second key of one moment
                event.stop()
                self.dismiss(answer.value)

    @on(OptionList.OptionSelected)
    def _select(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._answers[event.option_index].value)


def _line(answer: Answer) -> Content:
    return lines(
        (f" {answer.key}  ", "$text-accent bold"), (answer.name, "bold"), (f"   {answer.about}", "$foreground 60%")
    )
