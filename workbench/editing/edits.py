"""Edit a session with pure functions.

They return a new `State`, or the same if nothing changes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Unpack

from adapters.late_dataclasses import replace
from adapters.signatures.signature import Field
from sessions.model.replies import Reply
from sessions.model.session import Case
from workbench.editing import field_values, plain_values, row_edits
from workbench.state.document import Place, SessionChanges, State

Row = Mapping[str, Any]


def set_signature(state: State, **changes: Any) -> State:
    """Change attributes of the signature (`SignatureText`)."""
    return set_session(state, signature=replace(state.session.signature, **changes))


def set_session(state: State, **changes: Unpack[SessionChanges]) -> State:
    """Change attributes of the session, if any value differs."""
    if all(getattr(state.session, name) == value for name, value in changes.items()):
        return state
    return state.with_session(**changes)


def set_text(state: State, place: Place, field: Field, text: str) -> State:
    """Set a field of an input, demo or history turn from typed text.

    An invalid text stays as a draft, and the session keeps the last value. A valid text leaves no draft; the editor
    keeps its layout while the text has the same value.
    """
    is_text = field_values.editing_of(field) == "text"
    value = text if is_text else plain_values.read(text, field.annotation)
    if isinstance(value, field_values.NotAValue):
        return row_edits.drafted(state, place, text)
    return set_value(state, place, value)


def set_value(state: State, place: Place, value: Any) -> State:
    """Set a field of an input, demo or history turn to a plain JSON value, without a draft; `ABSENT` removes it."""
    state = row_edits.drafted(state, place, None)
    values = values_at(state, place)
    if field_values.same(values.get(place.field, field_values.ABSENT), value):
        return state
    changed = {**values, place.field: value}
    if value is field_values.ABSENT:
        del changed[place.field]
    if place.kind == "demo":
        demos = list(state.session.demos)
        demos[place.row] = replace(demos[place.row], values=changed)
        return state.with_session(demos=tuple(demos))
    case = state.case
    if place.kind == "history":
        history = (*case.history[: place.row], changed, *case.history[place.row + 1 :])
        return state.with_case(replace(case, history=history))
    return state.with_case(replace(case, inputs=changed))


def values_at(state: State, place: Place) -> Row:
    """Return the values of a case's inputs, a demo or a history turn, by field name."""
    if place.kind == "demo":
        return state.session.demos[place.row].values
    case = state.session.case(place.case)
    return case.history[place.row] if place.kind == "history" else case.inputs


def toggle_demo(state: State, row: int) -> State:
    """Disable or enable a demo; a disabled demo is saved but not in the prompt."""
    demos = list(state.session.demos)
    demos[row] = replace(demos[row], enabled=not demos[row].enabled)
    return state.with_session(demos=tuple(demos))


def toggle_turn(state: State, row: int) -> State:
    """Disable or enable a turn; a disabled turn is saved but not in the prompt."""
    case = state.case
    return state.with_case(replace(case, turns_off=case.turns_off ^ {row}))


def set_reply(state: State, case: str, column: str, reply: Reply) -> State:
    """Set a column's reply (`Case.replies`); do nothing if the case was deleted."""
    known = next((one for one in state.session.cases if one.name == case), None)
    if known is None or known.replies.get(column) == reply:
        return state
    replies = state.session.sort_by_column({**known.replies, column: reply})
    return state.with_case(replace(known, replies=replies))


def edit_reply(state: State, case: str, column: str, text: str, is_new: bool = False) -> State:
    """Set the text of a reply that the user typed, pasted or corrected; `is_new` if nothing old is left."""
    known = next((one for one in state.session.cases if one.name == case), None)
    before = (known.replies.get(column) if known is not None and not is_new else None) or Reply("")
    # a rating belongs to the earlier reply, and an edited reply is to be parsed
    made = replace(before, text=text, raw=False, rating=None, note=None, chunks=None)
    made = replace(made, source="edited") if before.text else replace(made, source="pasted", request_digest=None)
    return set_reply(state, case, column, made)


def guesses_in(case: Case) -> list[str]:
    """Return the parts of an imported call that its text does not prove."""
    if not case.extra:
        return []
    from sessions.imports.reading import KEPT

    kept = case.extra.get(KEPT)
    guesses = kept.get("guessed") if isinstance(kept, Mapping) else None
    return [one for one in guesses if isinstance(one, str)] if isinstance(guesses, list) else []


