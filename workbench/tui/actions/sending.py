"""Sending from the screen: what must be asked first, and how one column is sent."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from threading import Event
from typing import TYPE_CHECKING

from textual.screen import ModalScreen

from adapters.errors import RunError, SignatureError
from adapters.formats.catalog import UnknownAdapterError
from adapters.lm import ProviderError
from adapters.lm.secrets import Scrubber
from adapters.running.events import Listener
from adapters.running.runs import Run
from adapters.values.custom_types import BuildError
from sessions.model.session import Column
from sessions.model.variants import VariantError
from sessions.running import tools
from sessions.running.tools import Ask, Handler
from workbench.sending import sending
from workbench.sending.allowed_hosts import HostQuestion
from workbench.state.document import State
from workbench.tui.actions.tool_results import asker
from workbench.tui.dialogs.confirm import Answer, ConfirmScreen
from workbench.tui.runs.runs import Order

if TYPE_CHECKING:
    from workbench.tui.app import WorkbenchApp

ANSWERS = (
    Answer("bare", "n", "Send without a key", "the host sees the prompt alone"),
    Answer("key", "y", "Send it the key", "this host, for this file, until the workbench is closed"),
)
"""The first is chosen by enter alone, which must give nothing away."""


def send(
    app: WorkbenchApp,
    columns: Iterable[Column],
    *,
    times: int = 1,
    raw: bool = False,
    deadline_s: float | None = None,
) -> None:
    """Sends the columns; a host that a file names is asked about first, and gets no key before that."""
    chosen = tuple(columns)
    questions = _questions(app, chosen)
    order = order_of(app, times, raw, deadline_s)
    if not questions:
        app.main.send(chosen, order)
    elif not isinstance(app.screen, ModalScreen):
        app.run_worker(_ask_and_send(app, chosen, questions, order), group="dialog", exit_on_error=False)


def order_of(app: WorkbenchApp, times: int = 1, raw: bool = False, deadline_s: float | None = None) -> Order:
    """How columns are sent: with what the user has allowed by the time that each is."""
    if app.sender is not None:
        return Order(app.sender, times, raw)
    path, hosts, handlers = app.document.path, app.hosts, app.tool_handlers

    def send_one(state: State, column: Column, listener: Listener, cancel: Event) -> Run:
        ask = asker(app, column.id, listener, cancel)
        allowed = partial(hosts.of, state.session, column, path)
        return send_column(
            state, column, listener, cancel, allowed, raw=raw, ask=ask, handlers=handlers, deadline_s=deadline_s
        )

    return Order(send_one, times, raw)


def send_column(
    state: State,
    column: Column,
    listener: Listener,
    cancel: Event,
    allowed: Callable[[], Collection[str]] = frozenset,
    *,
    raw: bool = False,
    ask: Ask | None = None,
    handlers: Mapping[str, Handler] | None = None,
    deadline_s: float | None = None,
) -> Run:
    """Sends a column of the case on screen. Raises `RunError` for what the user can mend.

    `allowed` gives the hosts that may get a key; `handlers` answer tools by name, and `ask` asks the user for a result
    that is in no canned answer either.
    """
    session = state.session
    try:
        hosts = allowed()
        return sending.send(
            session,
            column,
            state.case,
            listeners=(listener,),
            cancel=cancel,
            deadline_s=deadline_s,
            allow_hosts=hosts,
            raw=raw,
            offered=tools.run_tools(session, ask=ask, handlers=handlers)[0],
        )
    except ProviderError as error:
        raise RunError(str(error), "request", payload=error.payload) from error
    except (SignatureError, UnknownAdapterError, BuildError, VariantError) as error:
        raise RunError(str(error), "request") from error


def _questions(app: WorkbenchApp, columns: Iterable[Column]) -> tuple[HostQuestion, ...]:
    if app.sender is not None:
        return ()
    found: dict[tuple[object, str], HostQuestion] = {}
    for column in columns:
        try:
            asked = app.hosts.questions(app.document.session, column, app.document.path)
        except ProviderError:
            continue  # the run says it under its column
        found.update({(one.file, one.host): one for one in asked})
    return tuple(found.values())


async def _ask_and_send(
    app: WorkbenchApp, columns: tuple[Column, ...], questions: Iterable[HostQuestion], order: Order
) -> None:
    for one in questions:
        answer = await app.push_screen_wait(ConfirmScreen(f"May {one.host} get your key?", _text(one), ANSWERS))
        if answer is None:
            app.main.say("nothing was sent")
            return
        app.hosts.say(one, answer == "key")
    app.main.send(columns, order)


def _text(question: HostQuestion) -> str:
    file = str(question.file) if question.file is not None else "This session"
    return (
        f"{file} names the address\n  {Scrubber().text(question.address)}\nfor {question.model}. Sending there with "
        f"{question.variable} gives your key to whoever runs {question.host}. Allow it only if you know that host; "
        "it has got nothing yet."
    )
