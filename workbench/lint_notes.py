"""The lints of the prompt on screen as notes below the editors: one line for each kind, and how many there are."""

from __future__ import annotations

from itertools import groupby

from workbench.document import State
from workbench.live import LiveColumn
from workbench.pages.lints import lints_of, place_of
from workbench.pages.looked_at import LookedAt
from workbench.panes.notes import Note

SAID_ALREADY = frozenset(
    {"demo-dropped", "demo-moved", "demo-filled-in", "history-makes-demo-incomplete", "missing-input"}
)
"""What the notes that are made at every keystroke say themselves."""

MOST_KINDS = 8


def notes_of(state: State, column: LiveColumn | None) -> list[Note]:
    """The notes for the column that keys about one column mean."""
    if column is None or column.error:
        return []
    at = LookedAt(state.session, state.case, column, (column,))
    notes: list[Note] = []
    for name, group in groupby(lints_of(at), key=lambda one: one.name):
        alike = list(group)
        if name in SAID_ALREADY:
            continue
        more = f" (+{len(alike) - 1} more: F7, 6)" if len(alike) > 1 else ""
        notes.append(Note("⚠", alike[0].message + more, place_of(at, alike[0])))
    return notes[:MOST_KINDS]
