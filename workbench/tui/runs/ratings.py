"""What a person thinks of a reply: a rating and a note, which the session keeps with the reply."""

from __future__ import annotations

from dataclasses import replace

from textual.content import Content

from sessions.model.replies import Rating, Reply
from workbench.editing import edits
from workbench.output.display import one_line
from workbench.state.document import State
from workbench.tui.widgets.text.plain import lines

SIGNS: dict[Rating, tuple[str, str]] = {"good": ("★ good", "$text-success"), "bad": ("✗ bad", "$text-error")}


def rate(state: State, case: str, column: str, rating: str, note: str) -> State:
    """The reply of a column with this rating (empty: none) and note; the state itself when there is no reply."""
    reply = next((one.replies.get(column) for one in state.session.cases if one.name == case), None)
    return state if reply is None else edits.set_reply(state, case, column, rated(reply, rating, note))


def rated(reply: Reply, rating: str, note: str) -> Reply:
    """The reply with this rating (a word that is no rating: none) and note (blank: none)."""
    found: Rating | None = "good" if rating == "good" else "bad" if rating == "bad" else None
    return replace(reply, rating=found, note=note.strip() or None)


def words_of(reply: Reply | None) -> Content:
    """The rating and note in a few words; empty without."""
    if reply is None:
        return lines()
    sign, style = SIGNS[reply.rating] if reply.rating is not None else ("", "")
    note = one_line(reply.note or "", 60)
    parts = [(f" · {sign}", style)] if sign else []
    return lines(*parts, *([(f" · “{note}”", "$foreground 60%")] if note else []))
