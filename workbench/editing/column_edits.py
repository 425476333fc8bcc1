"""Edit columns and variants with pure functions.

They return a new `State`, or the same if nothing changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypedDict, Unpack

from adapters.formats import catalog
from adapters.formats.profile import EXTRACTION_OPTION
from adapters.late_dataclasses import replace
from adapters.signatures.signature import Field, Signature
from sessions.model import variants
from sessions.model.session import Column, Variant
from workbench.editing import edits, field_values
from workbench.editing.row_edits import drafted, free_name, hash_of_original
from workbench.state.document import Place, State

BETWEEN = " · "
"""Separates a column's name, variant and model in its id."""


class Attributes(TypedDict, total=False):
    """The attributes of a column that `copy` and `change` can set."""

    options: Mapping[str, Any]
    model: str | None
    params: Mapping[str, Any]
    variant: str | None


def copy(state: State, id: str, **changes: Unpack[Attributes]) -> State:
    """Copy column `id` beside itself with other attributes; the new id contains its variant and model."""
    columns = state.session.columns
    column = state.session.column(id)
    new = replace(column, **changes)
    new = replace(new, id=_free_id(state, _name(new)))
    at = columns.index(column) + 1
    return edits.set_session(state, columns=(*columns[:at], new, *columns[at:]))


def add_model_to_all(state: State, model: str) -> State:
    """Add a column for this model to every adapter without one, after the adapter's first column."""
    first: dict[tuple[Any, ...], str] = {}
    for column in state.session.columns:
        first.setdefault(_kind(column), column.id)
    there = {_kind(one) for one in state.session.columns if state.session.model_of(one) == model}
    for kind, id in first.items():
        if kind not in there:
            state = copy(state, id, model=model)
    return state


def remove(state: State, id: str) -> State:
    """Remove a column; its replies and recordings stay in the session."""
    return edits.set_session(state, columns=tuple([one for one in state.session.columns if one.id != id]))


def change(state: State, id: str, **changes: Unpack[Attributes]) -> State:
    """Change attributes of column `id`; an id composed by `_name` is updated."""
    column = state.session.column(id)
    new = replace(column, **changes)
    if BETWEEN in id and id == _name(column):
        new = replace(new, id=_free_id(state, _name(new)) if new != column else id)
    return _put(state, id, new)


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
            columns = [new if one.id == column.id else one for one in made.session.columns]
            made = edits.set_session(made, columns=tuple(columns))
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
    return _put(state, id, replace(column, adapter=adapter, options=options, id=new_id))


def set_extraction_model(state: State, id: str, model: str | None) -> State:
    """Set the second model of a TwoStep column; None restores the column's own."""
    options = state.session.column(id).options
    others = {name: value for name, value in options.items() if name != EXTRACTION_OPTION}
    return change(state, id, options=others if model is None else {**others, EXTRACTION_OPTION: model})


def _free_id(state: State, wanted: str) -> str:
    return free_name(wanted, [one.id for one in state.session.columns])


def _kind(column: Column) -> tuple[Any, ...]:
    """Return everything but the model, equal for columns that differ only in their models."""
    return column.adapter, repr(sorted(column.options.items())), repr(sorted(column.params.items())), column.variant


def _name(column: Column) -> str:
    """Return the id composed of a column's name, variant and model."""
    parts = (column.id.partition(BETWEEN)[0], column.variant, column.model)
    return BETWEEN.join([part for part in parts if part])


def _put(state: State, id: str, new: Column) -> State:
    """Replace a column; the recordings, replies and measurements of all cases follow its new id."""
    columns = tuple([new if one.id == id else one for one in state.session.columns])
    if new.id == id:
        return edits.set_session(state, columns=columns)

    def moved(kept: Mapping[str, Any]) -> Mapping[str, Any]:
        return {(new.id if key == id else key): value for key, value in kept.items()} if id in kept else kept

    cases = tuple(
        replace(one, recordings=moved(one.recordings), replies=moved(one.replies), measured=moved(one.measured))
        for one in state.session.cases
    )
    return state.with_session(columns=columns, cases=cases)


def fields_of(signature: Signature | None, state: State) -> tuple[Field, ...]:
    """Return the fields of a variant's form; `of` also offers originals that were removed."""
    known = variants.targets(signature) if signature is not None else ()
    named = tuple(dict.fromkeys((*known, *(one.of for one in state.session.variants))))
    return (
        Field("tag", "input", str, "variants with the same tag are applied together; a column names its tag"),
        Field("of", "input", Literal[named or (variants.INSTRUCTIONS,)], "the text that it replaces"),
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
    except variants.VariantError as error:
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
