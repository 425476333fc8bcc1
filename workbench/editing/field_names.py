"""A field under another name, everywhere in a session: its values in every row go along."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from sessions.model.session import Case
from workbench.state.document import State


def rename_field(state: State, text: str, old: str, new: str) -> State:
    """The state with `text` as its signature, in which the field `old` is called `new`.

    Inputs, history, demos, expectations and variants follow. Recordings stay: they say what was.
    """
    session = state.session
    variants = tuple(
        replace(one, of=f"fields.{new}.desc") if one.of == f"fields.{old}.desc" else one for one in session.variants
    )
    demos = tuple(
        replace(one, values=_renamed(one.values, old, new)) if old in one.values else one for one in session.demos
    )
    changed = replace(
        session,
        signature=replace(session.signature, text=text),
        demos=demos,
        cases=tuple(_case(one, old, new) for one in session.cases),
        variants=variants,
    )
    drafts = {
        (place._replace(field=new) if place.field == old and place.kind in ("input", "demo", "history") else place): one
        for place, one in state.drafts.items()
    }
    return replace(state, session=changed, drafts=MappingProxyType(drafts))


def _case(case: Case, old: str, new: str) -> Case:
    return replace(
        case,
        inputs=_renamed(case.inputs, old, new),
        history=tuple(_renamed(one, old, new) for one in case.history),
        expect=_expect(case.expect, old, new),
    )


def _expect(expect: Mapping[str, Any], old: str, new: str) -> Mapping[str, Any]:
    """`fields` are keyed by a field or a path into it; `columns` hold the same again."""
    changed = dict(expect)
    fields = expect.get("fields")
    if isinstance(fields, Mapping):
        changed["fields"] = {_path(key, old, new): one for key, one in fields.items()}
    columns = expect.get("columns")
    if isinstance(columns, Mapping):
        changed["columns"] = {
            id: _expect(one, old, new) if isinstance(one, Mapping) else one for id, one in columns.items()
        }
    return changed if changed != expect else expect


def _path(path: str, old: str, new: str) -> str:
    is_of_field = path.startswith(old) and path[len(old) : len(old) + 1] in ("", ".", "[")
    return new + path[len(old) :] if is_of_field else path


def _renamed(values: Mapping[str, Any], old: str, new: str) -> Mapping[str, Any]:
    """In the order that there was; a value that is there under the new name already stays as it is."""
    if old not in values or new in values:
        return values
    return {new if name == old else name: one for name, one in values.items()}
