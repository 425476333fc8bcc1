"""A few values to choose from, all in sight: arrow keys or a click choose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.style import Style
from textual.widget import Widget

from workbench.editing.field_values import ABSENT, Choice
from workbench.tui.widgets.text.plain import content

_GROUP = Binding.Group("Choice")
APART = "   "
UNBOUNDED = 1_000_000


class ChoiceLine(Widget, can_focus=True):
    """The value that is chosen is marked `●`; a value that is none of the choices is named beside them."""

    BINDING_GROUP_TITLE = "Choice"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "left,up",
            "step(-1)",
            "Previous",
            show=False,
            id="choice.previous",
            tooltip="Choose the one before",
            group=_GROUP,
        ),
        Binding(
            "right,down,space",
            "step(1)",
            "Next",
            show=False,
            id="choice.next",
            tooltip="Choose the next one",
            group=_GROUP,
        ),
        Binding("enter", "settle", "Next field", show=False, id="choice.settle", tooltip="Go on with it", group=_GROUP),
        Binding(
            "delete", "clear", "No value", show=False, id="choice.clear", tooltip="Take the value away", group=_GROUP
        ),
    ]

    def __init__(self, choices: Sequence[Choice], value: Any, on_choose: Callable[[Any], None]) -> None:
        super().__init__()
        self.choices = tuple(choices)
        self._value = value
        self._on_choose = on_choose

    def show(self, value: Any) -> None:
        if value is not self._value:
            self._value = value
            self.refresh(layout=True)

    def render(self) -> Content:
        return self._within(self.content_size.width)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return self._within(UNBOUNDED).cell_length

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._within(width).wrap(width)) if width else 1

    def _within(self, width: int) -> Content:
        """All of it in rows of at most `width` cells: a mark never stands apart from the first word of its choice."""
        pieces: list[Content] = []
        for index, choice in enumerate(self.choices):
            chosen = index == self._index
            style = "$foreground bold" if chosen else "$foreground 60%"
            label = content(f"{'●' if chosen else '○'} {choice.shown}", style)
            pieces.append(label.stylize(Style.from_meta({"choice": index})))
        if self._index is None and self._value is not ABSENT:
            pieces.append(content(f"⚠ {self._value!r} is none of these", "$text-warning"))
        rows: list[list[Content]] = [[]]
        for piece in pieces:
            used = sum(one.cell_length + len(APART) for one in rows[-1])
            if rows[-1] and used + piece.cell_length > width:
                rows.append([])
            rows[-1].append(piece)
        return Content("\n").join([Content(APART).join(row) for row in rows])

    def on_click(self, event: events.Click) -> None:
        index = event.style.meta.get("choice")
        if isinstance(index, int):
            self._choose(index)

    def on_key(self, event: events.Key) -> None:
        """The first letter of a choice chooses it, the next one of those that begin so."""
        letter = event.character.lower() if event.character and event.character.isalnum() else ""
        first = 0 if self._index is None else self._index + 1
        order = [(first + step) % len(self.choices) for step in range(len(self.choices))]
        found = [index for index in order if letter and self.choices[index].shown.lower().startswith(letter)]
        if found:
            event.stop()
            event.prevent_default()
            self._choose(found[0])

    def action_settle(self) -> None:
        """Enter takes the first where nothing is chosen yet, and goes on to what comes next where something is."""
        if self._index is None:
            self._choose(0)
        else:
            self.screen.focus_next()

    def action_step(self, by: int) -> None:
        index = self._index
        self._choose((0 if by > 0 else -1) if index is None else index + by)

    def action_clear(self) -> None:
        self._on_choose(ABSENT)

    @property
    def _index(self) -> int | None:
        for index, choice in enumerate(self.choices):
            if type(choice.value) is type(self._value) and choice.value == self._value:
                return index
        return None

    def _choose(self, index: int) -> None:
        self._on_choose(self.choices[index % len(self.choices)].value)
