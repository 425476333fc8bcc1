"""A letter on everything that can take the focus: typing the letter goes there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.errors import NoWidget
from textual.geometry import Offset, Region
from textual.screen import ModalScreen, Screen
from textual.widget import Widget

from workbench.tui.keys.key_words import keys_of
from workbench.tui.widgets.text.plain import PlainStatic, lines

LETTERS = "asdfghjklqwertyuiopzxcvbnm1234567890"


class Target(NamedTuple):
    """A widget to go to, and where its letter stands."""

    letter: str
    widget: Widget
    place: Offset


def targets_of(screen: Screen[object]) -> list[Target]:
    """Every widget of a screen that can take the focus and is in sight, from the top and from the left."""
    found: list[tuple[Region, Widget]] = []
    for widget in screen.query("*"):
        if widget.focusable and widget.display:
            try:
                region = screen.find_widget(widget).visible_region
            except NoWidget:
                continue  # behind a tab
            if region.area:
                found.append((region, widget))
    found.sort(key=lambda one: (one[0].x, one[0].y))
    return [Target(letter, widget, region.offset) for letter, (region, widget) in zip(LETTERS, found, strict=False)]


class JumpScreen(ModalScreen[Widget | None]):
    """Returns where to go, None for any other key."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "escape",
            "dismiss(None)",
            "Stay",
            id="jump.close",
            tooltip="Stay where you are",
            group=Binding.Group("Jump"),
        )
    ]

    def __init__(self, targets: Sequence[Target]) -> None:
        super().__init__()
        self._targets = {one.letter: one for one in targets}

    def compose(self) -> ComposeResult:
        for one in self._targets.values():
            label = PlainStatic(lines((f" {one.letter} ", "bold")), classes="jump-label")
            label.styles.offset = one.place
            yield label
        hint = keys_of(self.app)("the letter of where to go   {jump.close|esc} stays")
        yield PlainStatic(lines((hint, "$foreground 80%")), id="jump-hint")

    def on_key(self, event: events.Key) -> None:
        if event.key != "escape":
            event.stop()
            if not self.is_current:
                return  # a further key of the same moment
            target = self._targets.get((event.character or "").lower())
            self.dismiss(target.widget if target is not None else None)
