"""The notes below the editors: warnings, most urgent first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from textual import on
from textual.containers import Vertical
from textual.geometry import Size
from textual.timer import Timer

from adapters.prompts.text import DemoUse
from adapters.signatures.agents import TRAJECTORY, takes_steps
from adapters.signatures.signature import Signature
from sessions.errors import counted
from workbench.editing import edits
from workbench.state.document import Place, ReadSignature, RenderedColumn, State, history_field
from workbench.tui.keys import USUAL, KeyWords, pane_keys
from workbench.tui.messages import Edit, GoTo
from workbench.tui.widgets.text.text_view import Block, Piece, TextView

MOST_NOTES = 60
MOST_ROWS = 6
PAUSE_SECONDS = 0.4
"""Seconds without a change before slower checks run."""
STEP_SECONDS = 0.01
SAID_ALREADY = frozenset(
    {"demo-dropped", "demo-moved", "demo-filled-in", "history-makes-demo-incomplete", "missing-input", "no-inputs"}
)
"""Lints that the other notes already report."""

MOST_KINDS = 8


class Note(NamedTuple):
    """A warning and the place it refers to."""

    sign: str
    text: str
    place: Place
    line: int = 0
    column: int = 0
    guess: str | None = None
    """The guess of an import that this note tells; the user can dismiss it."""


NoteSearch = Iterator[Sequence[Note] | None]
"""A search in steps that yields None until it is done, then the notes."""


class NoteLines(TextView):
    """A view of the notes, limited to a few rows."""

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return min(MOST_ROWS, len(self.rows_within(width - self.scrollbar_size_vertical)))

    def set_height(self, rows: int) -> None:
        super().set_height(rows)
        if min(MOST_ROWS, rows) != self.size.height:
            self.refresh(layout=True)


class NotesPane(Vertical):
    """The notes pane, hidden while there are none; enter or a click on a note goes to its place."""

    BINDING_GROUP_TITLE = "Notes"
    BINDINGS = pane_keys(
        "Notes", ("delete,x", "dismiss", "Dismiss", "notes.dismiss", "Dismiss this guess (undo restores it)")
    )

    def __init__(self, edit: Edit, go_to: GoTo) -> None:
        self._edit, self._go_to = edit, go_to
        self.lines = NoteLines(id="notes")
        super().__init__(id="notes-pane")
        self.display = False
        self._notes: tuple[Note, ...] = ()
        self._first: tuple[Note, ...] = ()
        self._further: tuple[Note, ...] = ()
        self._search: NoteSearch = iter(())
        self._pause: Timer | None = None

    def show(self, notes: Sequence[Note], search: NoteSearch | None = None) -> None:
        """Show the notes.

        After a pause, `search` looks for more notes; until it is done, the last results stay. None goes on with the
        last search.
        """
        if not self.lines.is_attached:
            self.mount(self.lines)  # the first picture shows no notes
        self._first = tuple(notes)
        self._paint((*self._first, *self._further))
        if search is not None:
            if self._pause is not None:
                self._pause.stop()
            self._search = search
            self._pause = self.set_timer(PAUSE_SECONDS, partial(self._go_on, search))

    def _go_on(self, search: NoteSearch) -> None:
        """Run a step of the search, unless a newer search has started."""
        if search is not self._search:
            return
        found = next(search, ())
        if found is None:
            self._pause = self.set_timer(STEP_SECONDS, partial(self._go_on, search))
            return
        self._further = tuple(found)
        self._paint((*self._first, *self._further))

    def _paint(self, notes: tuple[Note, ...]) -> None:
        if notes == self._notes:
            return
        self._notes = notes
        self.display = bool(notes)
        blocks = [
            Block(
                (Piece(note.text),), 0, str(index), Piece(f"{note.sign} ", "error" if note.sign == "✗" else "warning")
            )
            for index, note in enumerate(notes[:MOST_NOTES])
        ]
        self.lines.show(blocks, keep_place=True)

    def action_dismiss(self) -> None:
        """Remove the guess under the cursor, which the user has confirmed or mended."""
        note = self._notes[max(0, self.lines.current)]
        if note.guess is not None:
            self._edit(partial(edits.dismiss_guess, guess=note.guess), note.place, "dismiss a guess")

    @on(TextView.Chosen)
    def _chosen(self, event: TextView.Chosen) -> None:
        event.stop()
        index = int(event.target)
        if index < len(self._notes):
            note = self._notes[index]
            self._go_to(note.place, note.line, note.column)


def notes_of(
    state: State, read: ReadSignature, columns: Sequence[RenderedColumn], keys: KeyWords = USUAL
) -> list[Note]:
    """Return the notes, from the signature to the demos."""
    notes: list[Note] = []
    problem = read.problem
    if problem is not None:
        where = f"line {problem.line}, column {problem.column}"
        kept = "; the columns show the last good one" if read.signature is not None else ""
        said = f"signature, {where}: {problem.message}{kept}"
        notes.append(Note("✗", said, Place("signature"), problem.line, problem.column))
    for place in state.drafts:
        kept = "the prompts have no value for it"
        if place.kind not in ("input", "demo", "history") or place.field in edits.values_at(state, place):
            kept = "the last valid value stays in use"
        notes.append(Note("✗", f"{name_of(place)}: invalid value; {kept}", place))
    if read.error is None:
        for column in columns:
            if column.error:
                notes.append(Note("✗", f"{column.column.id} has no prompt: {column.error}", Place("signature")))
    if read.signature is not None:
        notes += [
            Note("⚠", f"{one.name}: {said}", Place("signature", field=one.name))
            for one in read.signature.fields.values()
            for said in one.notes
        ]
        turns = history_field(read.signature)
        # the case's turns are shown as an agent's steps, unless its trajectory was typed
        is_typed = bool(state.case.inputs.get(TRAJECTORY))
        has_steps = bool(state.case.turns) and not is_typed and takes_steps(read.signature)
        offered = None
        if state.session.tools:
            from adapters.tools.tools import tool_input_field

            offered = tool_input_field(read.signature)  # the Tools tab fills it
        for one in read.signature.input_fields.values():
            place = Place("input", state.case.name, field=one.name)
            is_given = one.name in state.case.inputs or place in state.drafts  # the note of a draft says so
            if one is turns or one.name == offered or not one.is_required or is_given:
                continue
            if one.name != TRAJECTORY or not has_steps:
                notes.append(Note("⚠", f"{one.name} has no value", place))
        if turns is None and state.case.history and not has_steps:
            count = counted(len(state.case.history), "history turn is", "history turns are")
            text = "the Inputs tab has a text for the trajectory"
            why = text if takes_steps(read.signature) else "the signature has no History input"
            said = f"{count} in no prompt: {why}"
            notes.append(Note("⚠", said, Place("history", state.case.name, 0)))
        notes += _variant_notes(state, read.signature)
    if state.session.signature.predictor == "ReAct.react" and not state.session.tools:
        notes.append(Note("⚠", "an agent without tools can only finish: add a tool in Tools", Place("tool")))
    hint = keys("   {notes.dismiss|x} here dismisses it; {app.jump|alt+j} leads here")
    guesses = [
        Note("⚠", f"guessed: {one}{'' if number else hint}", Place("signature"), guess=one)
        for number, one in enumerate(edits.guesses_in(state.case))
    ]
    return notes + _demo_notes(state, demo_uses(columns)) + guesses


def _variant_notes(state: State, signature: Signature) -> list[Note]:
    """Return notes for variants that columns use but that are left out."""
    used = {one.variant for one in state.session.columns if one.variant is not None}
    if not used:
        return []
    from sessions.model.variants import use_of

    found: list[Note] = []
    for row, variant in enumerate(state.session.variants):
        fits = use_of(signature, variant).state if variant.tag in used else "current"
        if fits != "current":
            why = "its original has changed" if fits == "stale" else "its original is gone"
            found.append(
                Note("⚠", f"variant {variant.tag}: {variant.of} is left out: {why}", Place("variant", row=row))
            )
    return found


def demo_uses(columns: Sequence[RenderedColumn]) -> tuple[DemoUse, ...]:
    """Return how the prompts use each demo, which is the same for all adapters of dspy.

    Skips formats without a place for demos, which lack no field.
    """
    for column in columns:
        uses = () if column.request is None else column.request.prompt.demos
        if uses and all(use.use == "complete" or use.missing for use in uses):
            return uses
    return ()


def _demo_notes(state: State, uses: Sequence[DemoUse]) -> list[Note]:
    alike: dict[tuple[str, str], list[int]] = {}
    for use in uses:
        if use.use != "complete" and use.number <= len(state.session.demos):
            values = state.session.demos[use.number - 1].values
            is_null = any(name in values for name in use.missing)
            missing = ", ".join(use.missing) + (" (null counts as none)" if is_null else "")
            alike.setdefault((use.use, missing), []).append(use.number - 1)
    notes: list[Note] = []
    for (how, missing), rows in alike.items():
        numbers = ", ".join(str(row + 1) for row in rows[:6]) + (", …" if len(rows) > 6 else "")
        if len(rows) == 1:
            dropped = f"demo {numbers} is dropped: it has no {missing}"
            first = f"demo {numbers} has no {missing}: it is sent before the complete demos, with a sentence instead"
        else:
            dropped = f"demos {numbers} are dropped: they have no {missing}"
            first = (
                f"demos {numbers} have no {missing}: they are sent before the complete demos, with a sentence instead"
            )
        notes.append(Note("⚠", dropped if how == "dropped" else first, Place("demo", row=rows[0])))
    return notes


def name_of(place: Place) -> str:
    """Return a readable name for a value, such as `demo 2, tags`."""
    if place.kind == "input":
        return f"input {place.field}"
    nouns = {"demo": "demo", "history": "turn", "tool": "tool", "variant": "variant"}
    return f"{nouns[place.kind]} {place.row + 1}, {place.field}" if place.kind in nouns else f" {place.field}"


def lint_notes(state: State, columns: Sequence[RenderedColumn], keys: KeyWords = USUAL) -> NoteSearch:
    """Search the prompts for lints, a column at a time: yield None after each, and the notes at the end."""
    from adapters.lint import ABOUT_TYPES, LINTS, Lint
    from workbench.tui.pages.page import LookedAt
    from workbench.tui.pages.prompt_pages import lints_of, place_of

    looked_at = [LookedAt(state.session, state.case, one, tuple(columns)) for one in columns if not one.error]
    found: dict[Lint, list[LookedAt]] = {}
    for at in looked_at:
        for one in lints_of(at):
            if one.name not in SAID_ALREADY and one.name not in ABOUT_TYPES:
                found.setdefault(one, []).append(at)
        yield None
    # a note for each kind and set of columns, which is named unless all have it
    kinds: dict[tuple[str, tuple[str, ...]], list[Lint]] = {}
    for one, places in found.items():
        kinds.setdefault((one.name, tuple([at.column.id for at in places])), []).append(one)
    order = {name: index for index, name in enumerate(LINTS)}
    notes: list[Note] = []
    for (_, ids), alike in sorted(kinds.items(), key=lambda kind: order.get(kind[0][0], len(order))):
        where = "" if len(ids) == len(looked_at) else f"{', '.join(ids)}: "
        look = keys("{app.look|F7}, {pages.lints|6}")
        more = f" (+{len(alike) - 1} more: {look})" if len(alike) > 1 else ""
        notes.append(Note("⚠", where + alike[0].message + more, place_of(found[alike[0]][0], alike[0])))
    yield notes[:MOST_KINDS]
