"""Rename a field everywhere in a session, and find the field declared at a place."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from sessions.model.session import Case
from workbench.state.document import State

NAME = re.compile(r"(?<![\w.\"'`])([A-Za-z_]\w*)(?=\s*(:|,|$| |->))")
"""A name in a signature's text where it may be declared, with the text after it."""


def rename_field(state: State, text: str, old: str, new: str) -> State:
    """Rename field `old` to `new`, with `text` as the new signature.

    Inputs, history, demos, decisions, expectations and variants follow. Recordings stay as they were made.
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
        signature=replace(session.signature, text=text, decisions=_renamed(session.signature.decisions, old, new)),
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
    """Rename fields in expectations: keys may be paths into a field, `columns` hold the same again."""
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
    """Rename a key and keep the order; an existing value under the new name stays."""
    if old not in values or new in values:
        return values
    return {new if name == old else name: one for name, one in values.items()}


def field_at(lines: Sequence[str], line: int, column: int, names: Collection[str], is_source: bool) -> str | None:
    """Return the field declared last at or before a 0-based place, or None.

    In Python source (`is_source`) a declaration begins its line and goes on until an empty line, a class or the next
    declaration; in the string notation names follow each other.
    """
    for number in range(min(line, len(lines) - 1), -1, -1):
        text = lines[number]
        if is_source:
            first = NAME.match(text.lstrip())
            if first is not None and first.group(2) == ":" and first.group(1) in names:
                return first.group(1)
            if not text.strip() or text.startswith("class ") or text.rstrip().endswith('"""'):
                return None
            continue
        limit = column if number == line else len(text)
        found = [one.group(1) for one in NAME.finditer(text) if one.start() <= limit and one.group(1) in names]
        if found:
            return found[-1]
    return None
