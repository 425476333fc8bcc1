"""The demos: examples that every prompt shows the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from textual import events
from textual.binding import BindingType
from textual.content import Content

from adapters.prompts.prompt import DemoUse
from sessions.errors import SessionError
from workbench.editing import edits
from workbench.state.derived import ReadSignature
from workbench.state.document import Place, PlaceKind, State
from workbench.tui.keys.key_words import keys_of
from workbench.tui.messages import Change, Edit
from workbench.tui.panes import rows
from workbench.tui.panes.rows import OFF, SWITCH, RowsPane, binding
from workbench.tui.widgets.text.plain import lines, plain_notify


class DemosPane(RowsPane):
    BINDING_GROUP_TITLE = "Demos"
    HELP = (
        """\
## Demos

Examples put in front of the question, as turns of a conversation. A demo with all fields is **complete**. One that
lacks some is **incomplete**: it moves to the front, under a prefix, with fillers. One with no input or no output field
at all is **dropped**: no prompt holds it.

Paste rows into the list: JSON, JSON Lines, or a table (CSV) with a header of field names.
"""
        + rows.HELP
        + "`{demos.toggle|space}` disables · "
        + rows.MOVE_HELP
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        binding(*SWITCH, "demos.toggle", "Leave this demo out of the prompt, or put it in again"),
    ]
    KIND: ClassVar[PlaceKind] = "demo"
    NOUN = "demo"
    ABSENT_TEXT = "no value: this demo is incomplete"

    def __init__(self, edit: Edit) -> None:
        super().__init__(edit, id="demos-pane")
        self._uses: Mapping[int, DemoUse] = {}

    def show_uses(self, uses: Sequence[DemoUse]) -> None:
        """What the prompt does with each demo that is not disabled; `number` counts the disabled ones too."""
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
            return "◐ partial", "$text-warning"
        return ("●", "$text-success") if use is not None else ("·", "$foreground 60%")

    def note_of(self, state: State, read: ReadSignature) -> Content:
        if not state.session.demos:
            return lines(
                ("No demos yet.  ", "bold"),
                (keys_of(self.app)("{rows.add|^n} adds one. "), ""),
                ("Or paste rows: JSON, JSON Lines, CSV. ", ""),
                ("Examples teach the model the task and the format.", "$foreground 60%"),
            )
        hint = keys_of(self.app)(rows.HINT + "  {demos.toggle|space} on/off" + rows.MOVE_HINT)
        return lines((hint, "$foreground 60%"))

    def on_paste(self, event: events.Paste) -> None:
        """Rows that were pasted into the list, and not into one of the texts below it."""
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
    """The demos' values, without a list of a thousand being made at each key."""

    def __init__(self, state: State) -> None:
        self._demos = state.session.demos

    def __len__(self) -> int:
        return len(self._demos)

    def __getitem__(self, index: Any) -> Any:
        return self._demos[index].values
