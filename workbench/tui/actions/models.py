"""Choose models: of the session, of a column, of TwoStep's second call, and further models to compare with."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.formats.profile import EXTRACTION_OPTION
from adapters.lm import ProviderError, dotenv
from sessions.model.session import Column
from workbench.editing import column_edits, edits
from workbench.state.document import Place, State
from workbench.tui.dialogs.ask import Answer, ConfirmScreen
from workbench.tui.dialogs.choose_model import ModelScreen
from workbench.tui.messages import Change

if TYPE_CHECKING:
    from workbench.tui.host import Host

OWN_MODELS = "Every column is sent to a model of its own."
TAKE_IT = (
    Answer("take", "a", "All columns take this one"),
    Answer("keep", "k", "They keep theirs", "a column that is added takes this one"),
)


async def choose_model(host: Host) -> None:
    """The model of the session, which every column is sent to that has none of its own; where each has one, it is asked
    what becomes of those: nothing would be sent to the model that was chosen."""
    columns = host.document.session.columns
    chosen = await _choose(host, "Model of the session", host.document.session.model, _session_model, "model")
    if chosen is None or not columns or any(one.model is None for one in columns):
        return
    answer = await host.app.push_screen_wait(ConfirmScreen(f"Model {chosen}", OWN_MODELS, TAKE_IT))
    if answer == "take":
        host.main.edit(_without_own_models, Place("model"), "one model for every column")


async def choose_column_model(host: Host, column: Column) -> None:
    """A model of the column's own, in the place of the session's."""
    current = host.document.session.model_of(column)

    def change(model: str) -> Change:
        own = model if model != host.document.session.model else None
        return partial(column_edits.set_model, id=column.id, model=own)

    await _choose(host, f"Model of {column.id}", current, change, f"model of {column.id}")


async def add_model(host: Host, column: Column) -> None:
    """A second column of the same adapter, for another model."""
    current = host.document.session.model_of(column)

    def change(model: str) -> Change:
        return partial(column_edits.add_model, id=column.id, model=model)

    await _choose(host, f"Another model beside {column.id}", current, change, f"another model beside {column.id}")


async def add_model_to_all(host: Host) -> None:
    """Add a further model to every adapter on screen."""

    def change(model: str) -> Change:
        return partial(column_edits.add_model_to_all, model=model)

    await _choose(host, "One more model for every adapter", host.document.session.model, change, "one more model")


async def choose_extraction_model(host: Host, column: Column) -> None:
    """Choose the model that extracts the fields from a TwoStep column's prose."""
    current = str(column.options.get(EXTRACTION_OPTION) or host.document.session.model_of(column))

    def change(model: str) -> Change:
        own = model if model != host.document.session.model_of(column) else None
        return partial(column_edits.set_extraction_model, id=column.id, model=own)

    await _choose(host, f"Extraction model of {column.id}", current, change, f"extraction model of {column.id}")


def _session_model(model: str) -> Change:
    return partial(edits.set_model, model=model)


def _without_own_models(state: State) -> State:
    for one in state.session.columns:
        state = column_edits.set_model(state, one.id, None)
    return state


async def _choose(host: Host, title: str, current: str, change: Callable[[str], Change], label: str) -> str | None:
    """The model that was chosen, which is set by then; None where none was."""
    dotenv.read(Path.cwd()).lend_keys()
    chosen = await host.app.push_screen_wait(ModelScreen(title, current, only=host.confinement.offered_models))
    if chosen is not None:
        host.main.edit(change(chosen), Place("model"), label)
        warm(host, chosen)
    return chosen


def warm(host: Host, model: str) -> None:
    """Starts loading litellm for a model that was chosen and needs it, so that a send need not wait for it."""
    if model.startswith("offline/"):
        return
    # the list of models opens without what calls them
    from adapters.lm.litellm_client import LitellmLM
    from workbench.sending import sending

    session, path, hosts = host.document.session, host.document.path, host.sending.hosts
    named = [(column, second) for column in session.columns for second in sending.models_of(column)]
    wanted = [(one, second) for one, second in named if (second or session.model_of(one)) == model]
    if not wanted:
        return
    column, second = wanted[0]

    def load() -> None:
        try:
            allowed = hosts.of(session, column, path)
            opened = sending.open_model(session, column, second, allow_hosts=allowed, confinement=host.confinement)
        except ProviderError:
            return  # a send says it, under its column
        if isinstance(opened, LitellmLM):
            opened.warm()

    threading.Thread(target=load, daemon=True, name="load litellm").start()
    host.main.status.say("litellm is being loaded")
