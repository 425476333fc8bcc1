"""What to think of a reply: good, bad or nothing said, and a note."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from workbench.editing.field_values import Choice
from workbench.output.display import one_line, safe
from workbench.tui.keys.key_words import keys_of
from workbench.tui.widgets.choice_line import ChoiceLine
from workbench.tui.widgets.text.plain import PlainStatic, content, lines

CHOICES = (Choice("", "not rated"), Choice("good", "★ good"), Choice("bad", "✗ bad"))


class Rating(NamedTuple):
    """`rating` is `good`, `bad` or empty."""

    rating: str
    note: str


class RateScreen(ModalScreen[Rating | None]):
    """Returns what was said, None after escape."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "escape",
            "dismiss(None)",
            "Close",
            id="rate.close",
            tooltip="Close, nothing changes",
            group=Binding.Group("This dialog"),
        ),
        Binding(
            "enter",
            "take",
            "Take",
            priority=True,
            id="rate.take",
            tooltip="Keep rating and note",
            group=Binding.Group("This dialog"),
        ),
    ]

    def __init__(self, column: str, start: Rating) -> None:
        super().__init__()
        self._column = column
        self._rating = start.rating
        self._start = safe(start.note)
        self._note = start.note
        self._line = ChoiceLine(CHOICES, start.rating, self._choose)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = content(f" The reply of {one_line(self._column, 40)} ")
            yield self._line
            yield Input(self._start, compact=True, placeholder="a note, kept with the reply")
            hint = "←→ choose   tab to the note   {rate.take|enter} keeps it in the session   {rate.close|esc} closes"
            yield PlainStatic(lines((keys_of(self.app)(hint), "$foreground 60%")), classes="dialog-hint")

    def on_mount(self) -> None:
        self._line.focus()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        if event.value != self._start:
            self._note = event.value

    def action_take(self) -> None:
        self.dismiss(Rating(self._rating, self._note))

    def _choose(self, value: Any) -> None:
        self._rating = value if value in ("good", "bad") else ""
        self._line.show(self._rating)
