"""The app's actions for hands on the keyboard: other views, jumps, searches, and what was there before."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.screen import ModalScreen
from textual.widget import Widget

from workbench.document import Document
from workbench.screens.main import MainScreen

if TYPE_CHECKING:
    _Base = App[int]
else:
    _Base = object


class MovingAbout(_Base):
    """To be put in front of an app's base class."""

    main: MainScreen
    document: Document

    if TYPE_CHECKING:

        def _ask(self, dialog: Coroutine[Any, Any, Any]) -> None: ...

    def action_find(self) -> None:
        from workbench.flows import finding

        self._ask(finding.find_anywhere(self))  # type: ignore[arg-type]

    def action_jump(self) -> None:
        from workbench.screens.jump import JumpScreen, targets_of

        def go(widget: Widget | None) -> None:
            if widget is not None and widget.is_attached:
                widget.focus()

        if not isinstance(self.screen, ModalScreen):
            self.push_screen(JumpScreen(targets_of(self.screen)), go)

    def action_signature_view(self) -> None:
        self.main.open_tab("signature")
        self.main.signature.show_next_view()
