"""The conversation before the question, as turns of field values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from textual.binding import BindingType
from textual.content import Content

from adapters.signatures.signature import Field
from workbench.editing import edits
from workbench.state.derived import ReadSignature, history_field
from workbench.state.document import PlaceKind, State
from workbench.tui.keys.key_words import keys_of
from workbench.tui.messages import Change, Edit
from workbench.tui.panes import rows
from workbench.tui.panes.rows import OFF, SWITCH, RowsPane, binding
from workbench.tui.widgets.text.plain import lines


class HistoryPane(RowsPane):
    BINDING_GROUP_TITLE = "History"
    HELP = (
        """\
## History

Earlier turns of the conversation. A signature with an input of type `dspy.History` turns them into user and assistant
messages in front of the question. Each turn holds values of the other fields.
"""
        + rows.HELP
        + "`{history.toggle|space}` disables · "
        + rows.MOVE_HELP
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        binding(*SWITCH, "history.toggle", "Leave this turn out of the prompt, or put it in again"),
    ]
    KIND: ClassVar[PlaceKind] = "history"
    NOUN = "turn"
    ABSENT_TEXT = "no value in this turn"

    def __init__(self, edit: Edit) -> None:
        super().__init__(edit, id="history-pane")

    def rows_of(self, state: State) -> Sequence[Mapping[str, Any]]:
        return state.case.history

    def mark_of(self, state: State, row: int) -> tuple[str, str]:
        return OFF if row in state.case.turns_off else ("●", "$text-success")

    def fields_of(self, read: ReadSignature) -> Sequence[Field]:
        turns = history_field(read.signature) if read.signature is not None else None
        return [one for one in super().fields_of(read) if turns is None or one.name != turns.name]

    def note_of(self, state: State, read: ReadSignature) -> Content:
        if read.signature is not None and history_field(read.signature) is None:
            kept = "The turns below are kept, but in no prompt." if state.case.history else ""
            return lines(
                ("This signature takes no history.  ", "bold"),
                (f"An input `history: dspy.History` makes room for it. {kept}", "$foreground 60%"),
            )
        if not state.case.history:
            return lines(("No turns yet.  ", "bold"), (keys_of(self.app)("{rows.add|^n} adds one."), ""))
        hint = keys_of(self.app)(rows.HINT + "  {history.toggle|space} on/off" + rows.MOVE_HINT)
        return lines((hint, "$foreground 60%"))

    def switching(self, row: int) -> Change:
        return partial(edits.toggle_turn, row=row)
