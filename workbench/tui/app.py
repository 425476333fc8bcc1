"""The app: the open session, global keys, and error handling."""

from __future__ import annotations

import os

os.environ.setdefault("TEXTUAL_FPS", "500")  # read by Textual at import; a key waits for the next frame

import asyncio
import signal
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, work
from textual.binding import BindingType
from textual.screen import ModalScreen, Screen
from textual.worker import Worker, WorkerState

from sessions.file import autosave
from sessions.file.store import Fingerprint
from sessions.model.session import Session
from workbench.config.confinement import FREE, Confinement
from workbench.sending.tool_answers import NamedHandler
from workbench.state import document
from workbench.state.document import Document, Place
from workbench.tui import actions, themes
from workbench.tui.guidance import Guidance
from workbench.tui.host import Ended
from workbench.tui.keys import ACTIONS, APP_BINDINGS, ON_A_DIALOG, KeyWords
from workbench.tui.messages import AttachFile, PastedCall, SuggestVariant, TryVariant
from workbench.tui.mistakes import Mistakes
from workbench.tui.panes.editors import MIDDLE
from workbench.tui.panes.signature import VIEWS
from workbench.tui.preferences import Preferences
from workbench.tui.runs.late_work import REST_SECONDS, ExactCounts, interrupt_keys_less
from workbench.tui.runs.runs import RunEnded, Send, SendSetup
from workbench.tui.screens.main import MainScreen
from workbench.tui.screens.panes_screen import HIGH, WIDE
from workbench.tui.textual_internals.error_isolation import SurvivingApp
from workbench.tui.textual_internals.kept_styles import KeptStyles
from workbench.tui.textual_internals.terminal import KeyOrder, copy_to_clipboards
from workbench.tui.widgets.prompt.prompt_view import PromptView
from workbench.tui.widgets.reply.reply_view import ReplyView
from workbench.tui.widgets.text.plain import plain_notify

if TYPE_CHECKING:
    from adapters.requests.request import Request
    from adapters.requests.token_ledger import Ledger
    from sessions.causes.cause import FixtureName
    from sessions.model.session import Case
    from workbench.tui.actions.checking import DriftWatch
    from workbench.tui.runs.run_history import RunHistory
    from workbench.tui.screens.stress import Tested
    from workbench.tui.teacher import Teacher
    from workbench.tui.widgets.guide import Kind

# Modules that the first picture does not need (dialogs, palette, runner, models) are imported on first use.

Action = Callable[["WorkbenchApp"], None]


def _asks(dialog: Callable[[WorkbenchApp], Coroutine[Any, Any, Any]]) -> Action:
    """Return an action that runs a dialog, unless another one is open."""
    return lambda app: app.ask(dialog(app))


def _runs(function: Callable[[WorkbenchApp], None]) -> Action:
    """Return a function of the app as an action."""
    return function


