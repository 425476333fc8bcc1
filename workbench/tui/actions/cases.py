"""Choose, add, rename, copy and delete cases (ctrl+t)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from sessions.model.session import Case
from workbench.editing import edits
from workbench.state.document import Place
from workbench.tui.dialogs.ask import AskScreen
from workbench.tui.keys.bindings import KeyGroup

if TYPE_CHECKING:
    from workbench.tui.host import Host
from typing import ClassVar, Literal, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from workbench.output.display import one_line
from workbench.state.document import State
from workbench.tui.widgets.text.plain import PlainStatic, content, key_hints, lines

_key = KeyGroup("Cases", "cases")


class CaseAction(NamedTuple):
    """An action on the case at `row`."""

    verb: Literal["look", "add", "rename", "duplicate", "delete"]
    row: int


class CasesScreen(ModalScreen[CaseAction | None]):
    """Choose a case and an action; returns None after escape."""

    BINDINGS: ClassVar[list[BindingType]] = [
        _key("escape", "dismiss(None)", "close", "Close", "Close without a choice"),
        _key("ctrl+n,a", "choose('add')", "add", "Add", "Add an empty case"),
        _key("d", "choose('duplicate')", "duplicate", "Copy", "Copy this case"),
        _key("r", "choose('rename')", "rename", "Rename", "Rename this case"),
        _key("x,delete", "choose('delete')", "delete", "Delete", "Delete this case"),
    ]

    def __init__(self, state: State) -> None:
        super().__init__()
        self._state = state

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = content(" Cases: inputs and history for one signature ")
            options = OptionList(compact=True)
            for index, case in enumerate(self._state.session.cases):
                mark = ("● ", "$text-accent") if index == self._state.case_index else ("  ", "")
                recorded = f"   {len(case.recordings)} recorded" if case.recordings else ""
                about = "   ".join(one_line(str(value), 40) for value in list(case.inputs.values())[:2])
                options.add_option(
                    Option(lines(mark, (one_line(case.name, 40), "bold"), (f"   {about}{recorded}", "$foreground 60%")))
                )
            options.highlighted = self._state.case_index
            yield options
            keys = (
                "enter show   {cases.add|^n} add   {cases.duplicate|d} copy   {cases.rename|r} rename   "
                "{cases.delete|x} delete   {cases.close|esc} close"
            )
            yield PlainStatic(key_hints(self.app, keys), classes="dialog-hint")

    @on(OptionList.OptionSelected)
    def _select(self) -> None:
        self.action_choose("look")

    def action_choose(self, verb: Literal["look", "add", "rename", "duplicate", "delete"]) -> None:
        index = self.query_one(OptionList).highlighted
        self.dismiss(CaseAction(verb, index if index is not None else self._state.case_index))


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
        host.main.edit(edits.duplicate_case, place, f"copy {Case(name).in_words}")
    elif action.verb == "delete":
        if len(host.document.session.cases) == 1:
            host.app.notify("A session has at least one case.", severity="warning")
        else:
            host.main.edit(edits.delete_case, place, f"delete {Case(name).in_words}")
    elif action.verb == "rename":
        await _rename(host, name)
    host.main.show()


def look_at(host: Host, index: int) -> None:
    """Show another case."""
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
        host.main.edit(partial(edits.rename_case, name=chosen), Place("case", chosen), f"rename {Case(name).in_words}")
