"""The Demos and History tabs: rows of field values that become turns of the conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from textual import events
from textual.binding import BindingType
from textual.content import Content

from adapters.prompts.prompt import DemoUse
from adapters.signatures.signature import Field
from sessions.errors import SessionError
from workbench.editing import edits
from workbench.state.derived import ReadSignature, history_field
from workbench.state.document import Place, PlaceKind, State
from workbench.tui.keys.bindings import pane_keys
from workbench.tui.messages import Change, Edit
from workbench.tui.panes import rows
from workbench.tui.panes.rows import OFF, SWITCH, RowsPane
from workbench.tui.widgets.text.plain import key_hints, lines, plain_notify


class DemosPane(RowsPane):
    BINDING_GROUP_TITLE = "Demos"
    HELP = (
        """\
## Demos

Few-shot examples before the question, as turns of a conversation. A **complete** demo has all fields. An
**incomplete** demo lacks some: it moves to the front, with placeholders for what is missing. A demo without inputs or
without outputs is **dropped** from every prompt.

Paste rows into the list: JSON, JSON Lines, or a table (CSV) with a header of field names.
"""
        + rows.HELP
        + "`{demos.toggle|space}` disables · "
        + rows.MOVE_HELP
    )
    BINDINGS: ClassVar[list[BindingType]] = pane_keys(
        "Rows",
        (*SWITCH, "demos.toggle", "Disable or enable this demo"),
    )
    KIND: ClassVar[PlaceKind] = "demo"
    NOUN = "demo"
    ABSENT_TEXT = "no value: this demo is incomplete"

    def __init__(self, edit: Edit) -> None:
        super().__init__(edit, id="demos-pane")
        self._uses: Mapping[int, DemoUse] = {}

    def show_uses(self, uses: Sequence[DemoUse]) -> None:
        """Show the prompt's use of each demo; `number` counts disabled demos too."""
        self._uses = {one.number: one for one in uses}

    def rows_of(self, state: State) -> Sequence[Mapping[str, Any]]:
        return _Values(state)

    def mark_of(self, state: State, row: int) -> tuple[str, str]:
        if not state.session.demos[row].enabled:
            return OFF
        use = self._uses.get(row + 1)
        if use is not None and use.use == "dropped":
            return "✗ dropped", "$text-error"
        if use is not None and use.use == "incomplete":
            return "◐ incomplete", "$text-warning"
        return ("●", "$text-success") if use is not None else ("·", "$foreground 60%")

    def note_of(self, state: State, read: ReadSignature) -> Content:
        if not state.session.demos:
            return lines(
                ("No demos yet.  ", "bold"),
                key_hints(self.app, "{rows.add|^n} adds one. ", ""),
                ("Or paste rows: JSON, JSON Lines, CSV. ", ""),
                ("Examples teach the model the task and the format.", "$foreground 60%"),
            )
        return key_hints(self.app, rows.HINT + "  {demos.toggle|space} on/off" + rows.MOVE_HINT)

    def on_paste(self, event: events.Paste) -> None:
        """Insert rows pasted into the list."""
        event.stop()
        if self._state is None:
            return
        from sessions.imports.demos import pasted

        try:
            demos, notes = pasted(event.text, self._state.session.signature)
        except (SessionError, ValueError) as error:
            plain_notify(self.app, str(error), title="Not pasted", severity="error", timeout=12)
            return
        at = self._row + 1 if self._count else 0
        self._edit(partial(edits.insert_demos, at=at, demos=demos), Place("demo", row=at), f"paste {len(demos)} demos")
        self._row = at
        plain_notify(self.app, "\n".join(notes), title="Pasted")

    def switching(self, row: int) -> Change:
        return partial(edits.toggle_demo, row=row)


class _Values(Sequence[Mapping[str, Any]]):
    """The values of the demos, without building a list at each key."""

    def __init__(self, state: State) -> None:
        self._demos = state.session.demos

    def __len__(self) -> int:
        return len(self._demos)

    def __getitem__(self, index: Any) -> Any:
        return self._demos[index].values


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
    BINDINGS: ClassVar[list[BindingType]] = pane_keys(
        "Rows",
        (*SWITCH, "history.toggle", "Disable or enable this turn"),
    )
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
            kept = "The turns below are kept, but are in no prompt." if state.case.history else ""
            return lines(
                ("This signature has no history.  ", "bold"),
                (f"Add an input `history: dspy.History`. {kept}", "$foreground 60%"),
            )
        if not state.case.history:
            return lines(("No turns yet.  ", "bold"), key_hints(self.app, "{rows.add|^n} adds one.", ""))
        return key_hints(self.app, rows.HINT + "  {history.toggle|space} on/off" + rows.MOVE_HINT)

    def switching(self, row: int) -> Change:
        return partial(edits.toggle_turn, row=row)
