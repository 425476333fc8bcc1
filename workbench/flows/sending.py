"""One column sent for the screen; what the user can mend comes back as a failed run and not as a mistake of ours."""

from __future__ import annotations

from threading import Event

from adapters.catalog import UnknownAdapterError
from adapters.errors import RunError, SignatureError
from adapters.events import Listener
from adapters.lm import ProviderError
from adapters.run import Run
from adapters.types import BuildError
from sessions.session import Column
from workbench import sending
from workbench.document import State


def send_column(state: State, column: Column, listener: Listener, cancel: Event) -> Run:
    """Sends a column of the case on screen. Raises `RunError` for what the user can mend."""
    try:
        return sending.send(state.session, column, state.case, listeners=(listener,), cancel=cancel)
    except (SignatureError, UnknownAdapterError, BuildError, ProviderError) as error:
        raise RunError(str(error), "request") from error
