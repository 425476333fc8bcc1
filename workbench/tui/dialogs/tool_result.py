"""Asking for the result of a tool that a model has called, while its run waits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from sessions.model.session import Tool
from workbench.output import json_shapes
from workbench.output.display import one_line
from workbench.tui.keys.key_words import keys_of
from workbench.tui.widgets.text.plain import PlainStatic, content, lines

_GROUP = Binding.Group("This dialog")

LONGEST_ARGUMENTS = 2_000
LOOK_SECONDS = 0.2


class ToolResultScreen(ModalScreen[str | None]):
    """Returns what was typed (JSON or text), None after escape. Closes by itself once `is_over`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "escape",
            "dismiss(None)",
            "Fail",
            id="tool_result.close",
            tooltip="The call fails: nobody answers it",
            group=_GROUP,
        )
    ]

    def __init__(
        self, column: str, tool: Tool, arguments: Mapping[str, Any], is_over: Callable[[], bool] = bool
    ) -> None:
        super().__init__()
        self._column = column
        self._tool = tool
        self._arguments = json_shapes.dumps(dict(arguments), ascii_only=False)
        self._is_over = is_over

    def compose(self) -> ComposeResult:
        quiet = "$foreground 60%"
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = content(f" {one_line(self._column, 40)} calls {one_line(self._tool.name, 40)} ")
            if self._tool.description:
                yield PlainStatic(content(self._tool.description[:LONGEST_ARGUMENTS], quiet), classes="dialog-text")
            yield PlainStatic(lines(("arguments\n", quiet), self._arguments[:LONGEST_ARGUMENTS]), classes="dialog-text")
            yield Input(placeholder="its result: JSON, or text", compact=True)
            hint = "enter: to the model, and kept for these arguments   {tool_result.close|esc}: the call fails"
            yield PlainStatic(lines((keys_of(self.app)(hint), quiet)), classes="dialog-hint")

    def on_mount(self) -> None:
        self.set_interval(LOOK_SECONDS, self._look)

    @on(Input.Submitted)
    def _enter(self, event: Input.Submitted) -> None:
        self.dismiss(event.value)

    def _look(self) -> None:
        if self._is_over():
            self.dismiss(None)
