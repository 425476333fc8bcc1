"""Keep drafts in the copies of unsaved work, never in a file of the user's: texts that are not valid values
yet, and which requests the replies came for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from sessions.model.session import Session
from workbench.state.document import Place, State

KEY = "drafts"
"""The key of a copy under which they stand, as objects `{"kind", "case", "row", "field", "text"}`."""


ANSWERED_KEY = "answered"
"""The key of a copy under which requests stand, as objects `{"case", "column", "request"}` with a digest of each."""


def with_drafts(state: State) -> Session:
    """The session as its copy keeps it; the session itself when there is nothing beside it."""
    beside: dict[str, Any] = {}
    if state.drafts:
        beside[KEY] = [{**place._asdict(), "text": text} for place, text in state.drafts.items()]
    if state.answered:
        asked = state.answered.items()
        beside[ANSWERED_KEY] = [{"case": case, "column": column, "request": one} for (case, column), one in asked]
    return replace(state.session, extra={**state.session.extra, **beside}) if beside else state.session


def state_of(session: Session) -> State:
    """Return the state of an opened session or copy; a draft without a place is dropped."""
    kept = {key: session.extra[key] for key in (KEY, ANSWERED_KEY) if isinstance(session.extra.get(key), (list, tuple))}
    if not kept:
        return State(session)
    others = {name: value for name, value in session.extra.items() if name not in kept}
    own = replace(session, extra=others)
    drafts = [_draft(one, own) for one in kept.get(KEY, ()) if isinstance(one, Mapping)]
    answered = [_answered(one) for one in kept.get(ANSWERED_KEY, ()) if isinstance(one, Mapping)]
    return State(
        own,
        drafts=MappingProxyType(dict([one for one in drafts if one is not None])),
        answered=MappingProxyType(dict([one for one in answered if one is not None])),
    )


def _answered(kept: Mapping[str, Any]) -> tuple[tuple[str, str], str] | None:
    case, column, request = (kept.get(name) for name in ("case", "column", "request"))
    if isinstance(case, str) and isinstance(column, str) and isinstance(request, str):
        return (case, column), request
    return None


def _draft(kept: Mapping[str, Any], session: Session) -> tuple[Place, str] | None:
    kind, case, row, field, text = (kept.get(name) for name in ("kind", "case", "row", "field", "text"))
    if kind not in ("input", "demo", "history", "tool", "variant") or not isinstance(row, int):
        return None
    if not (isinstance(case, str) and isinstance(field, str) and isinstance(text, str)):
        return None
    named = next((one for one in session.cases if one.name == case), None)
    if kind == "demo":
        rows = len(session.demos)
    elif kind in ("tool", "variant"):
        rows = len(session.tools if kind == "tool" else session.variants)
    elif named is None:
        return None
    else:
        rows = len(named.history) if kind == "history" else 0
    return (Place(kind, case, row, field), text) if -1 <= row < rows else None
