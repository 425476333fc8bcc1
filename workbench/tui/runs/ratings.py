"""What a person thinks of a reply: a rating and a note, which the session keeps with the reply."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from textual.content import Content

from workbench.editing import edits
from workbench.output.display import one_line
from workbench.state.document import State
from workbench.tui.widgets.text.plain import lines

SIGNS = {"good": ("★ good", "$text-success"), "bad": ("✗ bad", "$text-error")}


def rate(state: State, case: str, column: str, rating: str, note: str) -> State:
    """The reply of a column with this rating (empty: none) and note; the state itself when there is no reply."""
    reply = next((one.replies.get(column) for one in state.session.cases if one.name == case), None)
    if reply is None:
        return state
    rated = {key: value for key, value in reply.items() if key not in ("rating", "note")}
    if rating:
        rated["rating"] = rating
    if note.strip():
        rated["note"] = note.strip()
    return edits.set_reply(state, case, column, rated)


def unrated(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    """A reply that is another one now: what was said of it was said of the one before."""
    return {key: value for key, value in reply.items() if key not in ("rating", "note")}


def words_of(reply: Mapping[str, Any] | None) -> Content:
    """The rating and note in a few words; empty without."""
    if not reply:
        return lines()
    sign, style = SIGNS.get(str(reply.get("rating", "")), ("", ""))
    note = one_line(str(reply.get("note", "")), 60)
    parts = [(f" · {sign}", style)] if sign else []
    return lines(*parts, *([(f" · “{note}”", "$foreground 60%")] if note else []))
