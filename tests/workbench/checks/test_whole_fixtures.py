"""A fixture in full, as a review shows it: as recorded, and as accepting would record it."""

from __future__ import annotations

from dataclasses import replace

from sessions.causes.cause import FixtureName
from sessions.model.replies import Reply
from sessions.model.session import Case, Column, Session, SignatureText
from sessions.running.recording import record
from sessions.text_diff import line_diff
from workbench.checks.reviewing import whole_of

CHAT = Column("chat", "chat")
THIS = FixtureName("a.session.json", "one", "chat")


def recorded(instructions: str) -> Session:
    replies = {"chat": Reply("[[ ## answer ## ]]\nyes\n\n[[ ## completed ## ]]", source="pasted")}
    case = Case("one", {"question": "Rain?"}, replies=replies)
    session = Session(SignatureText("question -> answer", instructions=instructions), columns=(CHAT,), cases=(case,))
    return record(session, session.cases[0], CHAT)


def test_what_accepting_would_record_stands_beside_what_is_recorded() -> None:
    session = recorded("Say whether it rains.")
    changed = replace(session, signature=replace(session.signature, instructions="Say whether it snows."))
    whole = whole_of(changed, THIS)
    assert whole is not None
    assert "rains" in whole.before.messages[0]["content"] and "snows" in whole.after.messages[0]["content"]
    assert whole.before.attempts[0].completions == whole.after.attempts[0].completions, "the reply stays"


def test_what_is_as_recorded_or_not_there_is_nothing_to_show() -> None:
    session = recorded("Say whether it rains.")
    assert whole_of(session, THIS) is None
    assert whole_of(session, THIS._replace(column="json")) is None
    assert whole_of(session, THIS._replace(case="another")) is None


def test_a_whole_difference_has_every_line_of_both() -> None:
    before = [f"line {number}" for number in range(40)]
    after = [*before[:20], "another", *before[21:]]
    lines = line_diff(before, after, whole=True)
    assert [one[1:] for one in lines if one[0] in " -"] == before
    assert [one[1:] for one in lines if one[0] in " +"] == after
    assert len(line_diff(before, after)) < 10
