"""Send from the screen, and ask about API keys and tool results.

A run that calls a tool without code waits until the user types the tool's result.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from functools import partial
from threading import Event
from typing import Any

from textual import on
from textual.widget import Widget
from textual.widgets import Input

from adapters.errors import RunError, SignatureError
from adapters.formats.catalog import UnknownAdapterError
from adapters.lm import ProviderError
from adapters.lm.secrets import Scrubber
from adapters.running.events import Listener
from adapters.running.runs import Run
from adapters.values.custom_types import BuildError
from sessions.model.session import Column, Tool
from sessions.model.variants import VariantError
from sessions.running import tools
from workbench.editing import row_edits
from workbench.output import json_shapes
from workbench.output.display import one_line
from workbench.sending import sending
from workbench.sending.allowed_hosts import HostQuestion
from workbench.state.document import Place, State
from workbench.tui.dialogs.ask import Answer, AskScreen, ConfirmScreen, Dialog, ValueLine, value_of
from workbench.tui.host import Ended, Host, answer_to, focused_column
from workbench.tui.keys import pane_keys
from workbench.tui.runs.runs import Order, ToolWaits
from workbench.tui.widgets.text.plain import QUIET, PlainStatic, content, lines

LONGEST_ARGUMENTS = 2_000


class ToolResultScreen(Dialog[str | None]):
    """Ask for a tool's result; returns the typed JSON or text, or None after escape.

    The dialog closes once `is_over()` is true; `without` describes what escape does.
    """

    BINDINGS = pane_keys(
        "This dialog",
        ("escape", "dismiss(None)", "Close", "tool_result.close", "Give no result"),
    )

    def __init__(
        self,
        column: str,
        tool: Tool,
        arguments: Mapping[str, Any],
        is_over: Callable[[], bool] = bool,
        without: str = "fail the call",
    ) -> None:
        hint = f"enter use the result and keep it for these arguments   {{tool_result.close|esc}} {without}"
        super().__init__(f"{one_line(column, 40)} calls {one_line(tool.name, 40)}", hint)
        self._tool = tool
        self._arguments = json_shapes.dumps(dict(arguments), ascii_only=False)
        self._is_over = is_over

    def contents(self) -> Iterable[Widget]:
        if self._tool.description:
            yield PlainStatic(content(self._tool.description[:LONGEST_ARGUMENTS], QUIET), classes="dialog-text")
        yield PlainStatic(lines(("arguments\n", QUIET), self._arguments[:LONGEST_ARGUMENTS]), classes="dialog-text")
        yield ValueLine("result: JSON or text")

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


async def _asked(
    host: Host, column: str, tool: Tool, arguments: Mapping[str, Any], cancel: Event, answer: Future[Any]
) -> None:
    """Ask for a tool's result, one question at a time and never over another dialog.

    An answer given meanwhile for another column is used, too.
    """
    try:
        async with host.sending.asking:
            while len(host.app.screen_stack) > 1 and not cancel.is_set():
                host.main.status.say(f"{column} is waiting for a result of {tool.name}")
                await asyncio.sleep(LOOK_SECONDS)
            known = next((one for one in host.document.session.tools if one.name == tool.name), tool)
            try:
                answer.set_result(tools.canned_result(known, arguments))
                return
            except tools.NoResultError:
                pass
            typed = None
            if not cancel.is_set():
                typed = await host.app.push_screen_wait(ToolResultScreen(column, tool, arguments, cancel.is_set))
        if typed is None:
            answer.set_exception(NobodyAnsweredError("nobody answered"))
            return
        value = value_of(typed)
        change = partial(row_edits.keep_result, name=tool.name, arguments=arguments, result=value)
        host.main.edit(change, Place("tool"), f"result of {tool.name}")
        answer.set_result(value)
    except BaseException as error:  # the waiting thread must continue, whatever ends this
        if not answer.done():
            answer.set_exception(NobodyAnsweredError(f"the question failed: {error}"))
        raise


MOST_REPEATS = 1_000

OTHER_WAYS = (
    Answer("repeat-all", "n", "Several times, all columns", "count equal values and failures"),
    Answer("repeat-column", "c", "Several times, this column", "the page Repeats counts results"),
    Answer("deadline-all", "d", "With a deadline, all", "stop then, and keep what has come"),
    Answer("raw-all", "r", "Raw, all columns", "same requests, replies unparsed"),
    Answer("raw-column", "w", "Raw, this column", "until edited or sent again"),
)
"""Ways to send several times, with a deadline, or without parsing."""

KEY_ANSWERS = (
    Answer("bare", "n", "Send without the API key", "the host sees only the prompt"),
    Answer("key", "y", "Send the API key", "allow for this host and file until you quit"),
)
VARIABLE_ANSWERS = (
    Answer("nothing", "n", "Send nothing", "the parameter header_variables asks for the value"),
    Answer("key", "y", "Send the value", "allow until you quit"),
)
"""Enter alone chooses the first answer of each, which must reveal nothing."""


def send(
    host: Host, columns: Iterable[Column], *, times: int = 1, raw: bool = False, deadline_s: float | None = None
) -> None:
    """Send the columns, first asking about hosts named in a file, which get no API key before that."""
    chosen = tuple(columns)
    questions: dict[object, HostQuestion] = {}
    for column in chosen if host.sending.sender is None else ():
        try:
            asked = host.sending.hosts.questions(host.document.session, column, host.document.path)
        except ProviderError:
            continue  # the run reports the error in its column
        questions.update({one.key: one for one in asked})
    order = order_of(host, times, raw, deadline_s)
    if not questions:
        host.main.send(chosen, order)
    else:
        host.ask(_ask_and_send(host, chosen, questions.values(), order))


def order_of(host: Host, times: int = 1, raw: bool = False, deadline_s: float | None = None) -> Order:
    """Return an order that sends with everything the user has allowed by then.

    A send raises `RunError` for errors that the user can fix.
    """
    if host.sending.sender is not None:
        return Order(host.sending.sender, times, raw, host.document.path)
    path, hosts, handlers = host.document.path, host.sending.hosts, host.sending.tool_handlers

    def send_one(state: State, column: Column, listener: Listener, cancel: Event) -> Run:
        # Called from the thread of a run; the answer is stored in the tool's results (undo removes it)
        def ask(tool: Tool, arguments: Mapping[str, Any]) -> Any:
            listener(ToolWaits(at=0.0, attempt=1, name=tool.name))
            answer: Future[Any] = Future()
            host.app.call_from_thread(
                lambda: host.app.run_worker(
                    _asked(host, column.id, tool, arguments, cancel, answer), group="tool results", exit_on_error=False
                )
            )
            return answer.result()

        session = state.session
        try:
            return sending.send(
                session,
                column,
                state.case,
                listeners=(listener,),
                cancel=cancel,
                deadline_s=deadline_s,
                allowed=hosts.allowed(session, column, path),
                raw=raw,
                offered=tools.run_tools(session, ask=ask, handlers=handlers)[0],
                confinement=host.confinement,
            )
        except ProviderError as error:
            raise RunError(str(error), "request", payload=error.payload) from error
        except (SignatureError, UnknownAdapterError, BuildError, VariantError) as error:
            raise RunError(str(error), "request") from error

    return Order(send_one, times, raw, path)


async def _ask_and_send(
    host: Host, columns: tuple[Column, ...], questions: Iterable[HostQuestion], order: Order
) -> None:
    await settle(host, questions)
    host.main.send(columns, order)


async def settle(host: Host, questions: Iterable[HostQuestion]) -> None:
    """Ask about each host named in a file."""
    for one in questions:
        what, answers = (one.variable, VARIABLE_ANSWERS) if one.header else ("your API key", KEY_ANSWERS)
        answer = await host.app.push_screen_wait(ConfirmScreen(f"Send {what} to {one.host}?", _text(one), answers))
        if answer in (None, "nothing"):
            host.main.status.say("nothing was sent")
            raise Ended
        host.sending.hosts.say(one, answer == "key")


def _text(question: HostQuestion) -> str:
    file = str(question.file) if question.file is not None else "This session"
    if question.header:
        address = f"\n  {Scrubber().scrubbed(question.address)}" if question.address else " the provider's own address"
        return (
            f"{file} sends the value of the variable {question.variable} as the header {question.header} of "
            f"every request for {question.model}, to{address}\n"
            f"Allow only if you trust {question.host}. Nothing has been sent yet."
        )
    return (
        f"{file} names the address\n  {Scrubber().scrubbed(question.address)}\nfor {question.model}. Sending there "
        f"with {question.variable} gives your API key to the owner of {question.host}. Allow only if you trust that "
        "host. Nothing has been sent yet."
    )


# -- several times, with a deadline, or raw


async def choose_way(host: Host, how: str = "") -> None:
    """Send in one of the ways in `OTHER_WAYS`, or ask in which."""
    how = how or await answer_to(host, ConfirmScreen("Send", "", OTHER_WAYS))
    focused = focused_column(host).column
    columns = host.document.session.columns if how.endswith("all") else (focused,)
    if how.startswith("raw"):
        send(host, columns, raw=True)
    elif how.startswith("deadline"):
        typed = await answer_to(host, AskScreen("How many seconds?", "20", why_no_seconds))
        send(host, columns, deadline_s=float(typed))
    else:
        typed = await answer_to(host, AskScreen("How many times?", "5", why_no_count))
        send(host, columns, times=int(typed))


def why_no_count(text: str) -> str:
    """Return why a text is not a valid number of runs, or ""."""
    fits = text.isascii() and text.isdecimal() and 1 <= int(text) <= MOST_REPEATS
    return "" if fits else f"a number from 1 to {MOST_REPEATS:,}"


def why_no_seconds(text: str) -> str:
    """Return why a text is not a valid number of seconds, or ""."""
    try:
        fits = 0 < float(text) < 1e6
    except ValueError:
        fits = False
    return "" if fits else "a number of seconds above 0"
