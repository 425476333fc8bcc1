"""Edit columns and variants with pure functions.

They return a new `State`, or the same if nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from adapters.formats import catalog
from adapters.formats.profile import EXTRACTION_OPTION
from adapters.late_dataclasses import replace
from adapters.signatures.signature import Field, Signature
from sessions.model import variants
from sessions.model.session import Column, Variant
from sessions.model.variants import VariantError
from workbench.editing import edits, field_values
from workbench.editing.row_edits import drafted, free_name, hash_of_original
from workbench.state.document import Place, State

BETWEEN = " · "
"""Separates a column's name, variant and model in its id."""


def add_model(state: State, id: str, model: str) -> State:
    """Copy column `id` for another model; the new id contains the model's name."""
    return _beside(state, [id], lambda column: replace(column, model=model))


def add_model_to_all(state: State, model: str) -> State:
    """Add a column for this model to every adapter without one, after the adapter's first column."""
    first: dict[tuple[Any, ...], str] = {}
    for column in state.session.columns:
        first.setdefault(_kind(column), column.id)
    there = {_kind(one) for one in state.session.columns if state.session.model_of(one) == model}
    wanted = [id for kind, id in first.items() if kind not in there]
    return _beside(state, wanted, lambda column: replace(column, model=model))


def add_variant(state: State, id: str, tag: str) -> State:
    """Copy column `id` to use the variants of `tag`."""
    return _beside(state, [id], lambda column: replace(column, variant=tag))


def remove(state: State, id: str) -> State:
    """Remove a column; its replies and recordings stay in the session."""
    return edits.set_columns(state, [one for one in state.session.columns if one.id != id])


def set_model(state: State, id: str, model: str | None) -> State:
    """Set the column's own model; None restores the session's."""
    return _changed(state, id, lambda column: replace(column, model=model))


def set_variant(state: State, id: str, tag: str | None) -> State:
    return _changed(state, id, lambda column: replace(column, variant=tag))


def set_params(state: State, id: str | None, params: Mapping[str, Any]) -> State:
    """Set the parameters of a column, or of the session (for all columns) if `id` is None."""
    if id is not None:
        return _changed(state, id, lambda column: replace(column, params=params))
    return edits.set_session(state, params=params)


def set_release(state: State, version: str, adapters: Iterable[str]) -> State:
    """Switch every column of these adapters to a release of dspy: `chat` → `chat@3.0.4`.

    Columns of other adapters stay unchanged. A column that is named after its adapter is renamed.
    """
    known = set(adapters)
    made = state
    for column in state.session.columns:
        adapter = column.adapter.partition("@")[0]
        wanted = f"{adapter}@{version}"
        if adapter in known and column.adapter != wanted:
            is_named_after_it = column.id.startswith(column.adapter)
            id = _free_id(made, wanted + column.id.removeprefix(column.adapter)) if is_named_after_it else column.id
            new = replace(column, adapter=wanted, id=id)
            made = edits.set_columns(made, [new if one.id == column.id else one for one in made.session.columns])
    return made


def set_adapter(state: State, id: str, adapter: str) -> State:
    """Set the column's adapter, keeping options known to both; an id that names the adapter is updated."""
    column = state.session.column(id)
    if adapter == column.adapter:
        return state
    options = {name: one for name, one in column.options.items() if name in catalog.profile(adapter).options}
    kept = {id for case in state.session.cases for part in (case.recordings, case.replies) for id in part}
    new_id = _free_id(state, adapter + id.removeprefix(column.adapter)) if id.startswith(column.adapter) else id
    new_id = id if new_id in kept else new_id  # a removed column left its replies under that id
    new = replace(column, adapter=adapter, options=options, id=new_id)
    changed = edits.set_columns(state, [new if one.id == id else one for one in state.session.columns])
    return changed if new_id == id else _renamed(changed, id, new_id)


def set_extraction_model(state: State, id: str, model: str | None) -> State:
    """Set the second model of a TwoStep column; None restores the column's own."""

    def change(column: Column) -> Column:
        others = {name: value for name, value in column.options.items() if name != EXTRACTION_OPTION}
        return replace(column, options=others if model is None else {**others, EXTRACTION_OPTION: model})

    return _changed(state, id, change)


def _free_id(state: State, wanted: str) -> str:
    return free_name(wanted, [one.id for one in state.session.columns])


def _kind(column: Column) -> tuple[Any, ...]:
    """Return everything but the model, equal for columns that differ only in their models."""
    return column.adapter, repr(sorted(column.options.items())), repr(sorted(column.params.items())), column.variant


def _name(column: Column) -> str:
    """Return the id composed of a column's name, variant and model."""
    parts = (column.id.partition(BETWEEN)[0], column.variant, column.model)
    return BETWEEN.join([part for part in parts if part])


