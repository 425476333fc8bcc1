"""Edit the columns of a session: pure functions from a `State` to the next, or the same if unchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from adapters.formats.profile import EXTRACTION_OPTION
from sessions.model.session import Column
from workbench.editing import edits
from workbench.state.document import State

BETWEEN = " · "
"""Separates a column's name, variant and model in its id."""


def free_id(state: State, wanted: str) -> str:
    """Return `wanted`, or with the first free number after it: `chat` → `chat 2`."""
    known = {one.id for one in state.session.columns}
    number = 2
    chosen = wanted
    while chosen in known:
        chosen, number = f"{wanted} {number}", number + 1
    return chosen


def add_model(state: State, id: str, model: str) -> State:
    """Add a column like `id` after it for another model, whose name its id contains."""
    return _beside(state, [id], lambda column: replace(column, model=model))


def add_model_to_all(state: State, model: str) -> State:
    """Give every adapter a column for this model, after the adapter's first, if it has none."""
    first: dict[tuple[Any, ...], str] = {}
    for column in state.session.columns:
        first.setdefault(_kind(column), column.id)
    there = {_kind(one) for one in state.session.columns if state.session.model_of(one) == model}
    wanted = [id for kind, id in first.items() if kind not in there]
    return _beside(state, wanted, lambda column: replace(column, model=model))


def add_variant(state: State, id: str, tag: str) -> State:
    """Add a column like `id` after it that uses the variants of `tag`."""
    return _beside(state, [id], lambda column: replace(column, variant=tag))


def remove(state: State, id: str) -> State:
    """Remove a column; its replies and recordings stay in the session."""
    return edits.set_columns(state, [one for one in state.session.columns if one.id != id])


def set_model(state: State, id: str, model: str | None) -> State:
    """Set the column's own model; None: the session's."""
    return _changed(state, id, lambda column: replace(column, model=model))


def set_variant(state: State, id: str, tag: str | None) -> State:
    return _changed(state, id, lambda column: replace(column, variant=tag))


def set_params(state: State, id: str | None, params: Mapping[str, Any]) -> State:
    """Set the parameters of a column, or of the session (all columns) where `id` is None."""
    if id is not None:
        return _changed(state, id, lambda column: replace(column, params=params))
    if params == state.session.params:
        return state
    return replace(state, session=replace(state.session, params=params))


def set_release(state: State, version: str, adapters: Iterable[str]) -> State:
    """Have every column of these adapters rendered and read by that release of dspy: `chat` → `chat@3.0.4`.

    Adapters that are not dspy's, or that the release lacks, stay. A column that is named after its adapter is renamed.
    """
    known = set(adapters)
    made = state
    for column in state.session.columns:
        adapter = column.adapter.partition("@")[0]
        wanted = f"{adapter}@{version}"
        if adapter in known and column.adapter != wanted:
            is_named_after_it = column.id.startswith(column.adapter)
            id = free_id(made, wanted + column.id.removeprefix(column.adapter)) if is_named_after_it else column.id
            new = replace(column, adapter=wanted, id=id)
            made = edits.set_columns(made, [new if one.id == column.id else one for one in made.session.columns])
    return made


def set_fallback(state: State, fallback: bool) -> State:
    """Set whether Chat and XML ask again as JSON after a reply that does not parse."""
    if fallback == state.session.fallback:
        return state
    return replace(state, session=replace(state.session, fallback=fallback))


def set_extraction_model(state: State, id: str, model: str | None) -> State:
    """Set the second model of a TwoStep column; None: the column's own."""

    def change(column: Column) -> Column:
        others = {name: value for name, value in column.options.items() if name != EXTRACTION_OPTION}
        return replace(column, options=others if model is None else {**others, EXTRACTION_OPTION: model})

    return _changed(state, id, change)


def _kind(column: Column) -> tuple[Any, ...]:
    """Return what two columns share if only their models differ."""
    return column.adapter, repr(sorted(column.options.items())), repr(sorted(column.params.items())), column.variant


def _name(column: Column) -> str:
    """Return the id that describes a column: its name, variant and model."""
    parts = (column.id.partition(BETWEEN)[0], column.variant, column.model)
    return BETWEEN.join([part for part in parts if part])


def _beside(state: State, ids: Iterable[str], make: Callable[[Column], Column]) -> State:
    made = state
    for id in ids:
        column = made.session.column(id)
        new = make(column)
        new = replace(new, id=free_id(made, _name(new)))
        at = made.session.columns.index(column) + 1
        made = edits.set_columns(made, (*made.session.columns[:at], new, *made.session.columns[at:]))
    return made


def _changed(state: State, id: str, change: Callable[[Column], Column]) -> State:
    """Replace a column; an id that describes it is updated."""
    column = state.session.column(id)
    new = change(column)
    if new == column:
        return state
    if BETWEEN in id and id == _name(column):
        new = replace(new, id=free_id(state, _name(new)))
    changed = edits.set_columns(state, [new if one.id == id else one for one in state.session.columns])
    return changed if new.id == id else _renamed(changed, id, new.id)


def _renamed(state: State, old: str, new: str) -> State:
    """Rename a column in everything that cases keep of it."""

    def moved(kept: Mapping[str, Any]) -> Mapping[str, Any]:
        return {(new if id == old else id): value for id, value in kept.items()} if old in kept else kept

    cases = tuple(
        [
            replace(one, recordings=moved(one.recordings), replies=moved(one.replies), measured=moved(one.measured))
            for one in state.session.cases
        ]
    )
    return replace(state, session=replace(state.session, cases=cases))
