"""A piece of a prompt leads to the row of the session that made it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sessions.session import Case, Demo, Session, SignatureText
from workbench.document import Place, State
from workbench.origins import key_of, place_of

STATE = State(
    Session(
        SignatureText("q -> a"),
        demos=(Demo({"q": "1"}, enabled=False), Demo({"q": "2"}), Demo({"q": "3"}, enabled=False), Demo({"q": "4"})),
        cases=(Case("rain"),),
    )
)


@pytest.mark.parametrize(("turn", "row"), [("demo 1", 1), ("demo 2", 3), ("demo 3", -1), ("demo 0", -1)])
def test_a_demo_of_a_prompt_is_counted_among_the_enabled_ones(turn: str, row: int) -> None:
    assert place_of(STATE, "q", turn) == Place("demo", row=row, field="q")


def test_a_history_turn_is_a_row_of_the_case() -> None:
    assert place_of(STATE, "q", "history 2") == Place("history", "rain", 1, "q")


def test_an_input_is_edited_in_its_case() -> None:
    assert place_of(STATE, "q", "inputs") == Place("input", "rain", field="q")


@pytest.mark.parametrize("turn", [None, "system", "demo x", "demo ²"])
def test_everything_else_is_the_signature(turn: str | None) -> None:
    assert place_of(STATE, "q", turn) == Place("signature", field="q")


@pytest.mark.parametrize("turn", ["demo 1", "demo 2", "inputs"])
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
    assert key_of(STATE, Place("demo", row=1, field="a")) == ("filler", "a", "demo 1")
    assert key_of(STATE, Place("demo", row=3)) == ("value", "q", "demo 2")
