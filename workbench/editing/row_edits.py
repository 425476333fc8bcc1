"""Edit the rows of a session: its demos, the turns of a case's history, its tools and its variants.

Like the other edits, these functions return a new `State`, or the same if nothing changes. A row's drafts move with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from adapters.errors import SignatureError
from adapters.signatures.signature import Signature
from sessions.model import variants
from sessions.model.session import Demo, Tool, Variant
from workbench.state.document import Place, State

NOTHING: Mapping[str, Any] = MappingProxyType({})


def add(state: State, kind: str, at: int, values: Mapping[str, Any] = NOTHING) -> State:
    """Insert a new demo, turn, tool or variant (`kind`); `values` are those of a demo or turn."""
    return _reordered(state, kind, [*range(at), None, *range(at, _count(state, kind))], values)


def duplicate(state: State, kind: str, row: int) -> State:
    """Copy a row below itself; a copied tool gets a free name, a variant a free tag."""
    return _reordered(state, kind, [*range(row + 1), row, *range(row + 1, _count(state, kind))])


def delete(state: State, kind: str, row: int) -> State:
    return _reordered(state, kind, [one for one in range(_count(state, kind)) if one != row])


def move(state: State, kind: str, row: int, to: int) -> State:
    """Move a row to index `to` of the list after the move."""
    count = _count(state, kind)
    if row == to or not (0 <= row < count and 0 <= to < count):
        return state
    order = [one for one in range(count) if one != row]
    order.insert(to, row)
    return _reordered(state, kind, order)


def insert_demos(state: State, at: int, demos: Sequence[Demo]) -> State:
    if not demos:
        return state
    made = _reordered(state, "demo", [*range(at), *[None] * len(demos), *range(at, _count(state, "demo"))])
    there = made.session.demos
    return replace(made, session=replace(made.session, demos=(*there[:at], *demos, *there[at + len(demos) :])))


def drafted(state: State, place: Place, text: str | None) -> State:
    """Keep a text that is not a value yet as the draft of its place; None removes the draft."""
    if state.drafts.get(place) == text:
        return state
    others = {key: one for key, one in state.drafts.items() if key != place}
    return replace(state, drafts=MappingProxyType(others if text is None else {**others, place: text}))


def free_name(wanted: str, taken: Iterable[str], between: str = " ") -> str:
    """Return `wanted`, or if it is taken the same with the next free number: `case 1` → `case 2`."""
    found = re.fullmatch(rf"(.*?)(?:{between}(\d{{1,9}}))?", wanted, re.DOTALL)
    stem, number = (found[1], int(found[2] or 1)) if found is not None else (wanted, 1)
    known = frozenset(taken)
    while wanted in known:
        number += 1
        wanted = f"{stem}{between}{number}"
    return wanted


def hash_of_original(state: State, of: str) -> str:
    """Hash the text that a variant replaces; "" without one, or for a signature that cannot be read."""
    signature = _signature(state)
    original = None if signature is None else variants.original_of(signature, of)
    return "" if original is None else Variant.hash_of(original)


def _signature(state: State) -> Signature | None:
    try:
        return state.session.signature.read()
    except (SignatureError, ValueError, RecursionError):
        return None


def _count(state: State, kind: str) -> int:
    session = state.session
    rows = {"demo": session.demos, "history": state.case.history, "tool": session.tools, "variant": session.variants}
    return len(rows[kind])


def _reordered(state: State, kind: str, order: Sequence[int | None], values: Mapping[str, Any] = NOTHING) -> State:
    """Return the rows in the order of their old indexes; None is a new row."""
    drafts: dict[Place, str] = {}
    for place, text in state.drafts.items():
        if place.kind != kind or (kind == "history" and place.case != state.case.name):
            drafts[place] = text
        else:
            drafts |= {place._replace(row=row): text for row, old in enumerate(order) if old == place.row}
    session = state.session
    if kind == "demo":
        demos = [Demo(values) if old is None else session.demos[old] for old in order]
        session = replace(session, demos=tuple(demos))
    elif kind == "history":
        turns = state.case.history
        history = tuple(values if old is None else turns[old] for old in order)
        off = frozenset(row for row, old in enumerate(order) if old in state.case.turns_off)
        session = session.replace_case(replace(state.case, history=history, turns_off=off))
    elif kind == "tool":
        session = replace(session, tools=_tools(session.tools, order))
    else:
        session = replace(session, variants=_variants(state, order))
    return replace(state, session=session, drafts=MappingProxyType(drafts))


def _tools(known: Sequence[Tool], order: Sequence[int | None]) -> tuple[Tool, ...]:
    made: list[Tool] = []
    for old in order:
        tool = Tool("tool", parameters="") if old is None else known[old]
        if old is None or tool in made:
            tool = replace(tool, name=free_name(tool.name, [one.name for one in (*known, *made)], "_"))
        made.append(tool)
    return tuple(made)


def _variants(state: State, order: Sequence[int | None]) -> tuple[Variant, ...]:
    made: list[Variant] = []
    tags = variants.tags(state.session)
    for old in order:
        if old is None:
            signature, of = _signature(state), variants.INSTRUCTIONS
            text = "" if signature is None else signature.instructions
            made.append(Variant(free_name("v1", tags, ""), of, text, hash_of_original(state, of)))
        else:
            known = state.session.variants[old]
            made.append(replace(known, tag=free_name(known.tag, tags, "")) if known in made else known)
    return tuple(made)
