"""A piece of a prompt leads to the row of the session that made it."""

from __future__ import annotations

import pytest

from sessions.session import Case, Demo, Session, SignatureText
from workbench.document import Place, State
from workbench.origins import place_of

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
