"""The tabs Demos, History, Tools and Variants, each a list of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType

from textual import events
from textual.content import Content

from adapters.prompts.text import DemoUse
from adapters.signatures.agents import CODE_STEP, STEP, takes_steps
from adapters.signatures.signature import Field
from sessions.errors import SessionError, counted
from sessions.model import variants
from workbench.editing import column_edits, row_edits
from workbench.output.display import cut, one_line
from workbench.state.document import Place, ReadSignature, State, history_field
from workbench.tui.keys import keys_of, pane_keys
from workbench.tui.messages import Edit, SuggestVariant, TryVariant
from workbench.tui.panes import rows
from workbench.tui.runs.runs import SendSetup
from workbench.tui.widgets.text.plain import QUIET, key_hints, lines, plain_notify


class DemosPane(rows.RowsPane):
    BINDING_GROUP_TITLE = "Demos"
    BINDINGS = pane_keys("Rows", (*rows.SWITCH, "demos.toggle", "Disable or enable this demo"))
    KIND = "demo"
    NOUN = "demo"
    ABSENT_TEXT = "no value: this demo is incomplete"
    EMPTY = "(not sent while empty)"
    _uses: Mapping[int, DemoUse] = MappingProxyType({})

    def show_uses(self, uses: Sequence[DemoUse]) -> None:
        """Show how the prompt uses each demo; `number` also counts disabled demos."""
        self._uses = {one.number: one for one in uses}

    def mark_of(self, state: State, row: int) -> tuple[str, str]:
        if not state.session.demos[row].enabled:
            return rows.OFF
        use = self._uses.get(row + 1)
        if use is not None and use.use == "dropped":
            is_new = not any(state.session.demos[row].values.values())
            return ("·", QUIET) if is_new else ("✗ dropped", "$text-error")
        if use is not None and use.use == "incomplete":
            return "◐ incomplete", "$text-warning"
        return ("●", "$text-success") if use is not None else ("·", QUIET)

    def note_of(self, state: State, read: ReadSignature) -> Content:
        if not state.session.demos:
            return lines(
                ("No demos yet.  ", "bold"),
                key_hints(self.app, "{rows.add|^n} adds one. ", ""),
                ("Or paste rows: JSON, JSON Lines, CSV. ", ""),
                ("Examples teach the model the task and the format.", QUIET),
            )
        return key_hints(self.app, rows.HINT + "  {demos.toggle|space} on/off" + rows.MOVE_HINT)

    def on_paste(self, event: events.Paste) -> None:
        """Insert rows pasted into the list."""
        event.stop()
        from sessions.imports.demos import pasted

        try:
            demos, notes = pasted(event.text, self._state.session.signature)
        except (SessionError, ValueError) as error:
            plain_notify(self.app, str(error), title="Not pasted", severity="error", timeout=12)
            return
        at = self._row + 1 if self._rows else 0
        self._edit(
            partial(row_edits.insert_demos, at=at, demos=demos), Place("demo", row=at), f"paste {len(demos)} demos"
        )
        self._row = at
        plain_notify(self.app, "\n".join(notes), title="Pasted")


class HistoryPane(rows.RowsPane):
    BINDING_GROUP_TITLE = "History"
    BINDINGS = pane_keys("Rows", (*rows.SWITCH, "history.toggle", "Disable or enable this turn"))
    KIND = "history"
    NOUN = "turn"
    ABSENT_TEXT = "no value in this turn"

    def mark_of(self, state: State, row: int) -> tuple[str, str]:
        return rows.OFF if row in state.case.turns_off else ("●", "$text-success")

    def fields_of(self, read: ReadSignature) -> Sequence[Field]:
        if read.signature is not None and takes_steps(read.signature):
            is_code = self._state.session.signature.predictor.startswith("CodeAct")
            return CODE_STEP if is_code else STEP
        turns = history_field(read.signature) if read.signature is not None else None
        return [one for one in super().fields_of(read) if turns is None or one.name != turns.name]

    def note_of(self, state: State, read: ReadSignature) -> Content:
        if read.signature is not None and takes_steps(read.signature):
            if not state.case.history:
                said = "{app.send_column|F8} asks for a step, {app.continue_run|alt+n} adds it with its result."
                return lines(("No steps yet.  ", "bold"), key_hints(self.app, said, ""))
        elif read.signature is not None and history_field(read.signature) is None:
            kept = "The turns below are kept, but are in no prompt." if state.case.history else ""
            return lines(
                ("This signature has no history.  ", "bold"),
                (f"Add an input `history: dspy.History`. {kept}", QUIET),
            )
        elif not state.case.history:
            return lines(("No turns yet.  ", "bold"), key_hints(self.app, "{rows.add|^n} adds one.", ""))
        return key_hints(self.app, rows.HINT + "  {history.toggle|space} on/off" + rows.MOVE_HINT)


USES_OF_TOOLS: Mapping[str, str] = {
    "ReAct": "The prompt lists the tools; without a tool, the agent can only finish.",
    "CodeAct": "The prompt lists the tools as functions for the model's code.",
}
"""Sentences about the tools in an agent's prompt, by the agent's module."""


class ToolsPane(rows.RowsPane):
    BINDING_GROUP_TITLE = "Tools"
    KIND = "tool"
    NOUN = "tool"
    ABSENT_TEXT = "none"

    def __init__(self, edit: Edit, state: State, sending: SendSetup) -> None:
        super().__init__(edit, state)
        self._sending = sending

    def fields_of(self, read: ReadSignature) -> Sequence[Field]:
        return row_edits.FIELDS

    def summary_of(self, state: State, row: int) -> Content:
        tool = state.session.tools[row]
        count = len(tool.results)
        answers = counted(count, "result") if count else "you are asked"
        handler = self._sending.tool_handlers.get(tool.name)
        if handler is not None:
            answers = f"answered by {one_line(handler.place, 60)}"
        if state.session.signature.predictor.startswith("CodeAct"):
            answers = "for the model's code"
        about = f"  {one_line(tool.description, 60)}" if tool.description else ""
        return lines((one_line(tool.name, 40), "bold"), (f"  {answers}", QUIET), (about, QUIET))

    def mark_of(self, state: State, row: int) -> tuple[str, str]:
        return "●", "$text-success"

    def note_of(self, state: State, read: ReadSignature) -> Content:
        module = state.session.signature.predictor.partition(".")[0]
        if module in ("ProgramOfThought", "Refine"):
            return lines((f"{module} has no tools.  ", "bold"), ("Tools here are in no prompt.", QUIET))
        if not state.session.tools:
            return lines(
                ("No tools yet.  ", "bold"),
                key_hints(self.app, "{rows.add|^n} adds a tool. ", ""),
                (USES_OF_TOOLS.get(module, "Write its results here, or type them while the run waits."), QUIET),
            )
        return key_hints(self.app, rows.HINT + rows.MOVE_HINT)


LONGEST_ORIGINAL = 200
MARKS: Mapping[str, tuple[str, str]] = {
    "current": ("●", "$text-success"),
    "stale": ("⚠ stale", "$text-warning"),
    "lost": ("✗ lost", "$text-error"),
}


class VariantsPane(rows.RowsPane):
    BINDING_GROUP_TITLE = "Variants"
    BINDINGS = pane_keys(
        "Rows",
        ("r", "change('renew')", "Renew", "variants.renew", "Use a stale variant with the current text"),
        ("s", "suggest", "Suggest", "variants.suggest", "Ask a model to rewrite this text"),
        ("c", "try", "Column", "variants.try", "Add a column with this tag beside the focused column"),
    )
    KIND = "variant"
    NOUN = "variant"
    ABSENT_TEXT = "empty"

    def fields_of(self, read: ReadSignature) -> Sequence[Field]:
        return column_edits.fields_of(read.signature, self._state)

    def summary_of(self, state: State, row: int) -> Content:
        variant = state.session.variants[row]
        score = "" if variant.score is None else f"{variant.score:g}  "
        about = f"  {one_line(variant.of, 40)}  {score}"
        return lines((one_line(variant.tag, 30), "bold"), (about, QUIET), one_line(variant.text, 60))

    def mark_of(self, state: State, row: int) -> tuple[str, str]:
        use = self._use(state, row)
        return MARKS[use.state] if use is not None else ("·", QUIET)

    def note_of(self, state: State, read: ReadSignature) -> Content:
        if not state.session.variants:
            return lines(
                ("No variants yet.  ", "bold"),
                key_hints(self.app, "{rows.add|^n} adds one, {variants.suggest|s} asks a model. ", ""),
                ("Another text for the instructions or a description, compared as a column.", QUIET),
            )
        more = "  {variants.renew|r} renew  {variants.try|c} column  {variants.suggest|s} suggest\n"
        keys = key_hints(self.app, rows.HINT + more)
        row = min(self._row, len(state.session.variants) - 1)
        use = self._use(state, row)
        if use is None:
            return keys
        users = [one.id for one in state.session.columns if one.variant == use.variant.tag]
        unused = keys_of(self.app)("used by no column: {variants.try|c} adds one")
        used = f"used by {one_line(', '.join(users), 60)}" if users else unused
        return Content.assemble(keys, lines((f"{use.variant.tag} · ", "bold"), (f"{used}\n", QUIET)), _about(use))

    def action_try(self) -> None:
        if self._rows:
            self.post_message(TryVariant(self._state.session.variants[self._row].tag))

    def action_suggest(self) -> None:
        listed = self._state.session.variants
        self.post_message(SuggestVariant(listed[self._row].of if listed else variants.INSTRUCTIONS))

    def _use(self, state: State, row: int) -> variants.VariantUse | None:
        signature = self._read.signature
        return None if signature is None else variants.use_of(signature, state.session.variants[row])


def _about(use: variants.VariantUse) -> Content:
    """Return the text that a variant replaces, and why it does not if it is left out."""
    if use.state == "lost" or use.original is None:
        return lines(("✗ the text it was written for is gone: it is left out", "$text-error"))
    original = cut(use.original, LONGEST_ORIGINAL) or "(nothing)"
    if use.state == "stale":
        stale = "⚠ stale: the text below changed since, so it is left out; r renews it\n"
        return lines((stale, "$text-warning"), ("replaces: ", QUIET), original)
    return lines(("replaces: ", QUIET), original)
