"""Show tabs on a line, each with a count.

Textual's `Tabs` takes two rows, scrolls if it does not fit, and needs 8 ms of processor time for new counts in five
tabs; this takes less than 1 ms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple

from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.style import Style
from textual.widget import Widget

from workbench.tui.keys.bindings import pane_keys

LONGEST_CUT = 8
"""Maximum characters of a name where names are cut."""


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
    BINDINGS: ClassVar[list[BindingType]] = pane_keys(
        "Tabs",
        ("left", "step(-1)", "Previous tab", "tabs.previous", "Go to the tab on the left"),
        ("right", "step(1)", "Next tab", "tabs.next", "Go to the tab on the right"),
    )

    class Chosen(Message):
        """The user chose a tab by mouse or key; after a key, the focus stays on the line."""

        def __init__(self, id: str, by_key: bool) -> None:
            super().__init__()
            self.tab, self.by_key = id, by_key

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._tabs: tuple[TabName, ...] = ()
        self._active = ""

    def show(self, tabs: Sequence[TabName], active: str) -> None:
        if (tuple(tabs), active) != (self._tabs, self._active):
            self._tabs, self._active = tuple(tabs), active
            self.refresh()

    def render(self) -> Content:
        """Draw the tabs with as much space between them as fits.

        If there is none, names are shortened, those that save most first, and then all are cut. The active name stays
        whole as long as the others need no cut for it.
        """
        others = [one for one in self._tabs if one.short and one.id != self._active]
        others.sort(key=lambda one: len(one.short) - len(one.name))
        names = {one.id: one.name for one in self._tabs}
        forms = [(" ", names), ("", names)]
        for one in others:
            names = {**names, one.id: one.short}
            forms.append(("", names))
        names = {one.id: one.short or one.name for one in self._tabs}
        forms.append(("", names))
        for longest in range(LONGEST_CUT, 1, -1):
            cut = {id: name if id == self._active else name[:longest] for id, name in names.items()}
            forms.append(("", cut))
        for gap, shown in forms:
            made = self._drawn(gap, shown)
            if made.cell_length <= self.size.width:
                break
        return made

    def _drawn(self, gap: str, names: Mapping[str, str]) -> Content:
        """Draw the tabs with `gap` around each, using the names in `names`."""
        pieces: list[Content | tuple[str, str]] = [(gap, "")]
        for tab in self._tabs:
            is_active = tab.id == self._active
            label = Content(names[tab.id]).stylize("$text-accent bold underline" if is_active else "$foreground 70%")
            if tab.mark:
                style = "$text-error" if tab.wrong else "$foreground 60%"
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
