"""Choose from a list by typing part of a name, or type a new name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from workbench.output.display import cell_width, one_line
from workbench.tui.dialogs.ask import OneLine
from workbench.tui.keys.bindings import KeyGroup
from workbench.tui.widgets.text.plain import PlainStatic, content, key_hints, lines

_key = KeyGroup("This dialog", "choose")

OUR_THEMES = "workbench-"
"""The prefix of this project's themes, which are listed first."""
MOST_ENTRIES = 300
LONGEST_FILTER = 200
"""The number of characters of the search text that are used."""
MOST_ALIGNED, LONGEST_ALIGNED = 40, 16
"""The limits of an aligned list: its entries, and the cells of a name."""
WIDE_FROM = 72
"""The width of an entry, in cells, above which the dialog is wide."""
MOST_ROWS = 20
NOTHING = "no match"
ROWS_AROUND = 9
"""The number of the dialog's rows around its entries."""


class Entry(NamedTuple):
    """A choice: the value it returns, its name, and a description."""

    value: str
    name: str
    about: str = ""


class ChooseScreen(ModalScreen[str | None]):
    """Choose from a list; returns the value of the entry, None after escape.

    `free` makes an entry from a typed text that is not in the list; without it only listed entries can be chosen.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        _key("escape", "dismiss(None)", "close", "Close", "Close without a choice"),
        _key("down", "move(1)", "down", "Down", "Choose the entry below", show=False, priority=True),
        _key("up", "move(-1)", "up", "Up", "Choose the entry above", show=False, priority=True),
    ]

    def __init__(
        self,
        title: str,
        entries: Sequence[Entry],
        *,
        hint: str = "type to search   ↑↓ enter   {choose.close|esc} close",
        placeholder: str = "",
        free: Callable[[str], Entry | None] | None = None,
        current: str = "",
    ) -> None:
        super().__init__()
        self._title = title
        self._entries = tuple(entries)
        self._hint = hint
        self._placeholder = placeholder
        self._free = free
        self._current = current
        self._shown: list[Entry] = []
        is_short = len(self._entries) <= MOST_ALIGNED
        self._name_width = min(LONGEST_ALIGNED, self._longest(lambda one: one.name)) if is_short else 0
        self._is_wide = is_short and self._name_width + self._longest(lambda one: one.about) > WIDE_FROM

    def _longest(self, of: Callable[[Entry], str]) -> int:
        return max([cell_width(one_line(of(one), 200)) for one in self._entries], default=0)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -wide" if self._is_wide else "dialog") as dialog:
            dialog.border_title = content(f" {self._title} ")
            yield OneLine("", self.take_lines, self._placeholder)
            yield OptionList(compact=True)
            yield PlainStatic(key_hints(self.app, self._hint), classes="dialog-hint", id="choose-hint")

    def on_mount(self) -> None:
        self._narrow("")

    def on_resize(self) -> None:
        """Show as many entries as fit."""
        room = self.size.height * 85 // 100 - ROWS_AROUND
        self.query_one(OptionList).styles.max_height = max(4, min(MOST_ROWS, room))

    def found(self, typed: str) -> list[Entry]:
        """Return the matching entries, best first."""
        words = tuple(dict.fromkeys(typed[:LONGEST_FILTER].lower().split()))
        return [one for one in self._entries if all(word in f"{one.name} {one.about}".lower() for word in words)]

    def take_lines(self, text: str) -> None:
        """Search for the first line of a pasted text."""
        self.query_one(Input).insert_text_at_cursor(text.strip().splitlines()[0])

    def say(self, said: str) -> None:
        """Show a message before the keys in the last line."""
        hint = f"{said}   {self._hint}" if said else self._hint
        self.query_one("#choose-hint", PlainStatic).show(key_hints(self.app, hint))

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self._narrow(event.value)

    @on(Input.Submitted)
    def _enter(self) -> None:
        index = self.query_one(OptionList).highlighted
        if index is not None and index < len(self._shown):
            self.choose(self._shown[index])

    @on(OptionList.OptionSelected)
    def _select(self, event: OptionList.OptionSelected) -> None:
        self.choose(self._shown[event.option_index])

    def choose(self, entry: Entry) -> None:
        """Choose an entry, as enter does."""
        self.dismiss(entry.value)

    def action_move(self, by: int) -> None:
        options = self.query_one(OptionList)
        if self._shown:
            options.highlighted = ((options.highlighted or 0) + by) % options.option_count

    def _narrow(self, typed: str) -> None:
        self._shown = self.found(typed)
        del self._shown[MOST_ENTRIES:]
        if typed.strip() and self._free is not None and not any(one.name == typed.strip() for one in self._shown):
            free = self._free(typed.strip())
            if free is not None:
                self._shown.append(free)
        options = self.query_one(OptionList)
        options.clear_options()
        options.add_options([Option(self._line(one)) for one in self._shown])
        values = [one.value for one in self._shown]
        if values:
            options.highlighted = values.index(self._current) if self._current in values and not typed else 0
        else:
            options.add_option(Option(content(f"  {NOTHING}", "$foreground 60%"), disabled=True))
            self.nothing_found()

    def nothing_found(self) -> None:
        """Handle a search without matches; subclasses with a preview clear it."""

    def _line(self, entry: Entry) -> Content:
        mark = ("● ", "$text-accent") if entry.value == self._current else ("  ", "")
        name = one_line(entry.name, 100)
        pad = " " * max(0, self._name_width - cell_width(name))
        about = f"{pad}   {one_line(entry.about, 200)}" if entry.about else ""
        return lines(mark, (name, "bold"), (about, "$foreground 60%"))


class ChooseThemeScreen(ChooseScreen):
    """Choose a theme, with a live preview. The caller restores or sets the theme."""

    def __init__(self, names: Sequence[str], current: str) -> None:
        ordered = sorted(names, key=lambda name: (not name.startswith(OUR_THEMES), name))
        entries = [Entry(name, name, "ours" if name.startswith(OUR_THEMES) else "") for name in ordered]
        super().__init__(
            "Theme", entries, hint="↑↓ preview   enter accept   {choose.close|esc} cancel", current=current
        )

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_index < len(self._shown):
            self.app.theme = self._shown[event.option_index].value
