"""What an action, the palette or the preferences may ask of the app that holds them."""

from __future__ import annotations

from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from textual.app import App

    from sessions.file.store import Fingerprint
    from sessions.model.session import Session
    from workbench.config.confinement import Confinement
    from workbench.state.document import Document
    from workbench.tui.guidance import Guidance
    from workbench.tui.keys.key_words import KeyWords
    from workbench.tui.preferences import Preferences
    from workbench.tui.runs.run_history import RunHistory
    from workbench.tui.runs.send_setup import SendSetup
    from workbench.tui.screens.main import MainScreen
    from workbench.tui.teacher import Teacher


class Host(Protocol):
    """The app as its actions see it; `WorkbenchApp` is the only one outside of tests."""

    document: Document
    """What is open."""
    main: MainScreen
    """The panes. Every change of the document goes through `main.edit`, which undo takes back."""
    sending: SendSetup
    preferences: Preferences
    guidance: Guidance
    """What to do next with an example."""
    teacher: Teacher | None
    """Of the class that this is a visitor of, to be followed; None anywhere else."""
    confinement: Confinement
    """What may be reached: files, programs, models."""

    @property
    def app(self) -> App[object]:
        """Textual's side: dialogs are pushed, work is started and notifications are shown through it."""

    @property
    def key_words(self) -> KeyWords:
        """How texts on the screen name the keys in force."""

    @property
    def past_runs(self) -> RunHistory:
        """What was sent for the session that is open."""

    def ask(self, dialog: Coroutine[Any, Any, Any]) -> None:
        """Runs a conversation with the user; only one at a time, and none over another."""

    def load(self, session: Session, path: Path | None, fingerprint: Fingerprint | None = None) -> None:
        """Shows another session in place of the one that is open."""

    def restore(self, session: Session, label: str = ...) -> None:
        """Another content for what is open, as a change that can be undone."""
