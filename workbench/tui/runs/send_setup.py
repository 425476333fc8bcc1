"""What a send from the screen needs besides the session."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from workbench.sending.tool_answers import NamedHandler
from workbench.tui.runs.runs import Send

if TYPE_CHECKING:
    from workbench.sending.allowed_hosts import AllowedHosts


@dataclass
class SendSetup:
    """One an app. What takes time to import or to make is made when a send first asks for it."""

    sender: Send | None = None
    """Sends a column in the place of its model, as tests do; None: its model does."""
    tool_handlers: Mapping[str, NamedHandler] = field(default_factory=dict)
    """The functions that the user named for tools of the session that is open, by tool."""

    @cached_property
    def hosts(self) -> AllowedHosts:
        """The hosts that may get a key."""
        from workbench.sending.allowed_hosts import AllowedHosts

        return AllowedHosts()

    @cached_property
    def asking(self) -> asyncio.Lock:
        """Held while the user is asked for a result of a tool: one question at a time."""
        return asyncio.Lock()
