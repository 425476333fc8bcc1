"""The app: what is open, the keys that work everywhere, and what happens when something goes wrong."""

from __future__ import annotations

import os

os.environ.setdefault("TEXTUAL_FPS", "500")  # textual reads it while it is imported; a key waits for the next frame

import asyncio
import gc
import signal
import sys
import time
from collections import deque
from collections.abc import Coroutine, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.command import CommandPalette, Provider
from textual.dom import DOMNode
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.worker import Worker, WorkerState

from sessions.file import autosave
from sessions.file.store import Fingerprint
from sessions.model.session import Column, Session
from workbench.editing import edits
from workbench.sending.tool_answers import NamedHandler
from workbench.state import drafts
from workbench.state.document import Document, Place
from workbench.tui import clipboard, themes
from workbench.tui.actions.moving_about import MovingAbout
from workbench.tui.actions.sends import Sends
from workbench.tui.keys.bindings import ACTIONS, APP_BINDINGS, ON_A_DIALOG
from workbench.tui.preferences import Taste
from workbench.tui.runs.runs import Send
from workbench.tui.screens.main import MainScreen
from workbench.tui.screens.pane_sizes import HIGH, MIDDLE, WIDE
from workbench.tui.textual_internals.error_isolation import Sturdy, make_sturdy
from workbench.tui.textual_internals.key_order import KeysInOrder
from workbench.tui.widgets.prompt.prompt_view import PromptView
from workbench.tui.widgets.reply.reply_view import ReplyView
from workbench.tui.widgets.text.plain import plain_notify

MISTAKES_BEFORE_ENDING = 20
"""Exceptions within `MISTAKES_SECONDS` after which the app saves a copy and ends, as it can not go on like this."""
MISTAKES_SECONDS = 5.0


# What a first picture does not need is imported with its first use: the conversations, the palette, runner and models.


def _commands() -> type[Provider]:
    from workbench.tui.palette import WorkbenchCommands

    return WorkbenchCommands


YOUNG_OBJECTS = 10_000
"""New objects after which Python looks for garbage; with a thousand demos each look takes a millisecond or two."""
SWITCH_SECONDS = 0.0005
"""How long a thread (a copy being written, a stream being read) may hold up a key; Python's default is ten times it."""


