"""Ask the user for the results of tool calls while a run waits."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from concurrent.futures import Future
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Any

from adapters.running.events import Listener
from sessions.model.session import Tool
from sessions.running.tools import Ask, NoResultError, canned_result
from workbench.editing import tool_edits
from workbench.state.document import Place
from workbench.tui.keys.bindings import KeyGroup
from workbench.tui.runs.runs import ToolWaits

if TYPE_CHECKING:
    from workbench.tui.host import Host
from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from workbench.output import json_shapes
from workbench.output.display import one_line
from workbench.tui.widgets.text.plain import PlainStatic, content, key_hints, lines

_key = KeyGroup("This dialog", "tool_result")

LONGEST_ARGUMENTS = 2_000


class ToolResultScreen(ModalScreen[str | None]):
    """Returns the typed JSON or text, None after escape. Closes once `is_over`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        _key("escape", "dismiss(None)", "close", "Fail", "Let the call fail without a result")
    ]

    def __init__(
        self, column: str, tool: Tool, arguments: Mapping[str, Any], is_over: Callable[[], bool] = bool
    ) -> None:
        super().__init__()
        self._column = column
        self._tool = tool
        self._arguments = json_shapes.dumps(dict(arguments), ascii_only=False)
        self._is_over = is_over

    def compose(self) -> ComposeResult:
        quiet = "$foreground 60%"
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = content(f" {one_line(self._column, 40)} calls {one_line(self._tool.name, 40)} ")
            if self._tool.description:
                yield PlainStatic(content(self._tool.description[:LONGEST_ARGUMENTS], quiet), classes="dialog-text")
            yield PlainStatic(lines(("arguments\n", quiet), self._arguments[:LONGEST_ARGUMENTS]), classes="dialog-text")
            yield Input(placeholder="result: JSON or text", compact=True)
            hint = "enter send the result and keep it for these arguments   {tool_result.close|esc} fail the call"
            yield PlainStatic(key_hints(self.app, hint), classes="dialog-hint")

    def on_mount(self) -> None:
        self.set_interval(LOOK_SECONDS, self._look)

    @on(Input.Submitted)
    def _enter(self, event: Input.Submitted) -> None:
        self.dismiss(event.value)

    def _look(self) -> None:
        if self._is_over():
            self.dismiss(None)


LOOK_SECONDS = 0.1


class NobodyAnsweredError(LookupError):
    """The user gave no result, or the run was cancelled."""


def asker(host: Host, column: str, listener: Listener, cancel: Event) -> Ask:
    """Ask on the screen, from the thread of a run; the answer is kept among the tool's results (undo removes it)."""

    def ask(tool: Tool, arguments: Mapping[str, Any]) -> Any:
        listener(ToolWaits(at=0.0, attempt=1, name=tool.name))
        answer: Future[Any] = Future()

        def begin() -> None:
            asking = _asked(host, column, tool, arguments, cancel, answer)
            host.app.run_worker(asking, group="tool results", exit_on_error=False)

        host.app.call_from_thread(begin)
        return answer.result()

    return ask


def value_of(typed: str) -> Any:
    """Return the typed JSON, or the text."""
    try:
        return json.loads(typed)
    except (ValueError, RecursionError):
        return typed


async def _asked(
    host: Host,
    column: str,
    tool: Tool,
    arguments: Mapping[str, Any],
    cancel: Event,
    answer: Future[Any],
) -> None:
    """Ask one question at a time, never over another dialog; an earlier answer for another column counts too."""
    try:
        async with host.sending.asking:
            while len(host.app.screen_stack) > 1 and not cancel.is_set():
                host.main.status.say(f"{column} is waiting for a result of {tool.name}")
                await asyncio.sleep(LOOK_SECONDS)
            known = next((one for one in host.document.session.tools if one.name == tool.name), tool)
            try:
                answer.set_result(canned_result(known, arguments))
                return
            except NoResultError:
                pass
            typed = None
            if not cancel.is_set():
                typed = await host.app.push_screen_wait(ToolResultScreen(column, tool, arguments, cancel.is_set))
        if typed is None:
            answer.set_exception(NobodyAnsweredError("nobody answered"))
            return
        value = value_of(typed)
        change = partial(tool_edits.keep_result, name=tool.name, arguments=arguments, result=value)
        host.main.edit(change, Place("tool"), f"result of {tool.name}")
        answer.set_result(value)
    except BaseException as error:  # the thread that waits must go on, whatever ends this
        if not answer.done():
            answer.set_exception(NobodyAnsweredError(f"the question failed: {error}"))
        raise
