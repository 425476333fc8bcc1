"""Choosing the model that columns are sent to."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from adapters.lm import offline
from workbench import edits
from workbench.document import Place
from workbench.screens.choose import ChooseScreen, Entry

if TYPE_CHECKING:
    from workbench.app import WorkbenchApp


async def choose_model(app: WorkbenchApp) -> None:
    """Asks for a model: an offline one, or any name that litellm knows."""
    current = app.document.session.model
    entries = [Entry(_full(name), _full(name), about) for name, about in offline.NAMES.items()]
    if all(one.value != current for one in entries):
        entries.insert(0, Entry(current, current, "the model of this session"))
    chosen = await app.push_screen_wait(
        ChooseScreen(
            "Model of the session",
            entries,
            placeholder="an offline model, or provider/model as litellm names it",
            free=lambda typed: Entry(typed, typed, "litellm; its key from the provider's usual variable"),
            current=current,
        )
    )
    if chosen is not None:
        app.main.edit(partial(edits.set_model, model=chosen), Place("model"), "model")


def _full(name: str) -> str:
    return name if name.startswith("offline/") else f"offline/{name}"