def _beside(state: State, ids: Iterable[str], make: Callable[[Column], Column]) -> State:
    made = state
    for id in ids:
        column = made.session.column(id)
        new = make(column)
        new = replace(new, id=_free_id(made, _name(new)))
        at = made.session.columns.index(column) + 1
        made = edits.set_columns(made, (*made.session.columns[:at], new, *made.session.columns[at:]))
    return made


def _changed(state: State, id: str, change: Callable[[Column], Column]) -> State:
    """Replace a column; an id composed by `_name` is updated."""
    column = state.session.column(id)
    new = change(column)
    if new == column:
        return state
    if BETWEEN in id and id == _name(column):
        new = replace(new, id=_free_id(state, _name(new)))
    changed = edits.set_columns(state, [new if one.id == id else one for one in state.session.columns])
    return changed if new.id == id else _renamed(changed, id, new.id)


def _renamed(state: State, old: str, new: str) -> State:
    """Rename a column in the recordings, replies and measurements of all cases."""

    def moved(kept: Mapping[str, Any]) -> Mapping[str, Any]:
        return {(new if id == old else id): value for id, value in kept.items()} if old in kept else kept

    cases = tuple(
        replace(one, recordings=moved(one.recordings), replies=moved(one.replies), measured=moved(one.measured))
        for one in state.session.cases
    )
    return state.with_session(cases=cases)


def fields_of(signature: Signature | None, state: State) -> tuple[Field, ...]:
    """Return the fields of a variant's form; `of` also offers originals that were removed."""
    known = variants.targets(signature) if signature is not None else ()
    named = tuple(dict.fromkeys((*known, *(one.of for one in state.session.variants))))
    return (
        Field("tag", "input", str, "variants of one tag go together; a column uses a tag"),
        Field("of", "input", Literal[named or (variants.INSTRUCTIONS,)], "which text it takes the place of"),
        Field("text", "input", str),
    )


def values_of(variant: Variant) -> Mapping[str, Any]:
    return {"tag": variant.tag, "of": variant.of, "text": variant.text}


def problem_of(state: State, row: int, field: str, text: str) -> str:
    """Return why a text is invalid for a field of the variant at `row`, or ""."""
    if field == "of":
        of = field_values.read_json(text)
        fits = isinstance(of, str) and hash_of_original(state, of)
        return "" if fits else 'write "instructions" or "fields.NAME.desc", with the quotes'
    if field != "tag":
        return ""
    try:
        variants.check_tag(text)
    except VariantError as error:
        return str(error)
    taken = _is_taken(state, row, text, state.session.variants[row].of)
    return f"this text already has a variant {text}" if taken else ""


def set_text(state: State, place: Place, text: str) -> State:
    """Set a field of a variant from typed text; an invalid text stays as a draft.

    When the last variant of a tag is renamed, the columns that use the tag follow.
    """
    variant = state.session.variants[place.row]
    if problem_of(state, place.row, place.field, text):
        return drafted(state, place, text)
    if place.field == "of":  # edited as JSON if a signature has too many fields for a choice
        return drafted(set_of(state, place.row, field_values.read_json(text)), place, None)
    if place.field == "text":
        return drafted(_with(state, place.row, replace(variant, text=text)), place, None)
    changed = _with(state, place.row, replace(variant, tag=text))
    if variant.tag != text and variant.tag not in variants.tags(changed.session):
        columns = [replace(one, variant=text) if one.variant == variant.tag else one for one in state.session.columns]
        changed = changed.with_session(columns=tuple(columns))
    return drafted(changed, place, None)


def set_of(state: State, row: int, of: str) -> State:
    """Set which text a variant replaces, unless another variant of its tag replaces that text."""
    variant = state.session.variants[row]
    if of == variant.of or _is_taken(state, row, variant.tag, of):
        return state
    return _with(state, row, replace(variant, of=of, original=hash_of_original(state, of)))


def renew(state: State, row: int) -> State:
    """Confirm a variant for the current original, after the original changed."""
    variant = state.session.variants[row]
    original = hash_of_original(state, variant.of)
    return _with(state, row, replace(variant, original=original)) if original else state


def take(state: State, tag: str, of: str, text: str) -> State:
    """Append a suggested variant of the current text."""
    return replace(state, session=variants.apply_variant(state.session, tag, of, text))


def _is_taken(state: State, row: int, tag: str, of: str) -> bool:
    return any((one.tag, one.of) == (tag, of) for index, one in enumerate(state.session.variants) if index != row)


def _with(state: State, row: int, variant: Variant) -> State:
    if variant == state.session.variants[row]:
        return state
    listed = (*state.session.variants[:row], variant, *state.session.variants[row + 1 :])
    return state.with_session(variants=listed)
