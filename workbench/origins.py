"""Where that stands in the editors which a piece of a prompt, or a lint, is about."""

from __future__ import annotations

from sessions.session import Session
from workbench.document import Place, State


def enabled_rows(session: Session) -> list[int]:
    """The 0-based rows of the demos that reach the prompts: demo 1 of a prompt is the first of them."""
    return [row for row, demo in enumerate(session.demos) if demo.enabled]


def demo_place(session: Session, number: int, field: str | None) -> Place:
    """The editor of the prompts' demo `number`, 1-based; row -1 when there is no such demo."""
    rows = enabled_rows(session)
    return Place("demo", row=rows[number - 1] if 0 < number <= len(rows) else -1, field=field or "")


def place_of(state: State, field: str | None, turn: str | None) -> Place:
    """The editor of the value that a turn (`inputs`, `demo 2`, …) of a prompt shows for a field."""
    kind, _, number = (turn or "").partition(" ")
    if kind == "demo" and number.isdecimal():
        return demo_place(state.session, int(number), field)
    if kind == "history" and number.isdecimal():
        return Place("history", state.case.name, int(number) - 1, field or "")
    if kind == "inputs" and field:
        return Place("input", state.case.name, field=field)
    return Place("signature", field=field or "")