class WorkbenchApp(KeysInOrder, Sends, MovingAbout, Taste, Sturdy, App[int]):
    """`send` runs a column (None: its model does); `keep`: unsaved work is copied to the state folder and offered.

    `tool_handlers` are the functions that the user named for tools of this session, by tool.
    """

    TITLE = "workbench"
    CSS_PATH: ClassVar[Any] = ["screens/main.tcss", "dialogs/dialogs.tcss"]
    COMMANDS: ClassVar[Any] = {_commands}
    BINDINGS: ClassVar[list[BindingType]] = [*APP_BINDINGS]
    BINDINGS_BY_ID: ClassVar[Mapping[str, Binding]] = {one.id: one for one in APP_BINDINGS if one.id}

    def __init__(
        self,
        session: Session,
        path: Path | None = None,
        send: Send | None = None,
        keep: bool = True,
        fingerprint: Fingerprint | None = None,
        tool_handlers: Mapping[str, NamedHandler] | None = None,
    ) -> None:
        super().__init__()
        self.tool_handlers: Mapping[str, NamedHandler] = tool_handlers or {}
        self._keep = keep
        self.document = Document(session, path, fingerprint=fingerprint)
        self.sender = send
        self._is_following = False
        self.mistakes: deque[tuple[float, Exception]] = deque(maxlen=MISTAKES_BEFORE_ENDING)
        self.main = MainScreen(self.document, self._changed)
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (MIDDLE, "-middle"), (WIDE, "-wide")]
        self.VERTICAL_BREAKPOINTS = [(0, "-low"), (HIGH, "-high")]
        for theme in themes.OURS:
            self.register_theme(theme)
        self.theme = themes.DARK.name

    def get_default_screen(self) -> Screen[Any]:
        return self.main

    def on_mount(self) -> None:
        if not self.is_headless:
            for one in (signal.SIGHUP, signal.SIGTERM):
                asyncio.get_running_loop().add_signal_handler(one, self._ended_from_outside)
        self.call_after_refresh(self._settle)

    # -- what is open

    def load(self, session: Session, path: Path | None, fingerprint: Fingerprint | None = None) -> None:
        """Shows another session in place of the one that is open."""
        self.remember_layout()
        autosave.discard(self.document.path)
        self.hide_guide()
        if path is None or path != self.document.path:
            self.tool_handlers = {}  # they were named for the tools of the session that was open
        self.document.open(session, path, fingerprint)
        self.past_runs.open(path)
        self.main.load()
        self.lay_out()
        self._follow_program()

    def _follow_program(self) -> None:
        """Watches the program of a session that is linked to one, from the first such session on."""
        if self.document.session.signature.source is None or self._is_following:
            return
        from workbench.tui.actions.following import Following

        self._is_following = True
        Following(self).start()

    def on_main_screen_showed(self) -> None:
        self.look_at_guide()

    async def run_action(self, action: Any, *arguments: Any, **options: Any) -> bool:
        """As Textual's; the guide ticks off what a key has done."""
        done = await super().run_action(action, *arguments, **options)
        if self.main.guide is not None and isinstance(action, str):
            self.look_at_guide(action.partition("(")[0].rpartition(".")[2])
        return done

    def restore(self, session: Session, label: str = "take up unsaved work") -> None:
        """Another content for what is open, as a change that can be undone."""
        taken_up = drafts.state_of(session)
        self.main.edit(lambda state: taken_up, Place("session"), label)

    def look_at_case(self, index: int) -> None:
        self.document.look_at_case(index)
        self.main.show()

    def show_column(self, adapter: str) -> None:
        known = {one.id for one in self.document.session.columns}
        id = adapter if adapter not in known else f"{adapter} {len(known) + 1}"
        self._set_columns((*self.document.session.columns, Column(id, adapter)), f"show column {id}")
        self.call_after_refresh(self.main.columns.turn_to, id)

    def hide_columns(self, adapter: str) -> None:
        kept = [one for one in self.document.session.columns if one.adapter != adapter]
        self._set_columns(kept, f"hide column {adapter}")

    def move_column(self, id: str, by: int) -> None:
        columns = list(self.document.session.columns)
        index = next(number for number, one in enumerate(columns) if one.id == id)
        column = columns.pop(index)
        columns.insert(max(0, index + by), column)
        self._set_columns(columns, f"move column {id}")

    # -- actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether a key of the app means anything now: in front of the panes, only what that screen lets through."""
        if action in ACTIONS and len(self.screen_stack) > 1:
            return action in getattr(self.screen, "APP_ACTIONS", ON_A_DIALOG)
        return super().check_action(action, parameters)

    def action_save(self) -> None:
        from workbench.tui.actions import files

        self._ask(files.save(self))

    def action_restore_earlier(self) -> None:
        from workbench.tui.actions import files

        self._ask(files.restore_earlier(self))

    def action_save_as(self) -> None:
        from workbench.tui.actions import files

        self._ask(files.save_as(self))

    def action_open(self) -> None:
        from workbench.tui.actions import files

        self._ask(files.open_session(self))

    def action_leave(self) -> None:
        from workbench.tui.actions import files

        self._ask(files.leave(self))

    def action_cases(self) -> None:
        from workbench.tui.actions import cases

        self._ask(cases.choose_case(self))

    def action_edit_outside(self) -> None:
        from workbench.tui.actions import external_editor

        external_editor.edit_outside(self)

    def action_program(self) -> None:
        from workbench.tui.actions import following

        self._ask(following.choose(self))

    def action_undo(self) -> None:
        self.main.undo()

    def action_redo(self) -> None:
        self.main.redo()

    def action_focus_editors(self) -> None:
        self.main.focus_editors()

    def action_focus_prompts(self) -> None:
        self.main.focus_part(PromptView)

    def action_focus_replies(self) -> None:
        self.main.focus_part(ReplyView)

    def action_maximize_pane(self) -> None:
        self.main.maximize_pane()

    def action_copy_menu(self) -> None:
        from workbench.tui.actions import copying

        self._ask(copying.choose_copy(self))

    def export(self, name: str) -> None:
        from workbench.tui.actions import exporting

        self._ask(exporting.export(self, name))

    def action_record(self) -> None:
        from workbench.tui.actions import keeping

        keeping.record(self)

    def action_check(self) -> None:
        from workbench.tui.actions import keeping

        keeping.check(self)

    def action_lesson(self) -> None:
        from workbench.tui.actions import looking

        looking.open_lesson(self)

    def action_look(self, page: str = "card") -> None:
        from workbench.tui.actions import looking

        looking.open_pages(self, page)

    def action_help(self) -> None:
        """The card of the column with the focus; elsewhere, and on that card, what the pane is for and every key.

        Whoever came from a column to its card finds the keys of its prompt or reply there too.
        """
        from workbench.tui.dialogs.help import HelpScreen
        from workbench.tui.screens.pages import PagesScreen

        screen = self.screen
        if screen is self.main and self.main.columns.has_focus_within:
            self.action_look()
            return
        if isinstance(screen, (HelpScreen, CommandPalette)):
            return
        about: list[Screen[Any]] = [screen, self.main] if isinstance(screen, PagesScreen) else [screen]
        pane_help = "\n\n".join([_help_of(one) for one in about])
        bindings = [binding for one in about for binding in one.active_bindings.values()]
        names = {one.binding.key: self.get_key_display(one.binding) for one in bindings}
        self.push_screen(HelpScreen(pane_help, bindings, names))

    def copy_to_clipboard(self, text: str) -> None:
        clipboard.copy(self, text)

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        return ()

    # -- what goes wrong

    def _handle_exception(self, error: Exception) -> None:
        """Shows and logs a mistake of ours and goes on; only when it happens again and again the app ends."""
        now = time.monotonic()
        self.mistakes.append((now, error))
        if not self._running or not self.main.is_mounted:
            super()._handle_exception(error)
            return
        if len(self.mistakes) == MISTAKES_BEFORE_ENDING and now - self.mistakes[0][0] < MISTAKES_SECONDS:
            autosave.write(drafts.with_drafts(self.document.state), self.document.path)
            super()._handle_exception(error)
            return
        if any(now - at < MISTAKES_SECONDS and repr(one) == repr(error) for at, one in list(self.mistakes)[:-1]):
            return
        from workbench.output import crash_log

        log = crash_log.write(error)
        autosave.changed(drafts.with_drafts(self.document.state), self.document.path)
        said = f"{type(error).__name__}: {error}\nYour work is as it was, and a copy is kept. Details: {log}"
        plain_notify(self, said, title="A mistake of ours", severity="error", timeout=15)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        error = event.worker.error
        if event.state is WorkerState.ERROR and isinstance(error, Exception):
            self._handle_exception(error)

    def exit(self, *arguments: Any, **options: Any) -> None:
        self.remember_layout()
        super().exit(*arguments, **options)

    # -- inside

    def _register_child(self, parent: DOMNode, child: Widget, before: int | None, after: int | None) -> None:
        make_sturdy(child, self._handle_exception)
        super()._register_child(parent, child, before, after)

    def _ask(self, dialog: Coroutine[Any, Any, Any]) -> None:
        """Runs a conversation with the user; only one at a time, and none over another."""
        if isinstance(self.screen, ModalScreen):
            dialog.close()
            return
        self.run_worker(dialog, group="dialog", exit_on_error=False)

    def _set_columns(self, columns: Iterable[Column], label: str) -> None:
        self.main.edit(partial(edits.set_columns, columns=tuple(columns)), Place("column"), label)

    def _changed(self) -> None:
        if self._keep and (self.document.dirty or self.document.state.drafts):
            autosave.changed(drafts.with_drafts(self.document.state), self.document.path)

    def _settle(self) -> None:
        """What can wait until the first picture is on screen."""
        self.settle_taste()
        self._follow_program()
        if self._keep:
            from workbench.tui.actions import files

            self._ask(files.offer_left_over(self))
        if not self.is_headless:
            gc.collect()
            gc.freeze()
            gc.set_threshold(YOUNG_OBJECTS)
            sys.setswitchinterval(SWITCH_SECONDS)

    def _ended_from_outside(self) -> None:
        """The terminal was closed, or the app was told to end: what is not saved is kept."""
        if self.document.dirty or self.document.state.drafts:
            autosave.write(drafts.with_drafts(self.document.state), self.document.path)
        self.exit(130)


def _help_of(screen: Screen[Any]) -> str:
    """What the pane with the focus is for; empty where nobody wrote it down."""
    nodes = screen.focused.ancestors_with_self if screen.focused is not None else []
    return next((node.HELP for node in nodes if getattr(node, "HELP", None)), "") or ""


def run_app(path: str | None = None, **options: Any) -> int:
    """Runs the app on the session in `path`, by default on the first example, and returns its exit code.

    Raises `sessions.errors.SessionError` when the file cannot be opened.
    """
    from sessions.file import store

    if path is None:
        app = WorkbenchApp(*opened(None), **options)
    else:
        found = store.open_file(path)
        app = WorkbenchApp(found.session, Path(path), fingerprint=found.fingerprint, **options)
    app.use_config()
    code = app.run()
    autosave.close()
    return code if code is not None else (app.return_code or 0)


def opened(path: str | None) -> tuple[Session, Path | None]:
    """The session to start with, and its file if it has one."""
    from sessions import examples
    from sessions.file import store

    if path is None:
        return replace(examples.load(examples.FIRST), model="offline/exact"), None
    return store.load(path), Path(path)
