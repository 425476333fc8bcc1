"""The command palette, which lists everything the app can do by name."""

from __future__ import annotations

from collections.abc import Callable, Container, Coroutine, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.command import CommandList, CommandPalette, Hits, Provider
from textual.dom import DOMNode
from textual.geometry import Size
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input
from textual.worker import Worker, WorkerState

from adapters.formats import catalog
from workbench.editing import edits
from workbench.exporting.forms import FORMS
from workbench.state.document import Place
from workbench.tui.actions import benching, checking, columns, exporting, files, looking, past_runs, sending
from workbench.tui.host import Host
from workbench.tui.keys import ACTIONS, APP_BINDINGS, ON_A_DIALOG, short_form
from workbench.tui.panes.editors import EDITORS
from workbench.tui.panes.signature import PREDICTORS
from workbench.tui.screens.pages import PAGES
from workbench.tui.textual_internals.access import KeepsReverse, own_bindings
from workbench.tui.textual_internals.row_compositor import OneLayout
from workbench.tui.widgets.prompt.prompt_view import PromptView
from workbench.tui.widgets.text.plain import palette_discovery, palette_hit


class Command(NamedTuple):
    """A palette entry."""

    name: str
    about: str
    run: Callable[[], Any]


def provider_of(host: Host) -> type[Provider]:
    """Return a provider class of the commands, which Textual instantiates for each palette."""

    class Commands(Provider):
        async def discover(self) -> Hits:
            for command in commands_of(host, self.screen):
                yield palette_discovery(command.name, command.run, command.about)

        async def search(self, query: str) -> Hits:
            matcher = self.matcher(query)
            for command in commands_of(host, self.screen):
                hit = palette_hit(matcher, command.name, command.run, command.about)
                if hit is not None:
                    yield hit

    return Commands


class Entries(CommandList, KeepsReverse):
    """Textual's list of commands, whose entries are not measured while there are more than rows on the screen."""

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the height, or the number of entries if that is more than is shown anyway."""
        if self.option_count > viewport.height:
            return self.option_count
        return super().get_content_height(container, viewport, width)


class Palette(CommandPalette, OneLayout[None]):
    """Textual's palette, except that enter waits for the search to end, and that its list is `Entries`."""

    _held: Input.Submitted | None = None

    def compose(self) -> ComposeResult:
        for part in super().compose():
            yield Entries() if isinstance(part, CommandList) else part

    @on(Input.Changed)
    def _type_on(self) -> None:
        self._held = None

    @on(Input.Submitted)
    def _hold_while_searching(self, event: Input.Submitted) -> None:
        """Hold enter until the search ends; Textual would run an entry of the outdated list."""
        if any(one.node is self and not one.is_finished for one in self.workers):
            event.stop()
            event.prevent_default()
            self._held = event

    @on(Worker.StateChanged)
    def _take(self, event: Worker.StateChanged) -> None:
        """Run the held enter once the search has ended."""
        held = self._held
        if held is not None and event.state is WorkerState.SUCCESS:
            self._held = None
            self.post_message(Input.Submitted(held.input, held.value))


def commands_of(host: Host, screen: Screen[Any]) -> Iterator[Command]:
    """List the commands for the front screen; in a lesson, page or dialog only those of its keys."""
    if screen is not host.main:
        yield from _own_keys(host, [screen])
        yield from _app_keys(host, getattr(screen, "APP_ACTIONS", ON_A_DIALOG) - {"lesson", "look"})  # both are open
        return
    yield from _app_keys(host, ACTIONS)
    for answer in exporting.COPIES:
        yield Command(f"Copy: {answer.name}", answer.about, _asks(host, exporting.copy, answer.value))
    for form in FORMS.values():
        yield Command(f"Export as {form.title}", form.about, _asks(host, exporting.export, form.name))
    yield from _view(host)
    yield from _session(host)
    yield from _own_keys(host, screen.focused.ancestors_with_self if screen.focused is not None else ())
    choose_theme = host.preferences.choose_theme
    yield Command("Theme…", "Choose a theme, with a live preview", lambda: host.ask(choose_theme()))
    yield Command("Compact spacing", "Toggle compact spacing", host.preferences.toggle_compact)


def _app_keys(host: Host, actions: Container[str]) -> Iterator[Command]:
    """List the commands of the app's keys for these actions; Quit comes last."""
    for binding in sorted(APP_BINDINGS, key=lambda one: one.action == "leave"):
        name = binding.action.partition("(")[0]
        if name in actions and name != "command_palette" and (name != "follow_teacher" or host.teacher is not None):
            yield _command(host, binding, None)


