"""What a person should notice about the session as it is: one line each, most pressing first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.style import Style
from textual.timer import Timer

from adapters.prompt import DemoUse
from workbench.document import Place, State
from workbench.live import LiveColumn, LiveSignature, history_field
from workbench.messages import GoTo
from workbench.origins import enabled_rows
from workbench.widgets.plain import PlainStatic, content

MOST_NOTES = 60
PAUSE_SECONDS = 0.4
"""Seconds without a change after which the notes that take longer to find are looked for."""


class Note(NamedTuple):
    """`place` is where a click on the note leads."""

    sign: str
    text: str
    place: Place
    line: int = 0
    column: int = 0


class NotesPane(VerticalScroll, can_focus=False):
    """Hidden while there is nothing to notice."""

    def __init__(self) -> None:
        super().__init__(id="notes-pane")
        self._notes: tuple[Note, ...] = ()
        self._first: tuple[Note, ...] = ()
        self._further: tuple[Note, ...] = ()
        self._pause: Timer | None = None
        self._text = PlainStatic(id="notes")

    def compose(self) -> ComposeResult:
        yield self._text

    def show(self, notes: Sequence[Note], find_more: Callable[[], Sequence[Note]] | None = None) -> None:
        """`find_more` is asked for further notes once nothing has changed for a moment; the last stay till then."""
        self._first = tuple(notes)
        self._paint((*self._first, *self._further))
        if self._pause is not None:
            self._pause.stop()
        if find_more is not None:
            self._pause = self.set_timer(PAUSE_SECONDS, partial(self._find_more, find_more))

    def _find_more(self, find_more: Callable[[], Sequence[Note]]) -> None:
        self._further = tuple(find_more())
        self._paint((*self._first, *self._further))

    def _paint(self, notes: tuple[Note, ...]) -> None:
        if notes == self._notes:
            return
        self._notes = notes
        self.display = bool(notes)
        self._text.show(Content("\n").join([_line(index, note) for index, note in enumerate(self._notes[:MOST_NOTES])]))

    def on_click(self, event: events.Click) -> None:
        index = event.style.meta.get("note")
        if isinstance(index, int) and index < len(self._notes):
            note = self._notes[index]
            self.post_message(GoTo(note.place, note.line, note.column))


def notes_of(state: State, live: LiveSignature, columns: Sequence[LiveColumn]) -> list[Note]:
    """Everything to notice, from the signature down to the demos."""
    notes: list[Note] = []
    if live.error is not None:
        where = f"line {live.error.line}, column {live.error.column}"
        said = f"signature, {where}: {live.error.message}; the columns show the last good one"
        notes.append(Note("✗", said, Place("signature"), live.error.line, live.error.column))
    for place in state.drafts:
        notes.append(Note("✗", f"{_name_of(place)}: not a value yet; the last one stays in use", place))
    if live.error is None:
        for column in columns:
            if column.error:
                notes.append(Note("✗", f"{column.column.id}: cannot be rendered: {column.error}", Place("signature")))
    if live.signature is not None:
        notes += [
            Note("⚠", f"{one.name}: {said}", Place("signature", field=one.name))
            for one in live.signature.fields.values()
            for said in one.notes
        ]
        turns = history_field(live.signature)
        notes += [
            Note("⚠", f"{one.name} has no value", Place("input", state.case.name, field=one.name))
            for one in live.signature.input_fields.values()
            if one is not turns and one.is_required and one.name not in state.case.inputs
        ]
        if turns is None and state.case.history:
            said = f"{len(state.case.history)} history turns are in no prompt: the signature has no History input"
            notes.append(Note("⚠", said, Place("history", state.case.name, 0)))
    notes += _demo_notes(state, demo_uses(columns))
    return notes


def demo_uses(columns: Sequence[LiveColumn]) -> tuple[DemoUse, ...]:
    """What the prompts do with the demos (every adapter of dspy's does the same)."""
    for column in columns:
        if column.request is not None and column.request.prompt.demos:
            return column.request.prompt.demos
    return ()


def _demo_notes(state: State, uses: Sequence[DemoUse]) -> list[Note]:
    enabled = enabled_rows(state.session)
    alike: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for use in uses:
        if use.use != "complete" and use.number <= len(enabled):
            alike.setdefault((use.use, use.missing), []).append(enabled[use.number - 1])
    return [
        Note("⚠", _about_demos(rows, use, ", ".join(missing)), Place("demo", row=rows[0]))
        for (use, missing), rows in alike.items()
    ]


def _about_demos(rows: Sequence[int], use: str, missing: str) -> str:
    numbers = ", ".join(str(row + 1) for row in rows[:6]) + (", …" if len(rows) > 6 else "")
    if len(rows) == 1:
        what = "is dropped: it lacks" if use == "dropped" else "goes first, with a filler: it lacks"
        return f"demo {numbers} {what} {missing}"
    what = "are dropped: they lack" if use == "dropped" else "go first, with fillers: they lack"
    return f"demos {numbers} {what} {missing}"


def _name_of(place: Place) -> str:
    noun = {"input": "input", "demo": f"demo {place.row + 1},", "history": f"turn {place.row + 1},"}.get(place.kind, "")
    return f"{noun} {place.field}"


def _line(index: int, note: Note) -> Content:
    style = "$text-error" if note.sign == "✗" else "$text-warning"
    line = Content.assemble(content(f"{note.sign} ", style), content(note.text))
    return line.stylize(Style.from_meta({"note": index}))
