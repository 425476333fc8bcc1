"""The tools that a model may call in a run, and what each answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from textual.content import Content

from adapters.signatures.signature import Field
from workbench.editing import tool_edits
from workbench.editing.field_values import ABSENT
from workbench.output.display import one_line
from workbench.state.derived import ReadSignature
from workbench.state.document import Place, PlaceKind, State
from workbench.tui.messages import Change, Edit
from workbench.tui.panes import rows
from workbench.tui.panes.rows import RowsPane
from workbench.tui.runs.runs import SendSetup
from workbench.tui.widgets.text.plain import key_hints, lines


class ToolsPane(RowsPane):
    BINDING_GROUP_TITLE = "Tools"
    HELP = (
        """\
## Tools

Functions that a model may call. They are not run: each call gets the result written here for its **arguments**, else
the **default**; without either, the run waits and you are asked, and what you type is kept for these arguments. To have
calls answered by a function of your own, start with `workbench SESSION --tool NAME=module:function`.

Arguments are one typed line, `query: str, limit: int = 5`, or a JSON Schema. A result may be any JSON.
`{app.look|F7}`, Calls, shows each turn of a run.
"""
        + rows.HELP
        + rows.MOVE_HELP
    )
    KIND: ClassVar[PlaceKind] = "tool"
    NOUN = "tool"
    ABSENT_TEXT = "none"

    def __init__(self, edit: Edit, sending: SendSetup) -> None:
        super().__init__(edit, id="tools-pane")
        self._sending = sending

    def rows_of(self, state: State) -> Sequence[Mapping[str, Any]]:
        return [tool_edits.values_of(one) for one in state.session.tools]

    def fields_of(self, read: ReadSignature) -> Sequence[Field]:
        return tool_edits.FIELDS

    def summary_of(self, state: State, row: int) -> Content:
        tool = state.session.tools[row]
        count = len(tool.results)
        answers = "you are asked" if not count else f"{count} result{'' if count == 1 else 's'}"
        handler = self._sending.tool_handlers.get(tool.name)
        if handler is not None:
            answers = f"answered by {one_line(handler.place, 60)}"
        quiet = "$foreground 60%"
        about = f"  {one_line(tool.description, 60)}" if tool.description else ""
        return lines((one_line(tool.name, 40), "bold"), (f"  {answers}", quiet), (about, quiet))

    def mark_of(self, state: State, row: int) -> tuple[str, str]:
        return "●", "$text-success"

    def note_of(self, state: State, read: ReadSignature) -> Content:
        if not state.session.tools:
            return lines(
                ("No tools yet.  ", "bold"),
                key_hints(self.app, "{rows.add|^n} adds one. ", ""),
                ("Write their results here, or type them while the run waits.", "$foreground 60%"),
            )
        return key_hints(self.app, rows.HINT + rows.MOVE_HINT)

    def problem_of(self, state: State, row: int, field: str, draft: str | None) -> str:
        return "" if draft is None else tool_edits.problem_of(state, row, field, draft)

    def adding(self, at: int) -> Change:
        return partial(tool_edits.add, at=at)

    def duplicating(self, row: int) -> Change:
        return partial(tool_edits.duplicate, row=row)

    def deleting(self, row: int) -> Change:
        return partial(tool_edits.delete, row=row)

    def moving(self, row: int, to: int) -> Change:
        return partial(tool_edits.move, row=row, to=to)

    def typing(self, place: Place, field: Field, text: str) -> Change:
        return partial(tool_edits.set_text, place=place, text=text)

    def choosing(self, place: Place, field: Field, value: Any) -> Change:
        assert value is ABSENT  # no field of a tool is a choice
        return partial(tool_edits.clear, place=place)
