"""The app's actions about models: which ones columns go to, sending, and what must be asked on the way."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.message import Message

from sessions.model.session import Column
from workbench.state.document import Document, Place
from workbench.tui.messages import TryVariant
from workbench.tui.runs.exact_counts import ExactCounts
from workbench.tui.runs.runs import Send
from workbench.tui.screens.main import MainScreen

if TYPE_CHECKING:
    from adapters.requests.request import Request
    from workbench.sending.allowed_hosts import AllowedHosts
    from workbench.tui.app import WorkbenchApp

    _Base = App[int]
else:
    _Base = object


REST_SECONDS = 0.5
"""How long a prompt has not changed before its tokens are counted exactly."""


class TokensCounted(Message):
    """The prompt of a column's request has exactly so many tokens."""

    def __init__(self, column_id: str, request: Request, tokens: int) -> None:
        super().__init__()
        self.column_id = column_id
        self.request = request
        self.tokens = tokens


class Sends(_Base):
    """To be put in front of an app's base class. `sender` runs a column (None: its model does)."""

    main: MainScreen
    document: Document
    sender: Send | None

    if TYPE_CHECKING:

        def _ask(self, dialog: Coroutine[Any, Any, Any]) -> None: ...

        def put_welcome_away(self) -> None: ...

    @cached_property
    def hosts(self) -> AllowedHosts:
        """The hosts that may get a key."""
        from workbench.sending.allowed_hosts import AllowedHosts

        return AllowedHosts()

    @cached_property
    def asking(self) -> asyncio.Lock:
        """Held while the user is asked for a result of a tool: one question at a time."""
        return asyncio.Lock()

    def on_mount(self) -> None:
        counts = ExactCounts(lambda *told: self.post_message(TokensCounted(*told)))
        self.set_interval(REST_SECONDS, lambda: counts.look(self.main.columns.lives))

    def on_tokens_counted(self, message: TokensCounted) -> None:
        column = self.main.columns.column(message.column_id)
        if column is not None:
            column.show_count(message.request, message.tokens)

    def action_send_all(self) -> None:
        self._send(self.document.session.columns)

    def action_send_column(self) -> None:
        live = getattr(self.screen, "column_shown", None) or self.main.shown_column()
        if live is not None:
            self._send((live.column,))

    def action_send_otherwise(self) -> None:
        from workbench.tui.actions import sending_otherwise

        self._ask(sending_otherwise.choose(self._app))

    def action_cancel(self) -> None:
        if not self.main.cancel():
            self.put_welcome_away()

    def action_choose_model(self) -> None:
        from workbench.tui.actions import models

        self._ask(models.choose_model(self._app))

    def action_set_up_column(self) -> None:
        from workbench.tui.actions import columns

        self._ask(columns.set_up(self._app))

    def action_add_column(self) -> None:
        from workbench.tui.actions import columns

        self._ask(columns.add(self._app))

    def on_try_variant(self, message: TryVariant) -> None:
        live = self.main.shown_column()
        if live is not None:
            from workbench.editing import column_edits

            change = partial(column_edits.add_variant, id=live.column.id, tag=message.tag)
            self.main.edit(change, Place("column"), f"variant {message.tag} beside {live.column.id}")

    def _send(self, columns: tuple[Column, ...]) -> None:
        from workbench.tui.actions import sending

        sending.send(self._app, columns)

    @property
    def _app(self) -> WorkbenchApp:
        from workbench.tui.app import WorkbenchApp

        assert isinstance(self, WorkbenchApp)
        return self