def _own_keys(host: Host, nodes: Iterable[DOMNode]) -> Iterator[Command]:
    """List the commands of the keys that these panes or screens define."""
    seen: set[str] = set()
    for node in nodes:
        declared = [
            getattr(one, "id", None) for one in getattr(node, "BINDINGS", ())
        ]  # else Textual's own bindings would come first
        own = own_bindings(node) if isinstance(node, Widget) else ()
        for one in sorted(own, key=lambda one: declared.index(one.id) if one.id in declared else len(declared)):
            if one.id and one.id not in seen and not one.id.startswith("app.") and one.tooltip:
                seen.add(one.id)
                yield _command(host, one, node)


def _command(host: Host, binding: Binding, node: DOMNode | None) -> Command:
    settings = host.preferences.settings
    keys = (settings.keymap if settings is not None else {}).get(binding.id or "", binding.key)
    shown = short_form(keys.partition(",")[0].strip())
    return Command(
        f"{binding.description}   {shown}", binding.tooltip, partial(host.app.run_action, binding.action, node)
    )


def _view(host: Host) -> Iterator[Command]:
    main = host.main
    share, width = "Move the line between prompts and replies", "Move the line between editors and columns"
    yield Command("More room for prompts", share, partial(main.columns.resize_prompts, 0.1))
    yield Command("More room for replies", share, partial(main.columns.resize_prompts, -0.1))
    yield Command("More room for editors", width, partial(main.widen_editors, 8))
    yield Command("More room for columns", width, partial(main.widen_editors, -8))
    if main.editors.notes.display:
        yield Command("Go to: notes", "Go to the warnings below the editors", main.editors.notes.lines.focus)
    for tab in EDITORS:
        yield Command(f"Go to: {tab}", "Go to this editor", partial(main.editors.focus_on, tab))
    for page, about in PAGES.items():
        yield Command(f"Inspect: {about.tab}", "Inspect the focused column", partial(looking.open_pages, host, page))
    for column in main.columns.all:
        yield Command(
            f"Go to: column {column.column_id}",
            "Go to its prompt",
            partial(main.columns.focus_on, column.column_id, PromptView),
        )


def _session(host: Host) -> Iterator[Command]:
    main, session = host.main, host.document.session
    for index, case in enumerate(session.cases):
        yield Command(f"Case: {case.name}", "Show this case", partial(main.show_case, index))
    for predictor in PREDICTORS:
        change = partial(edits.set_signature, predictor=predictor)
        run = partial(main.edit, change, Place("signature", field="predictor"), "predictor")
        about = "Choose who calls the signature: Predict, or a part of an agent"
        yield Command(f"Predictor: {predictor}", about, run)
    for adapter in (*catalog.NAMES, *columns.release_adapters()):
        about = catalog.profile(adapter).about
        shown = [one for one in session.columns if one.adapter == adapter]
        if shown:
            yield Command(f"Hide column: {adapter}", "Remove it from the screen", partial(columns.hide, host, adapter))
        else:
            yield Command(f"Show column: {adapter}", about, partial(columns.show, host, adapter))
    for column in session.columns:
        for side, by in (("left", -1), ("right", 1)):
            run = partial(columns.move, host, column.id, by)
            yield Command(f"Move column {side}: {column.id}", "Move it by one place", run)
    about = "Record prompt and reply of all columns of this case for checks"
    yield Command("Record every column", about, lambda: checking.record_columns(host, main.columns.rendered))
    about = "Restore a version that a save of this file replaced"
    yield Command("Restore an earlier version", about, _asks(host, files.restore_earlier))
    if host.confinement.hands_out:
        about = "Download a file from your folder here"
        yield Command("Download a file", about, _asks(host, exporting.choose_download))
    about = "Show results of `workbench bench`: cases × columns, every reply"
    yield Command("Bench: the grid", about, _asks(host, benching.look_at_bench))
    yield Command("Remove this value", "Clear the focused field", main.editors.clear_field)
    for answer in sending.OTHER_WAYS:
        send = _asks(host, sending.choose_way, answer.value)
        yield Command(f"Send: {answer.name.lower()}", answer.about, send)
    rendered = main.shown_column()
    if rendered is not None:
        for answer in columns.answers(host, rendered.column):
            name = f"Column {rendered.column.id}: {answer.name}"
            yield Command(name, answer.about, _asks(host, columns.do, rendered.column, answer.value))
    about = "Keep the runs of this session for later searches, or stop keeping them"
    yield Command("Private: keep no runs of this session", about, partial(past_runs.toggle_private, host))
    about = "Forget which hosts may receive API keys"
    yield Command("Reset API key permissions", about, host.sending.hosts.forget)


def _asks(host: Host, dialog: Callable[..., Coroutine[Any, Any, Any]], *arguments: Any) -> Callable[[], None]:
    return lambda: host.ask(dialog(host, *arguments))
