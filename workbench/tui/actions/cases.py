"""The cases dialog, and what is done about its answer."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from sessions.model.session import Case
from workbench.editing import edits
from workbench.state.document import Place
from workbench.tui.dialogs.ask import AskScreen

if TYPE_CHECKING:
    from workbench.tui.host import Host
from typing import ClassVar, Literal, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from workbench.output.display import one_line
from workbench.state.document import State
from workbench.tui.keys.key_words import keys_of
from workbench.tui.widgets.text.plain import PlainStatic, content, lines

_GROUP = Binding.Group("Cases")


class CaseAction(NamedTuple):
    """What is to be done with the case at `row`."""

    verb: Literal["look", "add", "rename", "duplicate", "delete"]
    row: int


class CasesScreen(ModalScreen[CaseAction | None]):
    """Returns what the user chose to do; the screen below does it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Close", id="cases.close", tooltip="Close without a choice", group=_GROUP),
        Binding("ctrl+n,a", "choose('add')", "Add", id="cases.add", tooltip="An empty case", group=_GROUP),
        Binding("d", "choose('duplicate')", "Copy", id="cases.duplicate", tooltip="A copy of this case", group=_GROUP),
        Binding(
            "r", "choose('rename')", "Rename", id="cases.rename", tooltip="Give this case another name", group=_GROUP
        ),
        Binding("x,delete", "choose('delete')", "Delete", id="cases.delete", tooltip="Delete this case", group=_GROUP),
    ]

    def __init__(self, state: State) -> None:
        super().__init__()
        self._state = state

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = content(" Cases: inputs and history under one signature ")
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
                "enter looks at it   {cases.add|^n} add   {cases.duplicate|d} copy   {cases.rename|r} rename   "
                "{cases.delete|x} delete   {cases.close|esc} closes"
            )
            yield PlainStatic(lines((keys_of(self.app)(keys), "$foreground 60%")), classes="dialog-hint")

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
        host.main.edit(partial(edits.rename_case, name=chosen), Place("case", chosen), f"rename {Case(name).in_words}")
