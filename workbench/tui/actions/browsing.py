"""Opening another session: which there are, and the question which one."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from sessions import examples
from sessions.file import store
from workbench.tui import remembered, session_cards
from workbench.tui.actions import files
from workbench.tui.dialogs.browse import BrowseScreen
from workbench.tui.dialogs.choose import Entry
from workbench.tui.session_cards import Card

if TYPE_CHECKING:
    from workbench.tui.host import Host

MOST_FILES = 500
EXAMPLE = "example:"
"""In front of the name of an example, in the place of a path."""


async def open_session(host: Host) -> None:
    """Asks which session, and opens it; work that is not saved is asked about first."""
    chosen = await choose_session(host)
    if chosen is None or not await files.may_let_go(host):
        return
    if chosen.startswith(EXAMPLE):
        name = chosen.removeprefix(EXAMPLE)
        host.load(examples.load(name), None)
        host.guidance.show(is_first=name == examples.FIRST)
        return
    files.open_path(host, Path(chosen).expanduser())


async def choose_session(host: Host) -> str | None:
    """The path of a file, or `EXAMPLE` and a name; None when nothing was chosen."""
    folder = host.document.path.parent if host.document.path is not None else Path.cwd()
    recent = [Path(one) for one in remembered.load().recent]
    return await host.app.push_screen_wait(BrowseScreen(entries_of(folder, recent), _cards_of_examples()))


def entries_of(folder: Path, recent: list[Path]) -> list[Entry]:
    """The files opened last that are still there, then the others of the folder, then the examples."""
    here = os.path.realpath(folder)
    last = [one for one in recent if one.is_file()]
    known = {os.path.realpath(one) for one in last}
    others = [one for one in _json_files(folder) if os.path.realpath(one) not in known]
    entries = [Entry(str(one), one.name, "opened before" + _where(one, here)) for one in last]
    entries += [Entry(str(one), one.name, "here") for one in others]
    return [*entries, *(Entry(EXAMPLE + one, one, "example") for one in examples.ALL)]


def _where(path: Path, here: str) -> str:
    return "" if os.path.realpath(path.parent) == here else f", {path.parent}"


def _json_files(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == ".json" and path.is_file())[:MOST_FILES]
    except OSError:
        return []


def _cards_of_examples() -> dict[str, Card]:
    loaded = {name: json.loads(store.dumps(examples.load(name))) for name in examples.ALL}
    return {EXAMPLE + name: session_cards.card_of(data) for name, data in loaded.items()}
