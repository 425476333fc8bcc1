"""Results of tools that the user types while a run waits for them."""

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
from workbench.tui.dialogs.tool_result import ToolResultScreen
from workbench.tui.runs.run_progress import ToolWaits

if TYPE_CHECKING:
    from workbench.tui.host import Host

LOOK_SECONDS = 0.1


class NobodyAnsweredError(LookupError):
    """The user gave no result, or the run was cancelled meanwhile."""


def asker(host: Host, column: str, listener: Listener, cancel: Event) -> Ask:
    """Asks on the screen, from the thread of a run; what was typed is kept among the tool's results (undo takes it)."""

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
    """JSON, or what was typed as plain text."""
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
    """One question at a time, and none over another dialog. What was said for another column counts here too."""
    try:
        async with host.sending.asking:
            while len(host.app.screen_stack) > 1 and not cancel.is_set():
                host.main.status.say(f"{column} waits for a result of {tool.name}")
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
            answer.set_exception(NobodyAnsweredError(f"nobody could be asked: {error}"))
        raise