class WorkbenchApp(SurvivingApp):
    """The app on a session; its actions see it as a `workbench.tui.host.Host`.

    `send` runs a column instead of its model. With `keep`, unsaved work is backed up in the state folder and offered at
    the next start. `start_at` is the fixture to show first; `is_projected` starts in projector mode. `tool_handlers`
    are the user's functions for the session's tools, by tool name; `confinement` limits files, programs and models.
    """

    TITLE = "workbench"
    CSS_PATH: ClassVar[Any] = "screens/main.tcss"
    CSS_IN_FRONT = Path(__file__).parent / "dialogs" / "dialogs.tcss"
    """The styles of all that opens in front of the main screen, read when the first of it opens."""
    BINDINGS: ClassVar[list[BindingType]] = [*APP_BINDINGS]
    GUIDE: ClassVar[Kind] = "first"
    """The guide of a first start."""

    def __init__(
        self,
        session: Session,
        path: Path | None = None,
        send: Send | None = None,
        keep: bool = True,
        fingerprint: Fingerprint | None = None,
        tool_handlers: Mapping[str, NamedHandler] | None = None,
        start_at: FixtureName | None = None,
        confinement: Confinement = FREE,
        is_projected: bool = False,
    ) -> None:
        super().__init__()
        self.confinement = confinement
        self.teacher: Teacher | None = None
        self._keep = keep
        self._start_at = start_at
        self._is_projected = is_projected
        self.document = Document(session, path, fingerprint=fingerprint)
        self._is_following = False
        self.sending = SendSetup(send, tool_handlers or {})
        self.main = MainScreen(self.document, self._changed, self.sending)
        self.preferences = Preferences(self, self.document, self.main)
        self.guidance = Guidance(self.document, self.main, self.preferences)
        self.last_stress_test: tuple[Tested, Session, Case] | None = None
        self._drift_watch: DriftWatch | None = None
        self._on_interrupt: Any = None
        self._token_counts = ExactCounts(lambda *told: self.call_later(self._show_count, *told))
        self.mistakes = Mistakes(self, self.end_by_mistake)
        self.key_order = KeyOrder(self, super().on_event, self.report_mistake, self.main.complete)
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (MIDDLE, "-middle"), (WIDE, "-wide")]
        self.VERTICAL_BREAKPOINTS = [(0, "-low"), (HIGH, "-high")]
        for theme in (*themes.OURS, themes.TERMINAL):
            self.register_theme(theme)
        self.theme = themes.DARK.name
        self.stylesheet = KeptStyles(self.get_css_variables())

    def get_default_screen(self) -> Screen[Any]:
        return self.main

    def push_screen(self, *arguments: Any, **options: Any) -> Any:
        if not self.stylesheet.has_source(str(self.CSS_IN_FRONT)):
            self.stylesheet.read(self.CSS_IN_FRONT)
        return super().push_screen(*arguments, **options)

    def on_mount(self) -> None:
        if not self.is_headless:
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGHUP, self._ended_from_outside)
            loop.add_signal_handler(signal.SIGTERM, self._ended_from_outside)
            self._on_interrupt = signal.signal(
                signal.SIGINT, lambda *_: loop.call_soon_threadsafe(self._ended_from_outside)
            )
        if not self.confinement.why_no_program():  # tokens are counted in a child process
            look = self._token_counts.look
            self.set_interval(REST_SECONDS, lambda: look(self.main.columns.rendered, self._wants_counts))
        self.app_resume_signal.subscribe(self, lambda _: self.screen.refresh())  # after `fg` the terminal is empty
        if self._keep:
            autosave.tell(self._hear_of_copies)
        self.call_after_refresh(self._settle)

    def on_unmount(self) -> None:
        if not self.is_headless:  # whoever waits for a thread at the end can press ctrl+c
            signal.signal(signal.SIGINT, self._on_interrupt or signal.SIG_DFL)
        if self._keep:
            autosave.tell(None)
        self.past_runs.close()

    @property
    def _wants_counts(self) -> bool:
        """Tell whether the front screen needs exact token counts; there is no screen while the app exits."""
        return any(getattr(screen, "wants_token_counts", False) for screen in self.screen_stack[-1:])

    async def on_event(self, event: events.Event) -> None:
        await self.key_order.take(event)

    # -- what is open

    @cached_property
    def past_runs(self) -> RunHistory:
        from workbench.tui.runs.run_history import RunHistory

        most = self.preferences.megabytes_of_runs if self.confinement.folder is None else self.confinement.runs_mb
        history = RunHistory(most if self._keep else 0)
        history.open(self.document.path)
        return history

    @property
    def key_words(self) -> KeyWords:
        return self.preferences.key_words

    def load(self, session: Session, path: Path | None, fingerprint: Fingerprint | None = None) -> None:
        """Open another session."""
        self.preferences.remember_layout()
        autosave.discard(self.document.path)
        self.guidance.end()
        self.main.status.hush(self.preferences.reminder)
        if path is None or path != self.document.path:
            self.sending.tool_handlers = {}  # they belong to the tools of the previous session
        self.document.open(session, path, fingerprint)
        self.past_runs.open(path)
        self.main.load()
        self.preferences.restore_layout()
        self._follow_program()

    def _follow_program(self) -> None:
        """Start to watch the linked program, once a session with a link is open."""
        if self.document.session.signature.source is None or self._is_following:
            return
        self._is_following = True
        actions.following.Following(self).start()

    def restore(self, session: Session, label: str = "take up unsaved work") -> None:
        """Replace the content of the open session as an undoable change."""
        if session.name != self.document.session.name:
            self.guidance.hide()  # it is about the previous session
        taken_up = document.state_of(session)
        self.main.edit(lambda state: taken_up, Place("session"), label)

    def ask(self, dialog: Coroutine[Any, Any, Any]) -> None:
        """Run a dialog, unless another dialog is open."""
        if isinstance(self.screen, ModalScreen):
            dialog.close()
            return
        self.run_worker(self._finish(dialog), group="dialog", exit_on_error=False)

    async def _finish(self, dialog: Coroutine[Any, Any, Any]) -> None:
        """Run a dialog to its end, and show why it ended early."""
        try:
            await dialog
        except Ended as ended:
            if why := str(ended):
                seconds = None if ended.severity == "information" else 15  # None: Textual's default
                plain_notify(self, why, title=ended.title, severity=ended.severity, timeout=seconds)

    # -- actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether a global key works now; other screens than the main screen allow only some of them."""
        if action == "follow_teacher" and self.teacher is None:
            return False
        if action in ACTIONS and len(self.screen_stack) > 1:
            return action in getattr(self.screen, "APP_ACTIONS", ON_A_DIALOG)
        return super().check_action(action, parameters)

    async def run_action(self, action: Any, default_namespace: Any = None, namespaces: Any = None) -> bool:
        """Run an action; the guide ticks off its step. Panes' actions of the same name do not count."""
        done = await super().run_action(action, default_namespace, namespaces)
        if isinstance(action, str):
            where, _, name = action.partition("(")[0].rpartition(".")
            is_ours = where == "app" if where else default_namespace in (None, self)
            self.guidance.look(name if is_ours else "")
        return done

    # each action is a line here, and a function in `actions/`, whose module is imported with the first key
    action_save = _asks(lambda app: actions.files.save(app))
    action_save_as = _asks(lambda app: actions.files.save_as(app))
    action_open = _asks(lambda app: actions.browsing.open_session(app))
    action_new_session = _asks(lambda app: actions.files.new_session(app))
    action_leave = _asks(lambda app: actions.files.leave(app))
    action_cases = _asks(lambda app: actions.cases.choose_case(app))
    action_program = _asks(lambda app: actions.following.choose(app))
    action_edit_outside = _runs(lambda app: actions.external_editor.edit_outside(app))
    action_send_otherwise = _asks(lambda app: actions.sending.choose_way(app))
    action_fixes = _asks(lambda app: actions.fixing.choose(app))
    action_continue_run = _asks(lambda app: actions.past_runs.continue_from_run(app))
    action_choose_model = _asks(lambda app: actions.columns.choose_model(app))
    action_set_up_column = _asks(lambda app: actions.columns.set_up(app))
    action_add_column = _asks(lambda app: actions.columns.add(app))
    action_past_runs = _asks(lambda app: actions.past_runs.look_at_runs(app))
    action_everything_sent = _asks(lambda app: actions.past_runs.look_at_runs(app, "everywhere"))
    action_record = _runs(lambda app: actions.checking.record(app))
    action_check = _runs(lambda app: actions.checking.check(app))
    action_break_replies = _asks(lambda app: actions.benching.break_replies(app))
    action_copy_menu = _asks(lambda app: actions.exporting.copy(app))
    action_lesson = _runs(lambda app: actions.looking.open_lesson(app))
    action_help = _runs(lambda app: actions.looking.open_help(app))
    action_jump = _asks(lambda app: actions.looking.jump(app))
    action_find = _asks(lambda app: actions.finding.find_anywhere(app))
    action_undo = _runs(lambda app: app.main.went(app.document.undo(), "undone"))
    action_redo = _runs(lambda app: app.main.went(app.document.redo(), "redone"))
    action_send_all = _runs(lambda app: actions.sending.send(app, app.document.session.columns))
    action_focus_editors = _runs(lambda app: app.guidance.focus_editors())
    action_focus_prompts = _runs(lambda app: app.main.columns.focus_next_part(PromptView))
    action_focus_replies = _runs(lambda app: app.main.columns.focus_next_part(ReplyView))
    action_maximize_pane = _runs(lambda app: app.main.maximize_pane())
    action_project = _runs(lambda app: app.preferences.toggle_projector())

    def action_help_quit(self) -> None:
        """Explain how to quit if ctrl+c has nothing to copy."""
        self.main.status.say(self.key_words("{app.leave|ctrl+q} quits; unsaved work is asked about"))

    def action_send_column(self) -> None:
        rendered = getattr(self.screen, "column_shown", None) or self.main.shown_column()
        if rendered is not None:
            actions.sending.send(self, (rendered.column,))

    def action_cancel(self) -> None:
        if not self.main.cancel():
            self.guidance.put_away()

    def action_follow_teacher(self) -> None:
        if self.teacher is not None:
            self.teacher.toggle()

    def action_look(self, page: str = "card") -> None:
        actions.looking.open_pages(self, page)

    def action_command_palette(self) -> None:
        from workbench.tui.palette import Palette, provider_of

        if not isinstance(self.screen, Palette):
            self.push_screen(Palette(providers=[provider_of(self)]))

    def action_signature_view(self) -> None:
        self.main.editors.open("signature")
        signature = self.main.editors.signature
        signature.show_as(VIEWS[(VIEWS.index(signature.view) + 1) % len(VIEWS)])

    def copy_to_clipboard(self, text: str) -> None:
        copy_to_clipboards(self, text, to_programs=not self.confinement.why_no_program())

    # -- messages

    def _show_count(self, column_id: str, request: Request, ledger: Ledger) -> None:
        """Show a count; counts may overtake each other, so only that of the newest counted request is shown."""
        column = self.main.columns.column(column_id)
        if column is not None and self._token_counts.asked.get(column_id) is request:
            column.show_count(request, ledger)

    def on_main_screen_showed(self) -> None:
        self.guidance.look()
        if self._is_projected and self.main.columns.rendered:
            self._is_projected = False
            self.preferences.toggle_projector()
            self.main.columns.focus_next_part(PromptView)
        if self._drift_watch is None and self.document.state.case.recordings:
            self._drift_watch = actions.checking.DriftWatch(self)
        if self._drift_watch is not None:
            self._drift_watch.look()

    def on_try_variant(self, message: TryVariant) -> None:
        if (rendered := self.main.shown_column()) is not None:
            actions.columns.try_variant(self, message.tag, rendered.column)

    def on_suggest_variant(self, message: SuggestVariant) -> None:
        self.ask(actions.suggesting.suggest(self, message.of))

    def on_pasted_call(self, message: PastedCall) -> None:
        self.ask(actions.browsing.open_pasted(self, message.text))

    def on_attach_file(self, message: AttachFile) -> None:
        self.ask(actions.cases.attach(self, message))

    def on_run_ended(self, message: RunEnded) -> None:
        if message.of is not None:
            actions.past_runs.keep_run(self, message.of)
            if self.sending.fixed:
                actions.fixing.say_whether_it_helped(self, message.of)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        error = event.worker.error
        if event.state is WorkerState.ERROR and isinstance(error, Exception):
            self.report_mistake(error)

    def report_mistake(self, error: Exception) -> None:
        self.mistakes.report(error)

    def exit(self, *arguments: Any, **options: Any) -> None:
        self.preferences.remember_layout()
        super().exit(*arguments, **options)

    # -- inside

    def _changed(self) -> None:
        if self._keep and (self.document.dirty or self.document.state.drafts):
            autosave.changed(document.session_with_drafts(self.document.state), self.document.path)

    def _settle(self) -> None:
        """Do what can wait until after the first picture."""
        self.preferences.settle()
        self._follow_program()
        if self._start_at is not None:
            actions.checking.go_to(self, self._start_at)
        if self.preferences.wants_guide:
            self.guidance.show(self.GUIDE)
            self.main.columns.set_quiet(True)
        self._settle_later()

    @work(exit_on_error=False)
    async def _settle_later(self) -> None:
        """Do what can wait until the prompts are there, too; keys wait for them as well."""
        await self.main.complete.wait()
        if not self.is_headless:
            interrupt_keys_less()
        if self._keep:
            await actions.files.offer_left_over(self)  # also over a list of calls, which opens at once
        await actions.columns.tell_of_project(self)

    def _hear_of_copies(self, why_not: str) -> None:
        """Report that backups of unsaved work fail, or work again."""
        said = f"unsaved work not backed up: {why_not}" if why_not else "unsaved work is backed up again"
        with suppress(RuntimeError):  # the app has just ended
            self.call_later(self.main.status.say, said, 10 if why_not else 5)

    def _ended_from_outside(self) -> None:
        """Back up unsaved work and exit, after a signal."""
        if self.document.dirty or self.document.state.drafts:
            autosave.write(document.session_with_drafts(self.document.state), self.document.path)
        self.exit(130)
