"""The cases of the session: choose one, or change the list."""

from __future__ import annotations

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
