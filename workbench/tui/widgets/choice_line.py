"""Show a few values to choose from with arrow keys or a click."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.geometry import Size
from textual.style import Style
from textual.widget import Widget

from workbench.editing.field_values import ABSENT, Choice
from workbench.tui.keys.bindings import pane_keys
from workbench.tui.widgets.text.plain import content

APART = "   "
UNBOUNDED = 1_000_000


class ChoiceLine(Widget, can_focus=True):
    """A row of choices, the chosen one marked with `●`; a warning names a value that is none of them."""

    BINDING_GROUP_TITLE = "Choice"
    BINDINGS: ClassVar[list[BindingType]] = pane_keys(
        "Choice",
        ("left,up", "step(-1)", "Previous", "choice.previous", "Choose the previous value"),
        ("right,down,space", "step(1)", "Next", "choice.next", "Choose the next value"),
        ("enter", "settle", "Next field", "choice.settle", "Go to the next field"),
        ("delete", "clear", "No value", "choice.clear", "Clear the value"),
    )

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
        """Lay out the choices in rows of at most `width` cells, keeping each choice on one row."""
        pieces: list[Content] = []
        for index, choice in enumerate(self.choices):
            chosen = index == self._index
            style = "$foreground bold" if chosen else "$foreground 60%"
            label = content(f"{'●' if chosen else '○'} {choice.shown}", style)
            pieces.append(label.stylize(Style.from_meta({"choice": index})))
        if self._index is None and self._value is not ABSENT:
            pieces.append(content(f"⚠ {self._value!r} is not among these", "$text-warning"))
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
        """Choose the next value that starts with the typed letter."""
        letter = event.character.lower() if event.character and event.character.isalnum() else ""
        first = 0 if self._index is None else self._index + 1
        order = [(first + step) % len(self.choices) for step in range(len(self.choices))]
        found = [index for index in order if letter and self.choices[index].shown.lower().startswith(letter)]
        if found:
            event.stop()
            event.prevent_default()
            self._choose(found[0])

    def action_settle(self) -> None:
        """Choose the first value if none is chosen, else focus the next field."""
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
