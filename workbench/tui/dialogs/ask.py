"""Asking for one line of text, with what is wrong with it below."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from workbench.output.display import LINE_BREAK, safe
from workbench.tui.keys.key_words import keys_of
from workbench.tui.widgets.text.plain import PlainStatic, content, lines

_GROUP = Binding.Group("This dialog")


class AskScreen(ModalScreen[str | None]):
    """Returns the text, None after escape. `refuse` says why a text will not do; empty when it does."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Close", id="ask.close", tooltip="Close without an answer", group=_GROUP)
    ]

    def __init__(
        self,
        title: str,
        value: str,
        refuse: Callable[[str], str],
        hint: str = "enter accepts it   {ask.close|esc} closes",
        take_lines: Callable[[str], None] | None = None,
    ) -> None:
        """`take_lines` is given a pasted text of several lines, which closes the dialog; else its first line stays."""
        super().__init__()
        self._title = title
        self._value = value
        self._shown = safe(value).translate({ord("\n"): LINE_BREAK, ord("\t"): " "})
        self._refuse = refuse
        self._hint = hint
        self._take_lines = take_lines

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = content(f" {self._title} ")
            yield OneLine(self._shown, self._took_lines if self._take_lines is not None else None)
            yield PlainStatic(classes="field-error", id="ask-error")
            yield PlainStatic(lines((keys_of(self.app)(self._hint), "$foreground 60%")), classes="dialog-hint")

    def _took_lines(self, text: str) -> None:
        self.dismiss(None)
        if self._take_lines is not None:
            self._take_lines(text)

    @on(Input.Changed)
    def _typed(self) -> None:
        self.query_one("#ask-error", PlainStatic).show("")

    @on(Input.Submitted)
    def _enter(self, event: Input.Submitted) -> None:
        answer = self._value if event.value == self._shown else event.value
        refused = self._refuse(answer)
        if refused:
            self.query_one("#ask-error", PlainStatic).show(f"✗ {refused}")
        else:
            self.dismiss(answer)


class OneLine(Input):
    """One line. Of a pasted text of several lines all are given to `take_lines`, where there is such."""

    def __init__(self, value: str, take_lines: Callable[[str], None] | None) -> None:
        super().__init__(value, compact=True)
        self._take_lines = take_lines

    def on_paste(self, event: events.Paste) -> None:
        """Comes before Textual's own, which puts in the first line."""
        if self._take_lines is not None and len(event.text.strip().splitlines()) > 1:
            event.prevent_default()
            event.stop()
            self._take_lines(event.text)
