"""The cases dialog, and what is done about its answer."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from workbench.editing import edits
from workbench.state.document import Place
from workbench.tui.dialogs.ask import AskScreen
from workbench.tui.dialogs.cases import CasesScreen

if TYPE_CHECKING:
    from workbench.tui.host import Host


async def choose_case(host: Host) -> None:
    action = await host.app.push_screen_wait(CasesScreen(host.document.state))
    if action is None:
        return
    if action.row != host.document.state.case_index:
        host.document.look_at_case(action.row)
    if action.verb == "look":
        host.main.show()
        return
    name = host.document.state.case.name
    place = Place("case", name)
    if action.verb == "add":
        host.main.edit(edits.add_case, place, "add a case")
    elif action.verb == "duplicate":
        host.main.edit(edits.duplicate_case, place, f"copy case {name}")
    elif action.verb == "delete":
        if len(host.document.session.cases) == 1:
            host.app.notify("A session has at least one case.", severity="warning")
        else:
            host.main.edit(edits.delete_case, place, f"delete case {name}")
    elif action.verb == "rename":
        await _rename(host, name)
    host.main.show()


def look_at(host: Host, index: int) -> None:
    """Another case on screen."""
    host.document.look_at_case(index)
    host.main.show()


async def _rename(host: Host, name: str) -> None:
    def refuse(text: str) -> str:
        try:
            edits.rename_case(host.document.state, text)
        except ValueError as error:
            return str(error)
        return ""

    chosen = await host.app.push_screen_wait(AskScreen("Rename the case", name, refuse))
    if chosen is not None:
        host.main.runs.rename_case(name, chosen)
        host.main.edit(partial(edits.rename_case, name=chosen), Place("case", chosen), f"rename case {name}")
