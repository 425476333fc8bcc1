"""Choose from a list by typing part of a name, or type a new name.

A model is chosen among the offline models, those of the user's own servers, and litellm's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from textual import on, work
from textual.widget import Widget
from textual.widgets import Input, OptionList

from adapters.lm import model_list, servers
from adapters.lm.capabilities import split_model
from adapters.lm.model_list import ModelEntry
from sessions.errors import counted
from workbench.output.display import cell_width, one_line
from workbench.sending import model_choices
from workbench.tui.dialogs.ask import Dialog, OneLine
from workbench.tui.keys import pane_keys
from workbench.tui.textual_internals.access import EntryList, EntryRow
from workbench.tui.widgets.text.plain import QUIET, plain_notify

MOST_ENTRIES = 300
LONGEST_FILTER = 200
"""The number of characters of the search text that are used."""
MOST_ALIGNED, LONGEST_ALIGNED = 40, 16
"""The limits of an aligned list: its entries, and the cells of a name that leaves too few to its description."""
WIDE_FROM = 72
"""The width of an entry, in cells, above which the dialog is wide."""
MOST_ROWS = 20
ROWS_AROUND = 9
"""The number of the dialog's rows around its entries."""


class Entry(NamedTuple):
    """A choice: the value it returns, its name, and a description."""

    value: str
    name: str
    about: str = ""


