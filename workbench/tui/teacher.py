"""Follow the teacher of a class."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from adapters.late_dataclasses import dataclass
from workbench.tui.keys import keys_of
from workbench.tui.widgets.text.plain import plain_notify

if TYPE_CHECKING:
    from textual.app import App

    from workbench.serving.messages import TeachersPlace

GoAlong = Callable[["TeachersPlace", "TeachersPlace | None"], str]
"""Goes to the teacher's place from the previous one. Returns why that is not possible now, or ""."""


@dataclass(eq=False)
class Teacher:
    """Follows the teacher of a class.

    `go` goes to the teacher's place, `show` updates the last line of the screen. With `is_followed` the teacher is
    followed from the start, as in a lesson, until the participant stops.
    """

    _app: App[int]
    _go: GoAlong
    _show: Callable[[], None]
    is_followed: bool = False
    place: TeachersPlace | None = None
    """The teacher's place; None without a teacher."""
    _was_there: bool = False
    _is_due: bool = False
    _went: TeachersPlace | None = None
    _kept: str = ""

    @property
    def sign(self) -> str:
        """The text for the last line; "" without a teacher to follow."""
        if self.is_followed:
            absent = "◌ the teacher has left" if self._was_there else ""
            waits = "◉ following as soon as you can" if self._kept else "◉ following the teacher"
            return waits if self.place is not None else absent
        return "○ follow the teacher" if self.place is not None else ""

    def told(self, place: TeachersPlace | None) -> None:
        """Note the teacher's place and go there if followed; None: the teacher has left, and followers stay."""
        has_left = place is None and self.place is not None
        self.place, self._is_due = place, place is not None
        self._was_there |= place is not None
        if has_left and self.is_followed:
            said = "You stay where you are, and follow again when the teacher returns."
            plain_notify(self._app, said, title="The teacher has left")
        self._show()
        self.catch_up()

    def toggle(self) -> None:
        """Follow the teacher from now on, or stop following."""
        if self.is_followed:
            self.stop()  # the button shows it; a message would cover the page of a phone
        elif self.place is None:
            plain_notify(self._app, "You can follow as soon as the teacher has joined.", title="No teacher is here")
        else:
            self.is_followed = self._is_due = True
            self._went, self._kept = None, ""
            self._show()
            self.catch_up()

    def join(self) -> None:
        """Go to the teacher's step of a lesson that was just opened, if followed."""
        if self.place is not None and self.place.screen == "lesson":
            self._is_due = True
            self.catch_up()

    def step_aside(self, why: str = "") -> None:
        """Stop following the teacher's lesson after the participant's own step."""
        if self.place is not None and self.place.screen == "lesson":
            self.stop(why)

    def stop(self, why: str = "") -> None:
        """Stop following; `why` is shown, unless the user asked for it."""
        if self.is_followed:
            self.is_followed = False
            self._show()
            if why:
                how = "To follow again, choose `follow the teacher` ({app.follow_teacher|alt+f})."
                plain_notify(self._app, f"{why} {keys_of(self._app)(how)}", title="Not following", timeout=6)

    def catch_up(self) -> None:
        """Go to the teacher, unless already there; report what prevents it once, and try again."""
        place = self.place
        if not self.is_followed or not self._is_due or place is None:
            return
        kept = self._go(place, self._went)
        is_new, self._kept = kept != self._kept, kept
        if kept and is_new:
            plain_notify(self._app, kept, title="You cannot follow yet", severity="warning")
        if not kept:
            self._is_due, self._went = False, place
        if is_new or not kept:
            self._show()  # also on a screen that `_go` opened
