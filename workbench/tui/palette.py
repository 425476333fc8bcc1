"""Everything the app can do, by name, in the command palette."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from textual.command import Hits, Provider
from textual.widget import Widget

from adapters.formats import catalog
from sessions.exports.formats import FORMATS
from workbench.editing import edits
from workbench.state.document import Place
from workbench.tui.actions import columns, continuing, copying, files, sending_otherwise
from workbench.tui.keys.bindings import ON_A_DIALOG
from workbench.tui.keys.keymap import first_key
from workbench.tui.screens.main import EDITORS
from workbench.tui.screens.pages import PAGES
from workbench.tui.widgets.prompt.prompt_view import PromptView
from workbench.tui.widgets.text.plain import palette_discovery, palette_hit

if TYPE_CHECKING:
    from workbench.tui.app import WorkbenchApp


class Command(NamedTuple):
    """One entry of the palette."""

    name: str
    about: str
    run: Callable[[], Any]


class WorkbenchCommands(Provider):
    """What the palette finds depends on what is open: its columns, cases and the pane with the focus."""

    async def discover(self) -> Hits:
        for command in self._commands():
            yield palette_discovery(command.name, command.run, command.about)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for command in self._commands():
            hit = palette_hit(matcher, command.name, command.run, command.about)
            if hit is not None:
                yield hit

    def _commands(self) -> Iterator[Command]:
        from workbench.tui.app import WorkbenchApp

        app = self.app
        if not isinstance(app, WorkbenchApp):
            return
        in_front = self.screen is not app.main  # what is behind it can not be seen to change
        for binding in app.BINDINGS_BY_ID.values():
            if in_front and binding.action.partition("(")[0] not in getattr(self.screen, "APP_ACTIONS", ON_A_DIALOG):
                continue
            if binding.action == "command_palette":
                continue
            keys = app.get_key_display(first_key(binding, app.keys_in_force))
            run = partial(app.run_action, binding.action)
            yield Command(f"{binding.description}   {keys}", binding.tooltip, run)
        if not in_front:
            yield from self._copying(app)
            yield from self._view(app)
            yield from self._session(app)
            yield from self._models(app)
        if not in_front:
            yield from self._of_the_focus(app)
        yield Command("Theme…", "how the workbench looks, with a live preview", partial(_ask, app, app.choose_theme))
        yield Command("Compact spacing", "less empty space, or the usual", app.action_compact)
        for theme in sorted(app.available_themes):
            yield Command(f"Theme: {theme}", "how the workbench looks", partial(app.choose_taste, theme))

    def _of_the_focus(self, app: WorkbenchApp) -> Iterator[Command]:
        """What the keys of the pane with the focus do."""
        seen: set[str] = set()
        for node in self.focused.ancestors_with_self if self.focused is not None else ():
            for _, one in node._bindings if isinstance(node, Widget) else ():
                if one.id and one.id not in seen and not one.id.startswith("app.") and one.tooltip:
                    seen.add(one.id)
                    keys = app.get_key_display(first_key(one, app.keys_in_force))
                    run = partial(app.run_action, one.action, node)
                    yield Command(f"{one.description}   {keys}", one.tooltip, run)

    def _copying(self, app: WorkbenchApp) -> Iterator[Command]:
        for answer in copying.ANSWERS:
            yield Command(f"Copy: {answer.name}", answer.about, partial(copying.copy, app, answer.value))
        for form in FORMATS.values():
            yield Command(f"Export as {form.title}", form.about, partial(app.export, form.name))

    def _view(self, app: WorkbenchApp) -> Iterator[Command]:
        main = app.main
        yield Command("More room for prompts", "the line between prompts and replies", partial(main.resize, 0.1))
        yield Command("More room for replies", "the line between prompts and replies", partial(main.resize, -0.1))
        yield Command("More room for editors", "the line between editors and columns", partial(main.widen_editors, 8))
        yield Command("More room for columns", "the line between editors and columns", partial(main.widen_editors, -8))
        if main.notes.display:
            yield Command("Go to: notes", "what to notice, below the editors", main.notes.focus_first)
        for tab in EDITORS:
            yield Command(f"Go to: {tab}", "one of the editors", partial(main.focus_editor, tab))
        for page, (name, _) in PAGES.items():
            yield Command(f"Look closer: {name}", "at the column with the focus", partial(app.action_look, page))
        for column in main.columns.all:
            yield Command(
                f"Go to: column {column.column_id}",
                "its prompt",
                partial(main.columns.focus_on, column.column_id, PromptView),
            )

    def _session(self, app: WorkbenchApp) -> Iterator[Command]:
        main, session = app.main, app.document.session
        for index, case in enumerate(session.cases):
            yield Command(f"Case: {case.name}", "look at this case", partial(app.look_at_case, index))
        for predictor in ("Predict", "ChainOfThought"):
            change = partial(edits.set_predictor, predictor=predictor)
            run = partial(main.edit, change, Place("signature", field="predictor"), "predictor")
            yield Command(f"Predictor: {predictor}", "with or without a reasoning output in front", run)
        for adapter in catalog.NAMES:
            shown = [one for one in session.columns if one.adapter == adapter]
            if shown:
                yield Command(f"Hide column: {adapter}", "take it off the screen", partial(app.hide_columns, adapter))
            else:
                yield Command(
                    f"Show column: {adapter}", catalog.profile(adapter).about, partial(app.show_column, adapter)
                )
        for column in session.columns:
            yield Command(f"Move column left: {column.id}", "one place", partial(app.move_column, column.id, -1))
            yield Command(f"Move column right: {column.id}", "one place", partial(app.move_column, column.id, 1))
        run = partial(_ask, app, partial(files.new_session, app))
        yield Command("New session", "empty, with the form of its signature open", run)
        yield Command("Restore an earlier version", "what a save of this file replaced", app.action_restore_earlier)
        yield Command("Remove this value", "the field with the focus gets no value", main.clear_field)

    def _models(self, app: WorkbenchApp) -> Iterator[Command]:
        for answer in sending_otherwise.ANSWERS:
            send = partial(sending_otherwise.send, app, answer.value)
            yield Command(f"Send: {answer.name.lower()}", answer.about, partial(_ask, app, send))
        live = app.main.shown_column()
        column = live.column if live is not None else None
        for answer in columns.answers(app, column) if column is not None else ():
            assert column is not None
            do = partial(columns.do, app, column, answer.value)
            yield Command(f"Column {column.id}: {answer.name}", answer.about, partial(_ask, app, do))
        about = "its inputs, tool turns and answer go behind the turns of this case"
        yield Command("Continue: this run becomes history", about, partial(continuing.continue_from_run, app))
        about = "what was said about hosts that a file names is forgotten"
        yield Command("Ask anew which hosts may have a key", about, app.hosts.forget)


def _ask(app: WorkbenchApp, dialog: Callable[[], Coroutine[Any, Any, Any]]) -> None:
    app._ask(dialog())