class ChooseScreen(Dialog[str | None]):
    """Choose from a list; returns the value of the entry, None after escape.

    `free` makes an entry from a typed text that is not in the list; without it only listed entries can be chosen.
    """

    LONGEST_NAME = 0
    """The cells of a name up to which descriptions begin below one another in a list that is not aligned."""
    BINDINGS = pane_keys(
        "This dialog",
        ("escape", "dismiss(None)", "Close", "choose.close", "Close without a choice"),
        ("down", "move(1)", "Down", "choose.down", "Choose the entry below", True),
        ("up", "move(-1)", "Up", "choose.up", "Choose the entry above", True),
    )

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
        super().__init__(title, hint)
        self._entries = tuple(entries)
        self._placeholder = placeholder
        self._free = free
        self._current = current
        self._shown: list[Entry] = []
        self._list = EntryList()
        is_short = len(self._entries) <= MOST_ALIGNED
        longest_name, longest_about = [
            max([cell_width(one_line(text, 200)) for text in texts], default=0)
            for texts in ([one.name for one in self._entries], [one.about for one in self._entries])
        ]
        fits = longest_name + longest_about <= WIDE_FROM
        self._name_width = 0
        if is_short:
            self._name_width = longest_name if fits else min(LONGEST_ALIGNED, longest_name)
            if self._name_width + longest_about > WIDE_FROM:
                self.classes_of_frame = "-wide"

    def contents(self) -> Iterable[Widget]:
        # made before the list is mounted, or the dialog would be laid out again
        self._list.styles.max_height = self._most_rows
        self._narrow("")
        return OneLine("", self.take_lines, self._placeholder), self._list

    def on_resize(self) -> None:
        """Show as many entries as fit."""
        self._list.styles.max_height = self._most_rows

    @property
    def _most_rows(self) -> int:
        return self.share(self.app.size.height * 85 // 100 - ROWS_AROUND)

    def share(self, room: int) -> int:
        """Return the rows of this room that the entries get."""
        return max(4, min(MOST_ROWS, room))

    def found(self, typed: str) -> list[Entry]:
        """Return the matching entries, best first."""
        words = tuple(dict.fromkeys(typed[:LONGEST_FILTER].lower().split()))
        return [one for one in self._entries if all(word in self.searched_text(one) for word in words)]

    def searched_text(self, entry: Entry) -> str:
        """Return the text in which typed words find an entry."""
        return f"{entry.name} {entry.about}".lower()

    def place_of_typed(self, typed: str) -> int:
        """Return the place of the typed text among the entries: by default the last."""
        return len(self._shown)

    def take_lines(self, text: str) -> None:
        """Search for the first line of a pasted text."""
        self.query_one(Input).insert_text_at_cursor(text.strip().splitlines()[0])

    def say(self, said: str) -> None:
        """Show a message before the keys in the last line."""
        self._said = said
        self.show_last_line()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self._narrow(event.value)

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    def _enter(self) -> None:
        index = self._list.highlighted
        if index is not None and index < len(self._shown):
            self.choose(self._shown[index])

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_index < len(self._shown):
            self.preview(self._shown[event.option_index])

    def preview(self, entry: Entry | None) -> None:
        """Preview the highlighted entry; None after a search without matches."""

    def choose(self, entry: Entry) -> None:
        """Choose an entry, as enter does."""
        self.dismiss(entry.value)

    def action_move(self, by: int) -> None:
        if self._shown:
            self._list.highlighted = ((self._list.highlighted or 0) + by) % self._list.option_count

    def _narrow(self, typed: str) -> None:
        self._shown = self.found(typed)
        del self._shown[MOST_ENTRIES:]
        if typed.strip() and self._free is not None and not any(one.name == typed.strip() for one in self._shown):
            free = self._free(typed.strip())
            if free is not None:
                self._shown.insert(self.place_of_typed(typed), free)
        values = [one.value for one in self._shown]
        longest = max([len(one.name) for one in self._shown], default=0)
        name_width = self._name_width or min(self.LONGEST_NAME, longest)
        rows = [EntryRow(partial(self._parts, one, name_width)) for one in self._shown]
        self._list.show(rows or [EntryRow(lambda: [("  no match", QUIET)], disabled=True)], self._most_rows)
        if values:
            self._list.highlighted = values.index(self._current) if self._current in values and not typed else 0
        else:
            self.preview(None)

    def _parts(self, entry: Entry, name_width: int) -> Iterable[tuple[str, str]]:
        yield ("● ", "$text-accent") if entry.value == self._current else ("  ", "")
        name = one_line(entry.name, 100)
        yield name, "bold"
        if entry.about:
            pad = " " * max(0, name_width - cell_width(name))
            yield f"{pad}   {one_line(entry.about, 200)}", QUIET


class ChooseThemeScreen(ChooseScreen):
    """Choose a theme, with a live preview. The caller restores or sets the theme."""

    def __init__(self, names: Sequence[str], current: str) -> None:
        entries = [Entry(name, name, "ours" if name.startswith("workbench-") else "") for name in names]
        entries.sort(key=lambda one: (not one.about, one.name))
        super().__init__(
            "Theme", entries, hint="↑↓ preview   enter accept   {choose.close|esc} cancel", current=current
        )

    def preview(self, entry: Entry | None) -> None:
        if entry is not None:
            self.app.theme = entry.value


LOADING = "loading litellm's models …"
WELL_KNOWN = frozenset(split_model(name)[0] for name in model_choices.EXAMPLE_MODELS)
SERVER = "server "
"""The prefix of the provider in the value of a server's entry."""
LISTS = "enter lists its models"


class ModelScreen(ChooseScreen):
    """Choose a model; returns its name, None after escape.

    Threads read litellm's list (`litellm_models`) and ask a chosen server for its models; no model is called and
    litellm is not loaded. `only` limits the choice to these models and the offline models.
    """

    LONGEST_NAME = 27

    def __init__(
        self,
        title: str,
        current: str,
        *,
        litellm_models: Callable[[], Sequence[ModelEntry]] = model_list.litellm_models,
        only: Sequence[str] | None = None,
    ) -> None:
        super().__init__(
            title,
            (),
            placeholder="part of a name, or provider/model as in litellm" if only is None else "part of a name",
            free=_typed if only is None else None,
            current=current,
        )
        self._litellm_models = litellm_models
        self.classes_of_frame = "-wide"
        self._is_open = only is None
        allowed = [ModelEntry(name, split_model(name)[0]) for name in only or ()]
        self._known: tuple[ModelEntry, ...] = (*model_list.offline_models(), *allowed)
        self._listed: Sequence[ModelEntry] = ()
        self._of_servers: tuple[ModelEntry, ...] = ()
        self._servers: tuple[servers.Server, ...] = ()
        self._own: tuple[Entry, ...] = ()
        """An entry for each of the user's servers."""

    def contents(self) -> Iterable[Widget]:
        if self._is_open:
            try:
                self._servers = servers.known()
            except servers.ServersError as error:
                plain_notify(self.app, str(error), severity="warning")
            self._own = tuple(
                [
                    Entry(f"{SERVER}{one.provider}", f"{one.provider}/…", f"{one.place} ({one.source}): {LISTS}")
                    for one in self._servers
                ]
            )
            if self._litellm_models is model_list.litellm_models and model_list.is_read():
                self._listed = self._litellm_models()
                self._said = _counted(self._listed)
            else:
                self._said = LOADING
        return super().contents()

    def on_mount(self) -> None:
        if self._said == LOADING:
            self._load()

    def found(self, typed: str) -> list[Entry]:
        if not typed.strip():
            named = {one.name for one in (*self._known, *self._of_servers)}
            is_listed = self._current in named or not self._is_open
            current = [] if is_listed else [Entry(self._current, self._current, _remark(self._current))]
            by_name = {one.name: one for one in self._listed}
            examples = [
                _entry(by_name.get(name) or ModelEntry(name, split_model(name)[0]))
                for name in model_choices.EXAMPLE_MODELS
                if name != self._current and self._is_open
            ]
            return [*current, *map(_entry, (*self._of_servers, *self._known)), *self._own, *examples]
        words = typed.lower().split()
        fitting = [one for one in self._own if all(word in self.searched_text(one) for word in words)]
        models = (*self._of_servers, *self._known, *self._listed)
        found = model_list.search(models, typed)
        return [*fitting, *map(_entry, sorted(found, key=partial(_rank, words)))]

    def place_of_typed(self, typed: str) -> int:
        """Put a whole `provider/model` before models that merely resemble it: enter must not choose one of those."""
        words = typed.lower().split()
        near = [at for at, one in enumerate(self._shown) if not all(word in one.name.lower() for word in words)]
        return near[0] if near and "/" in typed else len(self._shown)

    def choose(self, entry: Entry) -> None:
        if not entry.value.startswith(SERVER):
            super().choose(entry)
            return
        server = next(one for one in self._servers if one.provider == entry.value.removeprefix(SERVER))
        self.say(f"asking {server.place} …")
        self._ask(server)

    @work(exit_on_error=False)
    async def _load(self) -> None:
        self._listed = await asyncio.to_thread(self._litellm_models)
        self._again(_counted(self._listed))

    @work(exit_on_error=False)
    async def _ask(self, server: servers.Server) -> None:
        names = await asyncio.to_thread(servers.models_at, server)
        if not names:
            why = "does not answer" if names is None else "has no model"
            self._again(f"{server.place} {why}; type {server.provider}/NAME")
            return
        others = tuple([one for one in self._of_servers if one.provider != server.provider])
        about = server.place
        self._of_servers = (*others, *(ModelEntry(name, server.provider, about) for name in names))
        self.query_one(Input).value = ""
        self._again(f"{server.name} has {counted(len(names), 'model')}")

    def _again(self, said: str) -> None:
        """Show new results, if the screen is still open."""
        if self.is_mounted:
            self.say(said)
            self._narrow(self.query_one(Input).value)


def _counted(listed: Sequence[ModelEntry]) -> str:
    return f"{len(listed):,} models of litellm" if listed else "litellm is not installed"


def _rank(words: Sequence[str], model: ModelEntry) -> tuple[bool, int]:
    """Rank literal matches first, then callable models, then well-known providers."""
    is_near = not all(word in model.name.lower() or word in model.description.lower() for word in words)
    if model.provider == "offline" or model.description or model_choices.key_of(model.provider).is_set:
        return is_near, 0
    return is_near, 1 if model.provider in WELL_KNOWN else 2


def _entry(model: ModelEntry) -> Entry:
    if model.provider == "offline" or model.description:
        return Entry(model.name, model.name, model.description)
    key, facts = model_choices.key_of(model.provider), model_choices.facts(model)
    if key.variable is None:
        return Entry(model.name, model.name, f"{key.remark} · {facts}")
    said = "set" if key.is_set else "not set"  # the name of the variable comes last: a narrow row ends at the price
    return Entry(model.name, model.name, f"key {said} · {facts} · {key.variable}")


def _remark(model: str) -> str:
    if model.startswith("offline/"):
        return "offline, named by this session"
    provider = split_model(model)[0]
    own = servers.USUAL.get(provider)
    if own is not None:
        return f"{own[0]}, your own server"
    remark, leaves = model_choices.key_of(provider).remark, model_choices.leaving(model)
    return remark if leaves is None else f"{remark}; {leaves}"


def _typed(name: str) -> Entry | None:
    if name.endswith("/") or "://" in name or name.startswith(SERVER):
        return None
    return Entry(name, name, f"as typed, through litellm; {_remark(name)}")
