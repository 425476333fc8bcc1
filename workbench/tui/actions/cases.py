"""Choose, add, rename, copy and delete cases (ctrl+t), and attach files to their inputs."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Literal

from textual import on
from textual.widget import Widget
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from sessions.model.session import Case
from workbench.editing import edits, field_values
from workbench.output.display import cell_width, one_line
from workbench.state.document import Place, State
from workbench.tui.dialogs.ask import AskScreen, Dialog
from workbench.tui.host import Ended, Host, answer_to, ends_on
from workbench.tui.keys import pane_keys
from workbench.tui.messages import AttachFile
from workbench.tui.textual_internals.access import Options
from workbench.tui.widgets.text.plain import QUIET, lines, plain_notify

Verb = Literal["look", "add", "rename", "duplicate", "delete"]


class CasesScreen(Dialog[tuple[Verb, int] | None]):
    """Choose an action and a case; returns them, or None after escape."""

    BINDINGS = pane_keys(
        "Cases",
        ("escape", "dismiss(None)", "Close", "cases.close", "Close without a choice"),
        ("ctrl+n,a", "choose('add')", "Add", "cases.add", "Add an empty case"),
        ("d", "choose('duplicate')", "Copy", "cases.duplicate", "Copy this case"),
        ("r", "choose('rename')", "Rename", "cases.rename", "Rename this case"),
        ("x,delete", "choose('delete')", "Delete", "cases.delete", "Delete this case"),
    )

    def __init__(self, state: State) -> None:
        keys = (
            "enter show   {cases.add|^n} add   {cases.duplicate|d} copy   {cases.rename|r} rename   "
            "{cases.delete|x} delete   {cases.close|esc} close"
        )
        super().__init__("Cases: inputs and history for one signature", keys)
        self._state = state

    def contents(self) -> Iterable[Widget]:
        options = Options(compact=True)
        cases = self._state.session.cases
        longest = min(24, max([cell_width(one_line(case.name, 40)) for case in cases]))
        for index, case in enumerate(cases):
            name = one_line(case.name, 40)
            mark = ("● ", "$text-accent") if index == self._state.case_index else ("  ", "")
            inputs = field_values.in_one_line(value for value in case.inputs.values() if value != case.name)
            about = [one_line(text, 40) for text in inputs if text][:2]
            recorded = [f"{len(case.recordings)} recorded"] if case.recordings else []
            last = [call.completions for one in case.recordings.values() for call in one.attempts[-1:]]
            failed = sum(any(one.reading is not None and not one.reading.ok for one in replies) for replies in last)
            shown = lines(
                mark,
                (name + " " * (longest - cell_width(name)), "bold"),
                (f"   ✗ {failed} not parsed" if failed else "", "$text-error"),
                ("".join(f"   {one}" for one in (*recorded, *about)), QUIET),
            )
            options.add_option(Option(shown))
        options.highlighted = self._state.case_index
        yield options

    @on(OptionList.OptionSelected)
    def _select(self) -> None:
        self.action_choose("look")

    def action_choose(self, verb: Verb) -> None:
        index = self.query_one(OptionList).highlighted
        self.dismiss((verb, index if index is not None else self._state.case_index))


async def choose_case(host: Host) -> None:
    document = host.document
    verb, row = await answer_to(host, CasesScreen(document.state))
    document.look_at_case(row)
    name = document.state.case.name
    place = Place("case", name)
    if verb == "add":
        host.main.edit(edits.add_case, place, "add a case")
    elif verb == "duplicate":
        host.main.edit(edits.duplicate_case, place, f"copy {Case(name).plain_words}")
    elif verb == "delete":
        if len(document.session.cases) == 1:
            plain_notify(host.app, "A session has at least one case.", severity="warning")
        else:
            host.main.edit(edits.delete_case, place, f"delete {Case(name).plain_words}")
    elif verb == "rename":
        await _rename(host, name)
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
        change = partial(edits.rename_case, name=chosen)
        host.main.edit(change, Place("case", chosen), f"rename {Case(name).plain_words}")


async def attach(host: Host, wanted: AttachFile) -> None:
    """Set the value from a dropped file, or ask for a file; report its type and size, or the error."""
    path = wanted.path
    if path is None:
        if not field_values.takes_file(wanted.field):
            raise Ended(f"Only values of the types {', '.join(field_values.TYPES)} take a file.")
        title, why_not = f"Attach a file to {wanted.field.name}", "enter the path of a file"
        given = await answer_to(host, AskScreen(title, "", lambda text: "" if text.strip() else why_not))
        path = field_values.path_in(given) or Path(os.path.expanduser(given))
    if refused := host.confinement.why_no_file(path):
        raise Ended(refused, "Not attached", "error")
    with ends_on(field_values.AttachError, title="Not attached"):
        value = await asyncio.to_thread(field_values.attached, wanted.field, path, wanted.before)
    wanted.take(value)
    said = f"{path.name}: {field_values.attachment_words(value)}"
    plain_notify(host.app, said, title="Attached", timeout=5)
