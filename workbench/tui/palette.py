"""Everything the app can do, by name, in the command palette."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from textual import on
from textual.command import CommandPalette, Hits, Provider
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input
from textual.worker import Worker, WorkerState

from adapters.formats import catalog
from workbench.editing import edits
from workbench.exporting.forms import FORMS
from workbench.state.document import Place
from workbench.tui.actions import (
    benching,
    cases,
    columns,
    copying,
    downloading,
    exporting,
    files,
    looking,
    past_runs,
    recording,
    sending,
    thresholds,
)
from workbench.tui.keys.bindings import APP_BINDINGS, ON_A_DIALOG
from workbench.tui.keys.key_words import in_short
from workbench.tui.keys.keymap import first_key
from workbench.tui.panes.editors import EDITORS
from workbench.tui.screens.pages import PAGES
from workbench.tui.textual_internals.own_bindings import own_bindings
from workbench.tui.widgets.prompt.prompt_view import PromptView
from workbench.tui.widgets.text.plain import palette_discovery, palette_hit

if TYPE_CHECKING:
    from workbench.tui.host import Host


class Command(NamedTuple):
    """One entry of the palette."""

    name: str
    about: str
    run: Callable[[], Any]


def provider_of(host: Host) -> type[Provider]:
    """The commands as Textual takes them: a class, of which it makes an object for each palette that is opened."""

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


class Palette(CommandPalette):
    """Textual's palette, whose enter means what was typed: the list lags behind whoever types fast."""

    def __init__(self, provider: type[Provider]) -> None:
        super().__init__(providers=[provider])
        self._held: Input.Submitted | None = None

    @on(Input.Changed)
    def _type_on(self) -> None:
        self._held = None

    @on(Input.Submitted)
    def _hold_while_searching(self, event: Input.Submitted) -> None:
        """Comes before Textual's own answer to enter, which takes what the list offers at that moment."""
        if any(one.node is self and not one.is_finished for one in self.workers):
            event.stop()
            event.prevent_default()
            self._held = event

    @on(Worker.StateChanged)
    def _take(self, event: Worker.StateChanged) -> None:
        """Enter, once what was typed is found."""
        held = self._held
        if held is not None and event.state is WorkerState.SUCCESS:
            self._held = None
            self.post_message(Input.Submitted(held.input, held.value))


def open_palette(host: Host) -> None:
    """Opens the palette, unless it is open."""
    if not CommandPalette.is_open(host.app):
        host.app.push_screen(Palette(provider_of(host)))


def commands_of(host: Host, screen: Screen[Any]) -> Iterator[Command]:
    """What can be done while `screen` is in front: it depends on what is open, and on the pane with the focus."""
    in_front = screen is not host.main  # what is behind it cannot be seen to change
    for binding in APP_BINDINGS:
        if in_front and binding.action.partition("(")[0] not in getattr(screen, "APP_ACTIONS", ON_A_DIALOG):
            continue
        if binding.action == "command_palette":
            continue
        keys = in_short(first_key(binding, host.preferences.keys_in_force).key)
        run = partial(host.app.run_action, binding.action)
        yield Command(f"{binding.description}   {keys}", binding.tooltip, run)
    if not in_front:
        yield from _copying(host)
        yield from _view(host)
        yield from _session(host)
        yield from _models(host)
    if not in_front:
        yield from _of_the_focus(host, screen)
    if host.teacher is not None:
        name = "Follow the teacher no longer" if host.teacher.is_followed else "Follow the teacher"
        yield Command(name, "you go where the teacher goes, until you write something", host.teacher.toggle)
    yield Command(
        "Theme…", "how the workbench looks, with a live preview", partial(_ask, host, host.preferences.choose_theme)
    )
    yield Command("Compact spacing", "less empty space, or the usual", host.preferences.toggle_compact)
    for theme in sorted(host.app.available_themes):
        yield Command(f"Theme: {theme}", "how the workbench looks", partial(host.preferences.set_theme, theme))


def _of_the_focus(host: Host, screen: Screen[Any]) -> Iterator[Command]:
    """What the keys of the pane with the focus do."""
    seen: set[str] = set()
    for node in screen.focused.ancestors_with_self if screen.focused is not None else ():
        for one in own_bindings(node) if isinstance(node, Widget) else ():
            if one.id and one.id not in seen and not one.id.startswith("app.") and one.tooltip:
                seen.add(one.id)
                keys = in_short(first_key(one, host.preferences.keys_in_force).key)
                run = partial(host.app.run_action, one.action, node)
                yield Command(f"{one.description}   {keys}", one.tooltip, run)


