"""A fixture in full, as a review shows it: as recorded, and as accepting would record it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

from sessions.causes.cause import FixtureName
from sessions.file import store
from sessions.model.replies import Reply
from sessions.model.session import Case, Column, Session, SignatureText
from sessions.running.recording import record
from sessions.text_diff import line_diff
from workbench.checks.checking import Plan
from workbench.checks.reviewing import FilesLook, review, whole_of

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


def test_a_look_at_a_fixture_of_a_checked_file_reads_the_file_no_more(tmp_path: Path) -> None:
    path, session = tmp_path / "a.session.json", recorded("Say whether it rains.")
    store.save(replace(session, signature=replace(session.signature, instructions="Say whether it snows.")), path)
    (cause,) = review([path], Plan()).causes
    look, (fixture,) = FilesLook(Plan()), cause.fixtures
    found = look(cause, fixture)
    with patch.object(store, "load") as load:
        assert look(cause, fixture) == found != ()
    load.assert_not_called()


def test_a_whole_difference_has_every_line_of_both() -> None:
    before = [f"line {number}" for number in range(40)]
    after = [*before[:20], "another", *before[21:]]
    lines = line_diff(before, after, whole=True)
    assert [one[1:] for one in lines if one[0] in " -"] == before
    assert [one[1:] for one in lines if one[0] in " +"] == after
    assert len(line_diff(before, after)) < 10
