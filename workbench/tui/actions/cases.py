"""The cases dialog, and what is done about its answer."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from workbench.editing import edits
from workbench.state.document import Place
from workbench.tui.dialogs.ask import AskScreen
from workbench.tui.dialogs.cases import CasesScreen

if TYPE_CHECKING:
    from workbench.tui.app import WorkbenchApp


async def choose_case(app: WorkbenchApp) -> None:
    action = await app.push_screen_wait(CasesScreen(app.document.state))
    if action is None:
        return
    if action.row != app.document.state.case_index:
        app.document.look_at_case(action.row)
    if action.verb == "look":
        app.main.show()
        return
    name = app.document.state.case.name
    place = Place("case", name)
    if action.verb == "add":
        app.main.edit(edits.add_case, place, "add a case")
    elif action.verb == "duplicate":
        app.main.edit(edits.duplicate_case, place, f"copy case {name}")
    elif action.verb == "delete":
        if len(app.document.session.cases) == 1:
            app.notify("A session has at least one case.", severity="warning")
        else:
            app.main.edit(edits.delete_case, place, f"delete case {name}")
    elif action.verb == "rename":
        await _rename(app, name)
    app.main.show()


async def _rename(app: WorkbenchApp, name: str) -> None:
    def refuse(text: str) -> str:
        try:
            edits.rename_case(app.document.state, text)
        except ValueError as error:
            return str(error)
        return ""

    chosen = await app.push_screen_wait(AskScreen("Rename the case", name, refuse))
    if chosen is not None:
        app.main.runs.rename_case(name, chosen)
        app.main.edit(partial(edits.rename_case, name=chosen), Place("case", chosen), f"rename case {name}")
