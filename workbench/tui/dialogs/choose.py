"""Choosing one of many by typing a part of its name, or by typing a name that is not in the list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from workbench.output.display import cell_width, one_line
from workbench.tui.keys.key_words import keys_of
from workbench.tui.widgets.text.plain import PlainStatic, content, lines

_GROUP = Binding.Group("This dialog")

OUR_THEMES = "workbench-"
"""How the names of our own themes begin; they come first."""
MOST_ENTRIES = 300
LONGEST_FILTER = 200
"""Characters of what was typed that narrow the list down."""
MOST_ALIGNED, LONGEST_ALIGNED = 40, 16
"""Entries of a list in which what is said of each begins in one column, and cells that a name takes for that."""
WIDE_FROM = 72
"""Cells of an entry from which its dialog is wider than others."""
MOST_ROWS = 20
NOTHING = "nothing here has these words"
ROWS_AROUND = 9
"""Rows of a dialog that its entries do not take."""


class Entry(NamedTuple):
    """Something to choose: what is returned, its name, and one line about it."""

    value: str
    name: str
    about: str = ""


class ChooseScreen(ModalScreen[str | None]):
    """Returns the value of the chosen entry, None after escape.

    `free` makes an entry of a typed text that is none of the names (None: only what is listed can be chosen).
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Close", id="choose.close", tooltip="Close without a choice", group=_GROUP),
        Binding(
            "down",
            "move(1)",
            "Down",
            show=False,
            priority=True,
            id="choose.down",
            tooltip="The entry below",
            group=_GROUP,
        ),
        Binding(
            "up", "move(-1)", "Up", show=False, priority=True, id="choose.up", tooltip="The entry above", group=_GROUP
        ),
    ]

    def __init__(
        self,
        title: str,
        entries: Sequence[Entry],
        *,
        hint: str = "type to narrow down   ↑↓ enter   {choose.close|esc} closes",
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
            yield Input(placeholder=self._placeholder, compact=True)
            yield OptionList(compact=True)
            yield PlainStatic(
                lines((keys_of(self.app)(self._hint), "$foreground 60%")), classes="dialog-hint", id="choose-hint"
            )

    def on_mount(self) -> None:
        self._narrow("")

    def on_resize(self) -> None:
        """As many entries as fit with the rest of the dialog."""
        room = self.size.height * 85 // 100 - ROWS_AROUND
        self.query_one(OptionList).styles.max_height = max(4, min(MOST_ROWS, room))

    def found(self, typed: str) -> list[Entry]:
        """The entries that fit what was typed, best first."""
        words = tuple(dict.fromkeys(typed[:LONGEST_FILTER].lower().split()))
        return [one for one in self._entries if all(word in f"{one.name} {one.about}".lower() for word in words)]

    def say(self, said: str) -> None:
        """Puts a word in front of the keys in the last line."""
        hint = f"{said}   {self._hint}" if said else self._hint
        self.query_one("#choose-hint", PlainStatic).show(lines((keys_of(self.app)(hint), "$foreground 60%")))

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
        """What enter on an entry does."""
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
        """Nothing fits what was typed: what is shown of an entry is of none any more."""

    def _line(self, entry: Entry) -> Content:
        mark = ("● ", "$text-accent") if entry.value == self._current else ("  ", "")
        name = one_line(entry.name, 100)
        pad = " " * max(0, self._name_width - cell_width(name))
        about = f"{pad}   {one_line(entry.about, 200)}" if entry.about else ""
        return lines(mark, (name, "bold"), (about, "$foreground 60%"))


class ChooseThemeScreen(ChooseScreen):
    """The theme under the cursor is what everything looks like. Whoever opens it puts the theme back, or chooses."""

    def __init__(self, names: Sequence[str], current: str) -> None:
        ordered = sorted(names, key=lambda name: (not name.startswith(OUR_THEMES), name))
        entries = [Entry(name, name, "ours" if name.startswith(OUR_THEMES) else "") for name in ordered]
        super().__init__(
            "Theme", entries, hint="↑↓ shows it   enter accepts it   {choose.close|esc} keeps the last", current=current
        )

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_index < len(self._shown):
            self.app.theme = self._shown[event.option_index].value
