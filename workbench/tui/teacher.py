"""Following the teacher of a class: whether one does, and what is still to be followed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from workbench.tui.keys.bindings import keys_of
from workbench.tui.widgets.text.plain import plain_notify

if TYPE_CHECKING:
    from textual.app import App

    from workbench.serving.messages import TeachersPlace

HOW = "{app.follow_teacher|alt+f} follows again."


class GoAlong(Protocol):
    """Goes where the teacher is; `before` is where he was. Says in words what kept it, "" when nothing did."""

    def __call__(self, place: TeachersPlace, before: TeachersPlace | None) -> str: ...


class Teacher:
    """`app` tells the user, `go` leads to where the teacher is, `show` has the last line say how it stands.

    `is_followed`: from the start on, as in a lesson, until the participant decides otherwise.
    """

    def __init__(self, app: App[int], go: GoAlong, show: Callable[[], None], is_followed: bool = False) -> None:
        self._app = app
        self._go = go
        self._show = show
        self.place: TeachersPlace | None = None
        """Where the teacher is; None: there is none, or he has left."""
        self.is_followed = is_followed
        self._was_there = False
        self._is_due = False
        self._went: TeachersPlace | None = None
        self._kept = ""

    @property
    def sign(self) -> str:
        """For the last line; empty where there is nothing to follow."""
        if self.is_followed:
            absent = "◌ the teacher has left" if self._was_there else ""
            return "◉ following the teacher" if self.place is not None else absent
        return "○ follow the teacher" if self.place is not None else ""

    def told(self, place: TeachersPlace | None) -> None:
        """The teacher is somewhere else; None: he has left, and whoever followed stays where he is."""
        has_left = place is None and self.place is not None
        self.place, self._is_due = place, place is not None
        self._was_there |= place is not None
        if has_left and self.is_followed:
            said = "You stay where you are. Should the teacher come back, you follow again."
            plain_notify(self._app, said, title="The teacher has left")
        self._show()
        self.catch_up()

    def toggle(self) -> None:
        """Follows from now on, at once to where the teacher is; or goes one's own way."""
        if self.is_followed:
            self.stop("You stopped following.")
        elif self.place is None:
            plain_notify(self._app, "Once the teacher is there you can follow.", title="No teacher is here")
        else:
            self.is_followed = self._is_due = True
            self._went, self._kept = None, ""
            self._show()
            self.catch_up()

    def stop(self, why: str) -> None:
        """Stays where one is."""
        if self.is_followed:
            self.is_followed = False
            self._show()
            plain_notify(self._app, f"{why} {keys_of(self._app)(HOW)}", title="Not following", timeout=6)

    def catch_up(self) -> None:
        """Goes to where the teacher is, unless one is there; what keeps it is told once, and tried again."""
        place = self.place
        if not self.is_followed or not self._is_due or place is None:
            return
        kept = self._go(place, self._went)
        if kept:
            if kept != self._kept:
                plain_notify(self._app, kept, title="Not there with the teacher", severity="warning")
        else:
            self._is_due, self._went = False, place
            self._show()  # on a screen that was opened for it, too
        self._kept = kept
