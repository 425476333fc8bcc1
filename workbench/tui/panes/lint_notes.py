"""Show the lints of the prompts as notes, a line for each kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from adapters.lint import ABOUT_TYPES, LINTS, Lint
from workbench.state.document import RenderedColumn, State
from workbench.tui.keys.bindings import USUAL, KeyWords
from workbench.tui.pages.page import LookedAt
from workbench.tui.pages.prompt_pages import lints_of, place_of
from workbench.tui.panes.notes import Note

SAID_ALREADY = frozenset(
    {"demo-dropped", "demo-moved", "demo-filled-in", "history-makes-demo-incomplete", "missing-input"}
)
"""Lints that the other notes already report."""

MOST_KINDS = 8


def search(state: State, columns: Sequence[RenderedColumn], keys: KeyWords = USUAL) -> Iterator[Sequence[Note] | None]:
    """Search the columns in turn: yield None after each, and the notes at the end."""
    looked_at = [LookedAt(state.session, state.case, one, tuple(columns)) for one in columns if not one.error]
    found: dict[Lint, list[LookedAt]] = {}
    for at in looked_at:
        for one in lints_of(at):
            if one.name not in SAID_ALREADY and one.name not in ABOUT_TYPES:
                found.setdefault(one, []).append(at)
        yield None
    yield _notes(found, len(looked_at), keys)


def _notes(found: dict[Lint, list[LookedAt]], count: int, keys: KeyWords) -> list[Note]:
    """Return a note for each kind and set of columns, naming the columns unless all have it."""
    kinds: dict[tuple[str, tuple[str, ...]], list[Lint]] = {}
    for one, places in found.items():
        kinds.setdefault((one.name, tuple([at.column.id for at in places])), []).append(one)
    order = {name: index for index, name in enumerate(LINTS)}
    notes: list[Note] = []
    for (_, ids), alike in sorted(kinds.items(), key=lambda kind: order.get(kind[0][0], len(order))):
        where = "" if len(ids) == count else f"{', '.join(ids)}: "
        look = keys("{app.look|F7}, {pages.lints|6}")
        more = f" (+{len(alike) - 1} more: {look})" if len(alike) > 1 else ""
        notes.append(Note("⚠", where + alike[0].message + more, place_of(found[alike[0]][0], alike[0])))
    return notes[:MOST_KINDS]