def dismiss_guess(state: State, guess: str) -> State:
    """Remove a guess about the current case."""
    from sessions.imports.reading import KEPT

    left = [one for one in guesses_in(state.case) if one != guess]
    kept = {**state.case.extra[KEPT], "guessed": left}
    return state.with_case(replace(state.case, extra={**state.case.extra, KEPT: kept}))


def add_case(state: State) -> State:
    """Add an empty case after the current case, and switch to it."""
    return _insert_case(state, Case("case 1"))


def duplicate_case(state: State) -> State:
    """Copy the current case without its recordings and replies, and switch to the copy."""
    inserted = _insert_case(state, replace(state.case, recordings={}, replies={}))
    drafts = dict(state.drafts)
    for place, text in state.drafts.items():
        if place.case == state.case.name:
            drafts[place._replace(case=inserted.case.name)] = text
    return replace(inserted, drafts=MappingProxyType(drafts))


def rename_case(state: State, name: str) -> State:
    """Rename the current case. Raises ValueError when the name is empty or taken."""
    if not name.strip():
        raise ValueError("a case needs a name")
    old = state.case.name
    if name == old:
        return state
    if any(one.name == name for one in state.session.cases):
        raise ValueError(f"a case named {name!r} already exists")
    cases = tuple(replace(one, name=name) if one.name == old else one for one in state.session.cases)
    drafts = {(place._replace(case=name) if place.case == old else place): text for place, text in state.drafts.items()}
    return replace(state.with_session(cases=cases), drafts=MappingProxyType(drafts))


def delete_case(state: State) -> State:
    """Delete the current case. Raises ValueError if it is the only case."""
    if len(state.session.cases) == 1:
        raise ValueError("a session needs at least one case")
    gone = state.case.name
    cases = tuple(one for one in state.session.cases if one.name != gone)
    drafts = {place: text for place, text in state.drafts.items() if place.case != gone}
    at = min(state.case_index, len(cases) - 1)
    return State(replace(state.session, cases=cases), at, MappingProxyType(drafts))


def _insert_case(state: State, case: Case) -> State:
    """Insert a case under a free name after the current case, and switch to it."""
    at, cases = state.case_index + 1, state.session.cases
    case = replace(case, name=row_edits.free_name(case.name, [one.name for one in cases]))
    return replace(state.with_session(cases=(*cases[:at], case, *cases[at:])), case_index=at)


NAME = re.compile(r"(?<![\w.\"'`])([A-Za-z_]\w*)(?=\s*(:|,|$| |->))")
"""Matches a name that a signature's text may declare; group 2 is the text after it."""


def rename_field(state: State, text: str, old: str, new: str) -> State:
    """Rename a field everywhere but in recordings; `text` is the signature with the new name.

    Inputs, history, demos, decisions, expectations, variants and drafts are updated.
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
        cases=tuple(
            replace(
                one,
                inputs=_renamed(one.inputs, old, new),
                history=tuple(_renamed(turn, old, new) for turn in one.history),
                expect=_expect(one.expect, old, new),
            )
            for one in session.cases
        ),
        variants=variants,
    )
    drafts = {
        (place._replace(field=new) if place.field == old and place.kind in ("input", "demo", "history") else place): one
        for place, one in state.drafts.items()
    }
    return replace(state, session=changed, drafts=MappingProxyType(drafts))


def _expect(expect: Mapping[str, Any], old: str, new: str) -> Mapping[str, Any]:
    """Rename fields in expectations, whose keys may be paths into a field, and in those of `columns`."""
    changed = dict(expect)
    fields = expect.get("fields")
    if isinstance(fields, Mapping):
        at_start = re.compile(rf"{re.escape(old)}(?=[.\[]|\Z)")  # the rest is a path into the field
        changed["fields"] = {new + key[len(old) :] if at_start.match(key) else key: one for key, one in fields.items()}
    columns = expect.get("columns")
    if isinstance(columns, Mapping):
        changed["columns"] = {
            id: _expect(one, old, new) if isinstance(one, Mapping) else one for id, one in columns.items()
        }
    return changed if changed != expect else expect


def _renamed(values: Mapping[str, Any], old: str, new: str) -> Mapping[str, Any]:
    """Rename a key and keep the order; an existing value under the new name stays."""
    if old not in values or new in values:
        return values
    return {new if name == old else name: one for name, one in values.items()}


def field_at(lines: Sequence[str], line: int, column: int, names: Collection[str], is_source: bool) -> str | None:
    """Return the last field declared at or before a 0-based position, or None.

    In Python source (`is_source`) a declaration starts its line and ends at an empty line, a class, a closing
    docstring or the next declaration; in the string notation a line may declare several fields.
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
