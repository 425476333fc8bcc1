"""What cannot be recorded is said with the place to mend."""

from __future__ import annotations

from typing import Any

import pytest

from sessions.errors import SessionError
from sessions.model.recording import record
from sessions.model.session import Case, Column, Demo, Session, SignatureText

CHAT = Column("chat", "chat")
SEEN = """class Seen(dspy.Signature):
    history: dspy.History = dspy.InputField()
    picture: dspy.Image = dspy.InputField()
    answer: str = dspy.OutputField()
"""
GOOD, BAD = "https://example.com/a.png", 4


@pytest.mark.parametrize(
    ("picture", "demo", "turn", "mend"),
    [
        (BAD, GOOD, GOOD, "mend the input `picture`"),
        (GOOD, BAD, GOOD, "mend the field `picture` of demo 3"),
        (GOOD, GOOD, BAD, "mend `picture` in turn 2 of the history"),
    ],
)
def test_where_no_prompt_can_be_made_the_field_to_mend_is_named(picture: Any, demo: Any, turn: Any, mend: str) -> None:
    demos = (Demo({"picture": BAD}, enabled=False), Demo({"picture": GOOD}), Demo({"picture": demo, "answer": "a"}))
    turns = ({"picture": BAD}, {"picture": turn, "answer": "a"})
    case = Case("c", {"picture": picture}, turns, replies={"chat": {"text": "x"}}, turns_off=frozenset({0}))
    session = Session(SignatureText(SEEN), demos, (CHAT,), (case,))
    with pytest.raises(SessionError, match="no prompt can be made: BuildError: field") as raised:
        record(session, case, CHAT)
    assert raised.value.hint == mend
