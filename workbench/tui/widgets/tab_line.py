"""Show tabs, each with a count, or a few values to choose from, on a line.

Textual's `Tabs` takes two rows, scrolls if it does not fit, and needs 8 ms of processor time for new counts in five
tabs; this takes less than 1 ms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.style import Style
from textual.widget import Widget

from adapters.late_dataclasses import dataclass
from workbench.editing.field_values import ABSENT, Choice
from workbench.tui.keys import pane_keys
from workbench.tui.widgets.text.plain import QUIET, content, in_rows, key_hints, press_button

LONGEST_CUT = 8
"""Maximum characters of a name where names are cut."""
HIGH = 30
"""Rows of the screen from which names that do not fit get a second line instead of being shortened."""


class TabName(NamedTuple):
    """A tab: `mark` is a count or an error sign (`✗`) after the name; `short` replaces the name if room is short."""

    id: str
    name: str
    mark: str = ""
    wrong: bool = False
    short: str = ""


class TabLine(Widget, can_focus=True):
    """A line of tabs that posts `Chosen`; the screen then calls `show`."""

    BINDING_GROUP_TITLE = "Tabs"
    BINDINGS = pane_keys(
        "Tabs",
        ("left", "step(-1)", "Previous tab", "tabs.previous", "Go to the tab on the left"),
        ("right", "step(1)", "Next tab", "tabs.next", "Go to the tab on the right"),
    )

    @dataclass
    class Chosen(Message):
        """The user chose a tab by mouse or key; after a key, the focus stays on the line."""

        tab: str
        by_key: bool

    _tabs: tuple[TabName, ...] = ()
    _active = ""

    def show(self, tabs: Sequence[TabName], active: str) -> None:
        if (tuple(tabs), active) != (self._tabs, self._active):
            self._tabs, self._active = tuple(tabs), active
            self.refresh(layout=len(self._lines(self.size.width)) != self.size.height)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines(width))

    def _lines(self, width: int) -> tuple[tuple[TabName, ...], ...]:
        """Divide the tabs into lines: two where whole names need them and the screen is high."""
        is_whole = self._drawn("", {}, self._tabs).cell_length <= width
        half = len(self._tabs) // 2
        return (self._tabs,) if is_whole or self.app.size.height < HIGH else (self._tabs[:half], self._tabs[half:])

    def render(self) -> Content:
        """Draw the tabs, on two lines if there are two, with as much space between them as fits.

        If there is none, names are shortened, those that save most first, and then all are cut. The active name stays
        whole as long as the others need no cut for it.
        """
        if self.size.height > 1 and len(rows := self._lines(self.size.width)) > 1:
            return Content("\n").join([self._drawn(" ", {}, one) for one in rows])
        others = [one for one in self._tabs if one.short and one.id != self._active]
        others.sort(key=lambda one: len(one.short) - len(one.name))
        names: dict[str, str] = {}
        forms = [(" ", names), ("", names)]
        for one in others:
            names = {**names, one.id: one.short}
            forms.append(("", names))
        names = {one.id: one.short or one.name for one in self._tabs}
        forms.append(("", names))
        for longest in range(LONGEST_CUT, 1, -1):
            cut = {id: name if id == self._active else name[:longest] for id, name in names.items()}
            forms.append(("", cut))
        drawn = (self._drawn(gap, shown, self._tabs) for gap, shown in forms)
        return next((one for one in drawn if one.cell_length <= self.size.width), self._drawn(*forms[-1], self._tabs))

    def _drawn(self, gap: str, names: Mapping[str, str], tabs: Sequence[TabName]) -> Content:
        """Draw tabs with `gap` around each; `names` replaces the names of some."""
        pieces: list[Content | tuple[str, str]] = [(gap, "")]
        for tab in tabs:
            is_active = tab.id == self._active
            label = Content(names.get(tab.id, tab.name)).stylize(
                "$text-accent bold underline" if is_active else "$foreground 70%"
            )
            if tab.mark:
                style = "$text-error" if tab.wrong else QUIET
                label = Content.assemble(label, " ", Content(tab.mark).stylize(style))
            pieces.append(Content.assemble(gap, label, gap).stylize(Style.from_meta({"tab": tab.id})))
            pieces.append(("│", "$foreground 20%"))
        return Content.assemble(*pieces[:-1])

    def on_click(self, event: events.Click) -> None:
        tab = event.style.meta.get("tab")
        if isinstance(tab, str):
            self.post_message(self.Chosen(tab, by_key=False))

    def action_step(self, by: int) -> None:
        ids = [tab.id for tab in self._tabs]
        if self._active in ids:
            self.post_message(self.Chosen(ids[(ids.index(self._active) + by) % len(ids)], by_key=True))


APART = "   "
ARROWS = "{choice.previous|←}{choice.next|→}"
UNBOUNDED = 1_000_000


class ChoiceLine(Widget, can_focus=True):
    """A row of choices, the chosen one marked with `●`; a warning names a value that is none of them."""

    BINDING_GROUP_TITLE = "Choice"
    BINDINGS = pane_keys(
        "Choice",
        ("left,up", "step(-1)", "Previous", "choice.previous", "Choose the previous value"),
        ("right,down,space", "step(1)", "Next", "choice.next", "Choose the next value"),
        ("enter", "settle", "Next field", "choice.settle", "Go to the next field"),
        ("delete", "clear", "No value", "choice.clear", "Clear the value"),
    )

    def __init__(
        self, choices: Sequence[Choice], value: Any, on_choose: Callable[[Any], None], *, by_letter: bool = True
    ) -> None:
        super().__init__()
        self._by_letter = by_letter
        self.choices = tuple(choices)
        self._value = value
        self._on_choose = on_choose

    def show(self, value: Any) -> None:
        if value is not self._value:
            self._value = value
            self.refresh(layout=True)

    def render(self) -> Content:
        shown = self._within(self.content_size.width)
        hint = content(APART) + key_hints(self.app, ARROWS)
        used = shown.divide([shown.plain.rfind("\n") + 1])[-1].cell_length
        return shown + hint if self.has_focus and used + hint.cell_length <= self.content_size.width else shown

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return self._within(UNBOUNDED).cell_length

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._within(width).wrap(width)) if width else 1

    def _within(self, width: int) -> Content:
        """Lay out the choices in rows of at most `width` cells, keeping each choice on one row."""
        pieces: list[Content] = []
        for index, choice in enumerate(self.choices):
            chosen = index == self._index
            style = "$foreground bold" if chosen else QUIET
            label = content(f"{'●' if chosen else '○'} {choice.shown}", style)
            pieces.append(label.stylize(Style.from_meta({"choice": index})))
        if self._index is None and self._value is not ABSENT:
            pieces.append(content(f"⚠ {self._value!r} is not among these", "$text-warning"))
        return in_rows(pieces, APART, width)

    def on_click(self, event: events.Click) -> None:
        index = event.style.meta.get("choice")
        if isinstance(index, int):
            self._choose(index)
        else:
            press_button(self, event)

    def on_key(self, event: events.Key) -> None:
        """Choose the next value that starts with the typed letter, if letters choose."""
        letter = event.character.lower() if self._by_letter and event.character and event.character.isalnum() else ""
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
