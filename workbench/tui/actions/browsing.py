"""Opening another session: which there are, and the question which one."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from sessions import examples
from sessions.file import store
from workbench.tui import remembered, session_cards
from workbench.tui.actions import files
from workbench.tui.dialogs.choose import Entry
from workbench.tui.session_cards import Card

if TYPE_CHECKING:
    from workbench.tui.host import Host
from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList

from workbench.output.display import one_line
from workbench.tui.dialogs.choose import LONGEST_FILTER, ChooseScreen
from workbench.tui.widgets.text.plain import PlainStatic, lines

QUIET = "$foreground 60%"
MOST_SIGNATURE_LINES = 12


class BrowseScreen(ChooseScreen):
    """Returns the value of an entry, None after escape. `cards` are those known already (of the examples).

    The files are looked into in a thread; typing finds them by file name, folder, name, tag, column and case.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "escape",
            "dismiss(None)",
            "Close",
            id="browse.close",
            tooltip="Close without opening anything",
            group=Binding.Group("This dialog"),
        )
    ]

    def __init__(self, entries: Sequence[Entry], cards: Mapping[str, Card]) -> None:
        super().__init__(
            "Open a session",
            entries,
            placeholder="part of a file name, session name, #tag, column or case; or any path",
            free=lambda typed: Entry(typed, typed, "this path") if "/" in typed or "." in typed else None,
            hint="type to narrow down   ↑↓ a glance at it   enter opens it   {browse.close|esc} closes",
        )
        self._cards = dict(cards)
        self._glance = PlainStatic(id="browse-glance")

    def on_mount(self) -> None:
        dialog = self.query_one(".dialog")
        dialog.add_class("-browse")
        dialog.mount(self._glance, before="#choose-hint")
        super().on_mount()
        self.run_worker(self._look_into_files, thread=True, exit_on_error=False)

    def found(self, typed: str) -> list[Entry]:
        words = tuple(dict.fromkeys(typed[:LONGEST_FILTER].lower().split()))
        return [one for one in self._entries if all(word in self._words_of(one) for word in words)]

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_index < len(self._shown):
            self._show_glance(self._shown[event.option_index])

    def nothing_found(self) -> None:
        self._glance.show(lines(("", QUIET)))

    def _show_glance(self, entry: Entry) -> None:
        card = self._cards.get(entry.value)
        self._glance.show(glance(card) if card is not None else lines(("…", QUIET)))

    def _look_into_files(self) -> None:
        """In a thread, which touches nothing of the screen."""
        for entry in self._entries:
            if not self.is_attached:
                return
            if entry.value not in self._cards:
                card = session_cards.read(Path(entry.value))
                self.app.call_from_thread(self._know, entry, card)

    def _know(self, entry: Entry, card: Card) -> None:
        self._cards[entry.value] = card
        if not self.is_attached:
            return
        index = self.query_one(OptionList).highlighted
        if index is not None and index < len(self._shown) and self._shown[index] is entry:
            self._show_glance(entry)

    def _words_of(self, entry: Entry) -> str:
        card = self._cards.get(entry.value, Card())
        tags = " ".join(f"#{one}" for one in card.tags)
        return " ".join((entry.name, entry.about, card.name, tags, *card.columns, *card.cases)).lower()


def glance(card: Card) -> Content:
    """What is shown of a session before it is opened."""
    if card.wrong:
        return lines((f"✗ {card.wrong}", "$text-warning"))
    parts: list[tuple[str, str] | str] = [(one_line(card.name, 60) or "without a name", "bold")]
    parts.append(("".join(f"  #{one_line(tag, 20)}" for tag in card.tags[:6]), "$text-accent"))
    counts = [
        f"{len(card.cases)} case{'s' if len(card.cases) != 1 else ''}",
        f"{card.demos} demo{'s' if card.demos != 1 else ''}",
        f"{card.recordings} recorded",
    ]
    parts.append((f"\n{' · '.join(counts)}   {one_line(card.model, 40)}", QUIET))
    parts.append((f"\n{one_line(', '.join(card.columns), 90)}\n", "$text-secondary"))
    shown = [line for line in card.signature.split("\n") if line.strip()]
    start = next((index for index, line in enumerate(shown) if "Signature)" in line), 0)
    parts += [f"\n{one_line(line, 90)}" for line in shown[start : start + MOST_SIGNATURE_LINES]]
    return lines(*parts)


MOST_FILES = 500
EXAMPLE = "example:"
"""In front of the name of an example, in the place of a path."""


async def open_session(host: Host) -> None:
    """Asks which session, and opens it; work that is not saved is asked about first."""
    chosen = await choose_session(host)
    if chosen is None or not await files.may_let_go(host):
        return
    if chosen.startswith(EXAMPLE):
        name = chosen.removeprefix(EXAMPLE)
        host.load(examples.load(name), None)
        host.guidance.show(is_first=name == examples.FIRST)
        return
    files.open_path(host, Path(chosen).expanduser())


async def choose_session(host: Host) -> str | None:
    """The path of a file, or `EXAMPLE` and a name; None when nothing was chosen."""
    folder = host.document.folder
    recent = [Path(one) for one in remembered.load().recent]
    return await host.app.push_screen_wait(BrowseScreen(entries_of(folder, recent), _cards_of_examples()))


def entries_of(folder: Path, recent: list[Path]) -> list[Entry]:
    """The files opened last that are still there, then the others of the folder, then the examples."""
    here = os.path.realpath(folder)
    last = [one for one in recent if one.is_file()]
    known = {os.path.realpath(one) for one in last}
    others = [one for one in _json_files(folder) if os.path.realpath(one) not in known]
    entries = [Entry(str(one), one.name, "opened before" + _where(one, here)) for one in last]
    entries += [Entry(str(one), one.name, "here") for one in others]
    return [*entries, *(Entry(EXAMPLE + one, one, "example") for one in examples.ALL)]


def _where(path: Path, here: str) -> str:
    return "" if os.path.realpath(path.parent) == here else f", {path.parent}"


def _json_files(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == ".json" and path.is_file())[:MOST_FILES]
    except OSError:
        return []


def _cards_of_examples() -> dict[str, Card]:
    loaded = {name: json.loads(store.dumps(examples.load(name))) for name in examples.ALL}
    return {EXAMPLE + name: session_cards.card_of(data) for name, data in loaded.items()}