def _copying(host: Host) -> Iterator[Command]:
    for answer in copying.ANSWERS:
        yield Command(
            f"Copy: {answer.name}", answer.about, partial(_ask, host, partial(copying.copy, host, answer.value))
        )
    for form in FORMS.values():
        yield Command(
            f"Export as {form.title}", form.about, partial(_ask, host, partial(exporting.export, host, form.name))
        )


def _view(host: Host) -> Iterator[Command]:
    main = host.main
    share, width = "moves the line between prompts and replies", "moves the line between editors and columns"
    yield Command("More room for prompts", share, partial(main.columns.resize_prompts, 0.1))
    yield Command("More room for replies", share, partial(main.columns.resize_prompts, -0.1))
    yield Command("More room for editors", width, partial(main.widen_editors, 8))
    yield Command("More room for columns", width, partial(main.widen_editors, -8))
    if main.editors.notes.display:
        yield Command("Go to: notes", "what to notice, below the editors", main.editors.notes.focus_first)
    for tab in EDITORS:
        yield Command(f"Go to: {tab}", "one of the editors", partial(main.editors.focus_on, tab))
    for page, about in PAGES.items():
        yield Command(
            f"Look closer: {about.tab}", "at the column with the focus", partial(looking.open_pages, host, page)
        )
    for column in main.columns.all:
        yield Command(
            f"Go to: column {column.column_id}",
            "its prompt",
            partial(main.columns.focus_on, column.column_id, PromptView),
        )


def _session(host: Host) -> Iterator[Command]:
    main, session = host.main, host.document.session
    for index, case in enumerate(session.cases):
        yield Command(f"Case: {case.name}", "look at this case", partial(cases.look_at, host, index))
    for predictor in ("Predict", "ChainOfThought"):
        change = partial(edits.set_predictor, predictor=predictor)
        run = partial(main.edit, change, Place("signature", field="predictor"), "predictor")
        yield Command(f"Predictor: {predictor}", "with or without a reasoning output in front", run)
    for adapter in (*catalog.NAMES, *columns.of_releases()):
        about = catalog.profile(adapter).about
        shown = [one for one in session.columns if one.adapter == adapter]
        if shown:
            yield Command(f"Hide column: {adapter}", "take it off the screen", partial(columns.hide, host, adapter))
        else:
            yield Command(f"Show column: {adapter}", about, partial(columns.show, host, adapter))
    for column in session.columns:
        yield Command(f"Move column left: {column.id}", "one place", partial(columns.move, host, column.id, -1))
        yield Command(f"Move column right: {column.id}", "one place", partial(columns.move, host, column.id, 1))
    about = "thresholds of Noul, cuts of Score, weights of Choice: kept in the session"
    yield Command("Decisions: thresholds, cuts, weights", about, partial(_ask, host, partial(thresholds.decide, host)))
    about = "keep prompt and reply of all columns of this case: checks compare with them"
    yield Command("Record every column", about, partial(recording.record_all, host))
    run = partial(_ask, host, partial(files.restore_earlier, host))
    yield Command("Restore an earlier version", "what a save of this file replaced", run)
    if host.confinement.hands_out:
        about = "take a file of your folder here to your own machine"
        yield Command("Download a file", about, partial(_ask, host, partial(downloading.choose, host)))
    about = "what `workbench bench` ran for this session: cases by columns, and every reply"
    yield Command("Bench: the grid", about, partial(_ask, host, partial(benching.look_at_bench, host)))
    yield Command("Remove this value", "the field with the focus gets no value", main.editors.clear_field)


def _models(host: Host) -> Iterator[Command]:
    for answer in sending.OTHER_WAYS:
        send = partial(sending.send_in_way, host, answer.value)
        yield Command(f"Send: {answer.name.lower()}", answer.about, partial(_ask, host, send))
    rendered = host.main.shown_column()
    column = rendered.column if rendered is not None else None
    for answer in columns.answers(host, column) if column is not None else ():
        assert column is not None
        do = partial(columns.do, host, column, answer.value)
        yield Command(f"Column {column.id}: {answer.name}", answer.about, partial(_ask, host, do))
    about = "its inputs, tool turns and answer go behind the turns of this case"
    yield Command("Continue: this run becomes history", about, partial(past_runs.continue_from_run, host))
    about = "what was said about hosts that a file names is forgotten"
    yield Command("Ask anew which hosts may have a key", about, host.sending.hosts.forget)


def _ask(host: Host, dialog: Callable[[], Coroutine[Any, Any, Any]]) -> None:
    host.ask(dialog())
