"""A piece of a prompt leads to the row of the session that made it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sessions.model.session import Case, Column, Demo, Session, SignatureText
from workbench.state.document import Place, State, key_of, place_of
from workbench.state.engine import Engine
from workbench.tui.pages.page import LookedAt
from workbench.tui.pages.prompt_pages import lints_of
from workbench.tui.pages.prompt_pages import place_of as lint_place
from workbench.tui.panes.notes import notes_of

STATE = State(
    Session(
        SignatureText("q -> a"),
        demos=(Demo({"q": "1"}, enabled=False), Demo({"q": "2"}), Demo({"q": "3"}, enabled=False), Demo({"q": "4"})),
        cases=(Case("rain"),),
    )
)


@pytest.mark.parametrize(("turn", "row"), [("demo 2", 1), ("demo 4", 3), ("demo 5", -1), ("demo 0", -1)])
def test_a_demo_of_a_prompt_has_the_number_that_it_has_in_the_session(turn: str, row: int) -> None:
    assert place_of(STATE, "q", turn) == Place("demo", row=row, field="q")


def test_a_history_turn_is_a_row_of_the_case() -> None:
    assert place_of(STATE, "q", "history 2") == Place("history", "rain", 1, "q")


def test_an_input_is_edited_in_its_case() -> None:
    assert place_of(STATE, "q", "inputs") == Place("input", "rain", field="q")


@pytest.mark.parametrize("turn", [None, "system", "demo x", "demo ²"])
def test_everything_else_is_the_signature(turn: str | None) -> None:
    assert place_of(STATE, "q", turn) == Place("signature", field="q")


@pytest.mark.parametrize("turn", ["demo 2", "demo 4", "inputs"])
def test_an_editor_leads_back_to_the_piece_that_led_to_it(turn: str) -> None:
    state = State(replace(STATE.session, cases=(Case("rain", {"q": "?"}),)))
    assert key_of(state, place_of(state, "q", turn)) == ("value", "q", turn)


@pytest.mark.parametrize(
    "place",
    [Place("demo", row=0, field="q"), Place("demo", row=9), Place("history", "rain", 0), Place("signature")],
)
def test_what_is_in_no_prompt_has_no_origin(place: Place) -> None:
    assert key_of(STATE, place) is None


def test_a_field_without_a_value_makes_a_filler_and_a_row_alone_stands_for_its_first_value() -> None:
    assert key_of(STATE, Place("demo", row=1, field="a")) == ("filler", "a", "demo 2")
    assert key_of(STATE, Place("demo", row=3)) == ("value", "q", "demo 4")


def test_the_numbers_of_a_prompt_its_lints_and_the_rows_are_the_same_when_a_demo_is_disabled() -> None:
    demos = (Demo({"q": "1", "a": "x"}, enabled=False), Demo({"q": "2", "a": "y"}), Demo({"q": "3"}))
    session = replace(STATE.session, demos=demos, columns=(Column("chat", "chat"),), cases=(Case("rain", {"q": "?"}),))
    state = State(session)
    rendered = Engine().column(state, session.columns[0])
    assert rendered.request is not None
    turns = {message.turn for message in rendered.request.prompt.messages}
    assert {place_of(state, "q", turn).row for turn in turns if turn.startswith("demo")} == {1}
    at = LookedAt(session, state.case, rendered, (rendered,))
    dropped = next(one for one in lints_of(at) if one.name == "demo-dropped")
    assert "Demo 3" in dropped.message
    assert lint_place(at, dropped).row == 2
    assert [note.place.row for note in notes_of(state, Engine().read_signature(state), [rendered])] == [2]


def test_the_numbers_of_a_prompt_its_lints_and_the_rows_are_the_same_when_a_turn_is_disabled() -> None:
    signature = SignatureText("history: dspy.History, q -> a")
    turns = ({"q": "1", "a": "x"}, {"q": "2"}, {"q": "3", "a": "[[ ## q ## ]]"})
    case = Case("rain", {"q": "?"}, turns, turns_off=frozenset({0}))
    session = replace(STATE.session, signature=signature, columns=(Column("chat", "chat"),), cases=(case,))
    state = State(session)
    rendered = Engine().column(state, session.columns[0])
    assert rendered.request is not None
    turns_shown = {one.turn for one in rendered.request.prompt.messages if one.turn.startswith("history")}
    assert {place_of(state, "q", turn).row for turn in turns_shown} == {1, 2}
    at = LookedAt(session, state.case, rendered, (rendered,))
    found = {one.name: lint_place(at, one).row for one in lints_of(at)}
    assert found["history-turn-prints-none"] == 1
    assert found["marker-in-value"] == 2
    assert key_of(state, Place("history", "rain", 0, "q")) is None
    assert key_of(state, Place("history", "rain", 2, "q")) == ("value", "q", "history 3")
