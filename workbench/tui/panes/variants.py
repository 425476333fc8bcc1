"""The Variants tab: alternative texts for instructions and descriptions, for use by columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from textual.binding import BindingType
from textual.content import Content

from adapters.signatures.signature import Field
from sessions.model import variants
from sessions.model.variants import VariantUse
from workbench.editing import column_edits
from workbench.editing.field_values import ABSENT
from workbench.output.display import one_line
from workbench.state.document import Place, PlaceKind, ReadSignature, State
from workbench.tui.keys.bindings import keys_of, pane_keys
from workbench.tui.messages import Change, SuggestVariant, TryVariant
from workbench.tui.panes import rows
from workbench.tui.panes.rows import RowsPane
from workbench.tui.widgets.text.plain import QUIET, key_hints, lines

LONGEST_ORIGINAL = 200
MARKS: Mapping[str, tuple[str, str]] = {
    "current": ("●", "$text-success"),
    "stale": ("⚠ stale", "$text-warning"),
    "lost": ("✗ lost", "$text-error"),
}


class VariantsPane(RowsPane):
    BINDING_GROUP_TITLE = "Variants"
    HELP = (
        """\
## Variants

Other texts for the instructions or a field's description. Variants with the same **tag** belong together; a column that
uses a tag replaces the original with them (`{variants.try|c}` adds such a column next to the focused column).

A variant remembers the text it was written for. When that text changes, the variant is **stale** and left out until you
renew it (`{variants.renew|r}`) or delete it.

`{variants.suggest|s}` asks a model to rewrite a text. The model gets the signature and the failed replies; you see
its text as a diff and decide whether to keep it.
"""
        + rows.HELP
        + "`{variants.renew|r}` renews · `{variants.try|c}` adds a column · `{rows.open|enter}` edits\n"
    )
    BINDINGS: ClassVar[list[BindingType]] = pane_keys(
        "Rows",
        ("r", "renew", "Renew", "variants.renew", "Use a stale variant with the current text"),
        ("s", "suggest", "Suggest", "variants.suggest", "Ask a model to rewrite this text"),
        ("c", "try", "Column", "variants.try", "Add a column with this tag beside the focused column"),
    )
    KIND: ClassVar[PlaceKind] = "variant"
    NOUN = "variant"
    ABSENT_TEXT = "empty"

    def rows_of(self, state: State) -> Sequence[Mapping[str, Any]]:
        return [column_edits.values_of(one) for one in state.session.variants]

    def fields_of(self, read: ReadSignature) -> Sequence[Field]:
        return column_edits.fields_of(read.signature, self._state) if self._state is not None else ()

    def summary_of(self, state: State, row: int) -> Content:
        variant = state.session.variants[row]
        score = "" if variant.score is None else f"{variant.score:g}  "
        about = f"  {one_line(variant.of, 40)}  {score}"
        return lines((one_line(variant.tag, 30), "bold"), (about, QUIET), one_line(variant.text, 60))

    def mark_of(self, state: State, row: int) -> tuple[str, str]:
        use = self._use(state, row)
        return MARKS[use.state] if use is not None else ("·", QUIET)

    def note_of(self, state: State, read: ReadSignature) -> Content:
        self._read = read
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

    def problem_of(self, state: State, row: int, field: str, draft: str | None) -> str:
        return "" if draft is None else column_edits.problem_of(state, row, field, draft)

    def typing(self, place: Place, field: Field, text: str) -> Change:
        return partial(column_edits.set_text, place=place, text=text)

    def choosing(self, place: Place, field: Field, value: Any) -> Change:
        if value is ABSENT or field.name != "of":
            return lambda state: state
        return partial(column_edits.set_of, row=place.row, of=value)

    def action_renew(self) -> None:
        if self._count:
            self._change(partial(column_edits.renew, row=self._row), "renew")

    def action_try(self) -> None:
        if self._count and self._state is not None:
            self.post_message(TryVariant(self._state.session.variants[self._row].tag))

    def action_suggest(self) -> None:
        listed = self._state.session.variants if self._state is not None else ()
        self.post_message(SuggestVariant(listed[self._row].of if self._count else variants.INSTRUCTIONS))

    def _use(self, state: State, row: int) -> VariantUse | None:
        signature = self._read.signature
        return None if signature is None else variants.use_of(signature, state.session.variants[row])


def _about(use: VariantUse) -> Content:
    """Return the text that a variant replaces, and why it does not if it is left out."""
    if use.state == "lost" or use.original is None:
        return lines(("✗ the text it was written for is gone: it is left out", "$text-error"))
    cut = "…" if len(use.original) > LONGEST_ORIGINAL else ""
    original = use.original[:LONGEST_ORIGINAL] + cut or "(nothing)"
    if use.state == "stale":
        stale = "⚠ stale: the text below changed since, so it is left out; r renews it\n"
        return lines((stale, "$text-warning"), ("replaces: ", QUIET), original)
    return lines(("replaces: ", QUIET), original)
