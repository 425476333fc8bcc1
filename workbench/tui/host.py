"""Define the app's interface for actions, palette and preferences, and how an action ends."""

from __future__ import annotations

from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from textual.app import App
    from textual.notifications import SeverityLevel
    from textual.screen import Screen

    from sessions.file.store import Fingerprint
    from sessions.model.session import Case, Session
    from workbench.config.confinement import Confinement
    from workbench.state.document import Document, RenderedColumn
    from workbench.tui.guidance import Guidance
    from workbench.tui.keys import KeyWords
    from workbench.tui.preferences import Preferences
    from workbench.tui.runs.run_history import RunHistory
    from workbench.tui.runs.runs import SendSetup
    from workbench.tui.screens.main import MainScreen
    from workbench.tui.screens.stress import Tested
    from workbench.tui.teacher import Teacher

Result = TypeVar("Result")


class Ended(Exception):  # noqa: N818 - usually not an error
    """The end of an action before it is done; a toast shows `why`, unless that is ""."""

    def __init__(self, why: object = "", title: str = "", severity: SeverityLevel = "warning") -> None:
        super().__init__(str(why))
        self.title = title
        self.severity: SeverityLevel = severity


@contextmanager
def ends_on(
    *errors: type[Exception], title: str = "", severity: SeverityLevel = "error", lead: str = ""
) -> Iterator[None]:
    """End the action at one of these errors, and show it after `lead`."""
    try:
        yield
    except errors as error:
        raise Ended(f"{lead}{error}", title, severity) from error


async def answer_to(host: Host, screen: Screen[Result | None]) -> Result:
    """Return the user's answer to a dialog; escape ends the action."""
    found = await host.app.push_screen_wait(screen)
    if found is None:
        raise Ended
    return found


def focused_column(host: Host) -> RenderedColumn:
    """Return the focused column; without columns, end the action."""
    rendered = host.main.shown_column()
    if rendered is None:
        raise Ended
    return rendered


class Host(Protocol):
    """The interface of `WorkbenchApp`; tests have other implementations."""

    document: Document
    """The open session."""
    main: MainScreen
    """The panes. Change the document only through `main.edit`, whose changes can be undone."""
    sending: SendSetup
    preferences: Preferences
    guidance: Guidance
    """The guide."""
    teacher: Teacher | None
    """The teacher to follow in a class, else None."""
    confinement: Confinement
    """The files, programs and models that may be used."""
    last_stress_test: tuple[Tested, Session, Case] | None
    """The last stress test, with the session and the case that it is of."""

    @property
    def app(self) -> App[object]:
        """Textual's app, for dialogs, workers and notifications."""

    @property
    def key_words(self) -> KeyWords:
        """Names the user's keys in texts."""

    @property
    def past_runs(self) -> RunHistory:
        """The past runs of the open session."""

    def ask(self, dialog: Coroutine[Any, Any, Any]) -> None:
        """Run a dialog, unless another dialog is open."""

    def load(self, session: Session, path: Path | None, fingerprint: Fingerprint | None = None) -> None:
        """Open another session."""

    def restore(self, session: Session, label: str = ...) -> None:
        """Replace the content of the open session as an undoable change."""
