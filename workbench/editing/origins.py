"""Map segments of a prompt and lints to their editors, and back."""

from __future__ import annotations

from sessions.model.session import Session
from workbench.state.document import Place, State


def demo_place(session: Session, number: int, field: str | None) -> Place:
    """Return the editor of a demo by its 1-based number, counting disabled demos; row -1 if there is none."""
    return Place("demo", row=number - 1 if 0 < number <= len(session.demos) else -1, field=field or "")


def place_of(state: State, field: str | None, turn: str | None) -> Place:
    """Return the editor of a field's value in a turn (`inputs`, `demo 2`, …) of a prompt."""
    kind, _, number = (turn or "").partition(" ")
    if kind == "demo" and number.isdecimal():
        return demo_place(state.session, int(number), field)
    if kind == "history" and number.isdecimal():
        return Place("history", state.case.name, int(number) - 1, field or "")
    if kind == "inputs" and field:
        return Place("input", state.case.name, field=field)
    return Place("signature", field=field or "")


def key_of(state: State, place: Place) -> tuple[str, str | None, str] | None:
    """Return the origin (kind, field, turn) of the prompt text edited at `place`, or None.

    A row without a field means its first value.
    """
    if place.kind == "instructions":
        return "instructions", None, "system"
    if place.kind == "signature":
        return ("name", place.field, "system") if place.field else None
    if place.kind == "input":
        return "value", place.field, "inputs"
    if place.kind == "demo":
        if not 0 <= place.row < len(state.session.demos) or not state.session.demos[place.row].enabled:
            return None
        turn, values = f"demo {place.row + 1}", state.session.demos[place.row].values
    elif place.kind == "history" and place.row + 1 in (turns := state.case.turns):
        turn, values = f"history {place.row + 1}", turns[place.row + 1]
    else:
        return None
    field = place.field or next(iter(values), "")
    return ("value" if values.get(field) is not None else "filler", field, turn) if field else None
