"""Open the lesson, the pages of F7, the help and jump mode."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Markdown
from rich.style import Style
from rich.theme import Theme
from textual import events
from textual.app import App, ComposeResult
from textual.binding import ActiveBinding
from textual.color import Color
from textual.command import CommandPalette
from textual.containers import VerticalScroll
from textual.errors import NoWidget
from textual.geometry import Offset, Region
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Static

from adapters.late_dataclasses import dataclass
from workbench.state.document import Place, RenderedColumn
from workbench.tui.dialogs.ask import Dialog
from workbench.tui.host import Host, answer_to
from workbench.tui.keys import keys_of, pane_keys, short_form
from workbench.tui.pages.page import LookedAt
from workbench.tui.screens.lesson import LessonScreen
from workbench.tui.screens.main import MainScreen
from workbench.tui.screens.pages import PagesScreen
from workbench.tui.widgets.text.plain import PlainStatic, lines

HELP = Path(__file__).parents[1] / "help.md"
THE_WORKBENCH = "The workbench"
"""The section of `HELP` that follows the help of every pane of the main screen."""


def sections() -> dict[str, str]:
    """Read the help of each pane and screen, by its `BINDING_GROUP_TITLE`."""
    found = HELP.read_text(encoding="utf-8").split("## ")[1:]
    return {one.partition("\n")[0]: f"## {one}" for one in found}


@dataclass(eq=False)
class _ThemedMarkdown:
    """Markdown in the colors of the theme, as one text: Textual's own widget mounts one for each paragraph."""

    _markdown: Markdown
    _app: App[Any]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        colors = self._app.theme_variables
        accent, code = [Color.parse(colors[one]).rich_color for one in ("text-accent", "text-warning")]
        accented = Style(color=accent, bold=True)
        theme = Theme({"markdown.h2": accented, "markdown.item.number": accented, "markdown.code": Style(color=code)})
        with console.use_theme(theme):
            yield from console.render(self._markdown, options)


Groups = dict[str, dict[str, tuple[str, str]]]
"""The keys of each group, and what they do, by id."""


class _KeyList(PlainStatic):
    """Keys in groups, each with its text and id, wrapped within their own column."""

    def __init__(self, groups: Groups) -> None:
        super().__init__(classes="dialog-text")
        self._groups = groups

    def on_resize(self) -> None:
        pressed = [keys for rows in self._groups.values() for keys, _ in rows.values()]
        indent = max([18, *map(len, pressed)]) + 4
        room = max(20, self.size.width - indent)
        parts: list[tuple[str, str] | str] = []
        for group, rows in self._groups.items():
            parts.append((f"\n{group}\n", "bold $text-accent"))
            for id, (keys, said) in rows.items():
                wrapped = textwrap.wrap(said, room)
                gap = "  " if len(wrapped[-1]) + 2 + len(id) <= room else "\n" + " " * indent
                parts += [(f"  {keys}".ljust(indent), "bold"), ("\n" + " " * indent).join(wrapped)]
                parts.append((f"{gap}{id}\n", "$foreground 40%"))
        self.show(lines(*parts))


class HelpScreen(Dialog[None]):
    classes_of_frame = "-large"
    APP_ACTIONS: frozenset[str] = frozenset()
    BINDINGS = pane_keys(
        "This page",
        ("escape,f1,q", "dismiss(None)", "Close", "help.close", "Close the help"),
    )

    def __init__(self, texts: Iterable[str], bindings: Iterable[ActiveBinding], key_names: dict[str, str]) -> None:
        super().__init__("Help", "↑↓ scroll   {help.close|esc} close")
        self._texts = texts
        self._active = tuple(bindings)
        self._key_names = key_names

    def contents(self) -> Iterable[Widget]:
        keys = keys_of(self.app)
        texts = [_ThemedMarkdown(Markdown(keys(one)), self.app) for one in self._texts if one]
        explained = [Static(one, classes="dialog-help") for one in texts]
        groups: Groups = {}
        for _, binding, _, tooltip in self._active:
            if not binding.id or binding.system:
                continue
            group = binding.group.description if binding.group is not None else "This pane"
            pressed, _ = groups.setdefault(group, {}).get(binding.id, ("", ""))
            key = self._key_names.get(binding.key, binding.key)
            groups[group][binding.id] = (f"{pressed} {key}".strip(), tooltip or binding.description)
        yield VerticalScroll(*explained, _KeyList(groups))


LETTERS = "asdfghjklqwertyuiopzxcvbnm1234567890"


