"""Frame a dialog: its title above, its keys below."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widget import Widget

from workbench.tui.textual_internals.row_compositor import OneLayout
from workbench.tui.widgets.text.plain import PlainStatic, content, key_hints

Result = TypeVar("Result")


class Dialog(ModalScreen[Result], OneLayout[Result]):
    """A dialog that shows `contents` between a title and the `hint` that lists its keys."""

    CLASSES: ClassVar[str] = ""
    """More classes of the frame, such as `-large`."""

    def __init__(self, title: str, hint: str) -> None:
        super().__init__()
        self._title = title
        self._hint = hint

    def contents(self) -> Iterable[Widget]:
        """Return the widgets of the dialog."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        with Vertical(classes=f"dialog {self.CLASSES}") as frame:
            frame.border_title = content(f" {self._title} ") if self._title else None
            yield from self.contents()
            yield PlainStatic(key_hints(self.app, self._hint), classes="dialog-hint")
