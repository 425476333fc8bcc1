"""What is switched off is in no export, and every export says so by the numbers of the session."""

from __future__ import annotations

import pytest

from sessions.exports.exported import source_of
from sessions.exports.formats import FORMATS
from sessions.model.session import Case, Column, Demo, Session, SignatureText

# a program of dspy holds no case at all
SAID = ("demo 1: switched off", "history turn 2: switched off")
SESSION = Session(
    SignatureText("history: dspy.History, q -> a"),
    demos=(Demo({"q": "KEPT AWAY", "a": "x"}, enabled=False), Demo({"q": "shown", "a": "y"})),
    columns=(Column("chat", "chat"),),
    cases=(
        Case(
            "c",
            {"q": "?"},
            ({"q": "1", "a": "one"}, {"q": "KEPT AWAY", "a": "two"}, {"q": "3", "a": "three"}),
            expect={"fields": {"a": {"equals": "z"}}},
            turns_off=frozenset({1}),
        ),
    ),
    model="openai/gpt-6-luna",
)


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "program"])
def test_a_demo_and_a_turn_that_are_off_are_left_out_and_named(name: str) -> None:
    made = FORMATS[name].make(source_of(SESSION, SESSION.columns, SESSION.cases))
    assert "KEPT AWAY" not in made.text
    assert set(SAID) <= set(made.left_out)