class JumpScreen(ModalScreen[Widget | None]):
    """Choose a widget by its letter; returns None for any other key. `targets` are widgets and their places."""

    BINDINGS = pane_keys(
        "Jump",
        ("escape", "dismiss(None)", "Stay", "jump.close", "Stay where you are"),
    )

    def __init__(self, targets: Mapping[str, tuple[Widget, Offset]]) -> None:
        super().__init__()
        self._targets = targets

    def compose(self) -> ComposeResult:
        for letter, (_, place) in self._targets.items():
            label = PlainStatic(lines((f" {letter} ", "bold")), classes="jump-label")
            label.styles.offset = place
            yield label
        hint = keys_of(self.app)("type a letter to go there   {jump.close|esc} stay")
        yield PlainStatic(lines((hint, "$foreground 80%")), id="jump-hint")

    def on_key(self, event: events.Key) -> None:
        if event.key != "escape":
            event.stop()
            if not self.is_current:
                return  # another key that arrived at the same moment
            target = self._targets.get((event.character or "").lower())
            self.dismiss(target[0] if target is not None else None)


def open_lesson(host: Host, at: int = 0) -> None:
    """Open the lesson of the focused column at a step (from 0), or close the open lesson."""
    if isinstance(host.app.screen, LessonScreen):
        host.app.screen.dismiss(None)
    elif len(host.app.screen_stack) == 1:
        columns, index = columns_and_current(host)
        if columns:
            host.app.push_screen(LessonScreen(columns, index, at))


def open_pages(host: Host, page: str) -> None:
    """Open a page of the focused column, or switch the open pages to it."""
    if isinstance(host.app.screen, PagesScreen):
        host.app.screen.action_page(page)
        return
    found, index = columns_and_current(host)
    if len(host.app.screen_stack) > 1 or not found:
        return

    def look(step: int) -> LookedAt:
        state = host.document.state
        columns = columns_and_current(host)[0]
        runs = {one.column.id: host.main.runs.of(state.case.name, one.column.id) for one in columns}
        known = {id: run for id, run in runs.items() if run is not None}
        sent = {id: request for (case, id), request in host.main.replies.requests.items() if case == state.case.name}
        shown = columns[(index + step) % len(columns)]
        painted = {one.column.id: host.main.columns.column(one.column.id) for one in columns}
        counted = {id: one.counted for id, one in painted.items() if one is not None and one.counted is not None}
        return LookedAt(state.session, state.case, shown, tuple(columns), known, sent, host.key_words, counted)

    def go(place: Place | None) -> None:
        if place is not None:
            host.main.go_to(place)

    host.app.push_screen(PagesScreen(look, page), go)


def open_help(host: Host) -> None:
    """Show the focused column's card; outside columns, and on the card, explain the pane and list its keys.

    On the card, the keys of the column's prompt or reply are listed too.
    """
    screen = host.app.screen
    if screen is host.main and host.main.columns.has_focus_within:
        open_pages(host, "card")
        return
    if isinstance(screen, (HelpScreen, CommandPalette)):
        return
    is_on_a_column = isinstance(screen, PagesScreen) and host.main.columns.has_focus_within
    about: list[Screen[Any]] = [host.main, screen] if is_on_a_column else [screen]
    helps = sections()
    texts: list[str] = []
    for one in about:  # the help of the focused pane, else of the current tab
        nodes: list[Any] = one.focused.ancestors_with_self if one.focused is not None else []
        if isinstance(one, MainScreen) and not one.columns.has_focus_within:
            explained = (*one.editors.visible_panes, one.editors.notes)
            if not any(pane in nodes for pane in explained):
                nodes = [one.editors.panes[one.editors.tab]]
        texts += [helps[node.BINDING_GROUP_TITLE] for node in nodes if node.BINDING_GROUP_TITLE in helps][:1]
    bindings = [binding for one in about for binding in one.active_bindings.values()]
    names = {one.binding.key: short_form(one.binding.key) for one in bindings}
    overview = helps[THE_WORKBENCH] if screen is host.main else ""
    host.app.push_screen(HelpScreen(("\n".join(texts), overview), bindings, names))


async def jump(host: Host) -> None:
    """Show a letter on every widget that can be focused; typing it focuses that widget."""
    screen = host.app.screen
    found: list[tuple[Region, Widget]] = []
    for one in screen.query("*"):
        if one.focusable and one.display:
            try:
                region = screen.find_widget(one).visible_region
            except NoWidget:
                continue  # behind a tab
            if region.area:
                found.append((region, one))
    found.sort(key=lambda placed: (placed[0].x, placed[0].y))  # from left to right
    targets = {letter: (one, region.offset) for letter, (region, one) in zip(LETTERS, found, strict=False)}
    widget = await answer_to(host, JumpScreen(targets))
    if widget.is_attached:
        widget.focus()


def columns_and_current(host: Host) -> tuple[list[RenderedColumn], int]:
    """Return all columns, and the index of the focused column."""
    columns = host.main.columns.rendered
    current = host.main.shown_column()
    index = next((number for number, one in enumerate(columns) if current is not None and one is current), 0)
    return columns, index
