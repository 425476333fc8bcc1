"""The document: one owner of the session, with undo over everything."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sessions.model.session import Session, SignatureText
from tests.support.open_app import TICKETS
from workbench.editing import edits
from workbench.state.document import TYPING_PAUSE, Document, Place

HERE = Place("signature")


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def type_into(document: Document, text: str, place: Place = HERE) -> None:
    document.edit(edits.set_signature(document.state, text=text), place, "signature", typing=True)


def texts(document: Document) -> str:
    return document.session.signature.text


def test_typing_without_a_pause_is_one_step() -> None:
    clock = Clock()
    document = Document(TICKETS, clock=clock)
    for text in ("a", "ab", "abc"):
        type_into(document, text)
        clock.now += TYPING_PAUSE / 2
    clock.now += TYPING_PAUSE
    type_into(document, "abcd")
    document.undo()
    assert texts(document) == "abc"
    document.undo()
    assert document.session is TICKETS
    assert document.undo() is None


def test_typing_elsewhere_and_saving_begin_another_step() -> None:
    document = Document(TICKETS, clock=Clock())
    type_into(document, "a")
    type_into(document, "b", Place("instructions"))
    type_into(document, "c")
    document.mark_saved(Path("a.json"))
    type_into(document, "cd")
    assert [document.undo() and texts(document) for _ in range(4)] == ["c", "b", "a", TICKETS.signature.text]


def test_acts_are_steps_of_their_own_however_quick() -> None:
    document = Document(TICKETS, clock=Clock())
    for _ in range(3):
        document.edit(edits.toggle_demo(document.state, 0), Place("demo", row=0), "switch")
    document.undo()
    assert document.session.demos[0].enabled


def test_redo_follows_undo_until_something_else_is_changed() -> None:
    document = Document(TICKETS, clock=Clock())
    document.edit(edits.toggle_demo(document.state, 0), Place("demo", row=0), "switch")
    document.undo()
    assert document.redo() is not None and not document.session.demos[0].enabled
    document.undo()
    type_into(document, "x")
    assert document.redo() is None


def test_undoing_back_to_what_was_saved_makes_it_clean() -> None:
    document = Document(TICKETS, clock=Clock())
    assert not document.dirty
    type_into(document, "x")
    assert document.dirty
    document.undo()
    assert not document.dirty
    document.redo()
    document.mark_saved(Path("a.json"))
    assert not document.dirty
    document.undo()
    assert document.dirty


def test_a_change_that_changes_nothing_is_no_step() -> None:
    document = Document(TICKETS, clock=Clock())
    type_into(document, TICKETS.signature.text)
    assert document.undo() is None


def test_looking_at_another_case_is_no_change_and_undo_goes_back_to_where_it_happened() -> None:
    document = Document(TICKETS, clock=Clock())
    place = Place("input", "first", field="ticket")
    document.edit(edits.set_value(document.state, place, "x"), place, "input")
    document.look_at_case(1)
    assert document.state.case.name == "second"
    document.undo()
    assert document.state.case.name == "first"


def test_a_session_without_cases_gets_one_to_edit_and_stays_clean() -> None:
    document = Document(replace(Session(SignatureText("a -> b")), cases=()))
    assert document.state.case.name == "case 1" and not document.dirty
