"""Variants: other wordings of the instructions and of fields' descriptions, which columns can use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from textual.binding import BindingType
from textual.content import Content

from adapters.signatures.signature import Field
from sessions.model import variants
from sessions.model.variants import VariantUse
from workbench.editing import variant_edits
from workbench.editing.field_values import ABSENT
from workbench.output.display import one_line
from workbench.state.derived import ReadSignature
from workbench.state.document import Place, PlaceKind, State
from workbench.tui.keys.key_words import keys_of
from workbench.tui.messages import Change, Edit, SuggestVariant, TryVariant
from workbench.tui.panes import rows
from workbench.tui.panes.rows import RowsPane, binding
from workbench.tui.widgets.text.plain import lines

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

Other wordings to try beside the original: of the instructions, or of a field's description. Those of one **tag** go
together, and a column that uses a tag has them in place of the original (`{variants.try|c}` puts one
beside the column at hand).

A variant remembers the text it was written for. When that changes, it is **stale**: it is left out, says so, and stays
here until you take it as it is (`{variants.renew|r}`) or delete it.

`{variants.suggest|s}` asks a model for one. It is shown the signature and the replies that went wrong; what it
writes is shown as a diff, and is kept only if you take it.
"""
        + rows.HELP
        + "`{variants.renew|r}` renews · `{variants.try|c}` tries it in a column · `{rows.open|enter}` edits\n"
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        binding("r", "renew", "Renew", "variants.renew", "A stale variant is meant for today's text as well"),
        binding("s", "suggest", "Suggest", "variants.suggest", "A model writes another wording, to take or to leave"),
        binding("c", "try", "Column", "variants.try", "A column with this tag beside the one at hand"),
    ]
    KIND: ClassVar[PlaceKind] = "variant"
    NOUN = "variant"
    ABSENT_TEXT = "empty"

    def __init__(self, edit: Edit) -> None:
        super().__init__(edit, id="variants-pane")

    def rows_of(self, state: State) -> Sequence[Mapping[str, Any]]:
        return [variant_edits.values_of(one) for one in state.session.variants]

    def fields_of(self, read: ReadSignature) -> Sequence[Field]:
        return variant_edits.fields_of(read.signature, self._state) if self._state is not None else ()

    def summary_of(self, state: State, row: int) -> Content:
        variant = state.session.variants[row]
        quiet = "$foreground 60%"
        score = "" if variant.score is None else f"{variant.score:g}  "
        about = f"  {one_line(variant.of, 40)}  {score}"
        return lines((one_line(variant.tag, 30), "bold"), (about, quiet), one_line(variant.text, 60))

    def mark_of(self, state: State, row: int) -> tuple[str, str]:
        use = self._use(state, row)
        return MARKS[use.state] if use is not None else ("·", "$foreground 60%")

    def note_of(self, state: State, read: ReadSignature) -> Content:
        quiet = "$foreground 60%"
        self._read = read
        if not state.session.variants:
            return lines(
                ("No variants yet.  ", "bold"),
                (keys_of(self.app)("{rows.add|^n} adds one, {variants.suggest|s} asks a model for one. "), ""),
                ("Another wording of the instructions or of a description, compared as a column.", quiet),
            )
        more = "  {variants.renew|r} renew  {variants.try|c} column  {variants.suggest|s} suggest\n"
        keys = lines((keys_of(self.app)(rows.HINT + more), quiet))
        row = min(self._row, len(state.session.variants) - 1)
        use = self._use(state, row)
        if use is None:
            return keys
        users = [one.id for one in state.session.columns if one.variant == use.variant.tag]
        unused = keys_of(self.app)("used by no column: {variants.try|c} tries it in one")
        used = f"used by {one_line(', '.join(users), 60)}" if users else unused
        return Content.assemble(keys, lines((f"{use.variant.tag} · ", "bold"), (f"{used}\n", quiet)), _about(use))

    def problem_of(self, state: State, row: int, field: str, draft: str | None) -> str:
        return "" if draft is None else variant_edits.problem_of(state, row, field, draft)

    def adding(self, at: int) -> Change:
        return partial(variant_edits.add, at=at)

    def duplicating(self, row: int) -> Change:
        return partial(variant_edits.duplicate, row=row)

    def deleting(self, row: int) -> Change:
        return partial(variant_edits.delete, row=row)

    def moving(self, row: int, to: int) -> Change:
        return partial(variant_edits.move, row=row, to=to)

    def typing(self, place: Place, field: Field, text: str) -> Change:
        return partial(variant_edits.set_text, place=place, text=text)

    def choosing(self, place: Place, field: Field, value: Any) -> Change:
        if value is ABSENT or field.name != "of":
            return _unchanged
        return partial(variant_edits.set_of, row=place.row, of=value)

    def action_renew(self) -> None:
        if self._count:
            self._change(partial(variant_edits.renew, row=self._row), "renew")

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
    """The text it takes the place of, and whether it does."""
    quiet = "$foreground 60%"
    if use.state == "lost" or use.original is None:
        return lines(("✗ what it was written for is gone: it is left out", "$text-error"))
    cut = "…" if len(use.original) > LONGEST_ORIGINAL else ""
    original = use.original[:LONGEST_ORIGINAL] + cut or "(nothing)"
    if use.state == "stale":
        stale = "⚠ stale: the text below has changed since it was written, so it is left out; r takes it as it is\n"
        return lines((stale, "$text-warning"), ("in place of: ", quiet), original)
    return lines(("in place of: ", quiet), original)


def _unchanged(state: State) -> State:
    return state
