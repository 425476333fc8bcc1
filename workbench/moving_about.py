"""The app's actions for hands on the keyboard: other views, jumps, searches, and what was there before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import App

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

    def action_signature_view(self) -> None:
        self.main.open_tab("signature")
        self.main.signature.show_next_view()
