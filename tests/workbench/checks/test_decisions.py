"""Decisions on causes: one or all that remain, taken back step by step, and never what recording does not settle."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sessions.causes.cause import Cause, CauseKind, FixtureName, Key
from sessions.checking.verdicts import FixtureResult, Part, Word
from workbench.checks import decisions
from workbench.checks.decisions import Decisions, KeptDecisions, can_be_accepted, decisions_on_files, why_not


def cause(kind: CauseKind, *fixtures: str, name: str = "", source: Word = "drift") -> Cause:
    names = tuple([FixtureName(one, "case", "chat") for one in fixtures])
    verdicts: dict[Part, Word] = {"source": source} if kind == "source" else {}
    return Cause(Key(kind, name, "a", "b"), kind, names, FixtureResult(fixtures[0], "case", "chat", verdicts))


TYPE, INPUT, EXPECTED, SOURCE = (
    cause("type", "1", "2"),
    cause("input", "2"),
    cause("expectation", "1"),
    cause("source", "3"),
)
ALL = Decisions((TYPE, INPUT, EXPECTED, SOURCE))


def test_each_decision_can_be_taken_back_until_nothing_is_decided() -> None:
    one = ALL.decided([TYPE], "accept")
    two = one.decided([INPUT], "leave")
    assert (two.of(TYPE), two.of(INPUT), two.of(EXPECTED)) == ("accept", "leave", None)
    assert two.accepted == {TYPE.id} and two.open == (EXPECTED, SOURCE)
    assert two.undone() == one and one.undone() == ALL and ALL.undone() == ALL
    assert not ALL.can_be_undone


def test_a_decision_that_is_made_already_is_no_step() -> None:
    one = ALL.decided([TYPE], "accept")
    assert one.decided([TYPE], "accept") is one


def test_what_recording_does_not_settle_is_never_accepted_and_says_why() -> None:
    assert ALL.decided([EXPECTED], "accept") is ALL
    assert "edit the expectation" in why_not(EXPECTED)
    assert why_not(TYPE) == "" and why_not(SOURCE) == ""


def test_all_that_remain_are_the_undecided_that_can_be_accepted_one_by_one_a_program_with_them() -> None:
    left = ALL.decided([TYPE], "leave")
    rest = left.decided(left.rest("accept"), "accept")
    assert rest.accepted == {INPUT.id, SOURCE.id} and rest.of(TYPE) == "leave"
    assert ALL.rest("accept") == tuple([one for one in ALL.causes if can_be_accepted(one)])
    assert left.decided(left.rest("leave"), "leave").open == ()


def test_a_program_that_cannot_be_followed_has_no_text_to_take_over() -> None:
    for word in ("gone", "refused"):
        lost = cause("source", "3", source=word)
        assert not can_be_accepted(lost) and "the link or the program" in why_not(lost)
        assert Decisions((TYPE, lost)).rest("accept") == (TYPE,)


def test_a_text_that_cannot_be_read_is_the_sessions_to_mend() -> None:
    unread = cause("source", "3", source="error")
    assert not can_be_accepted(unread) and "fix the session's own text first" in why_not(unread)


def test_a_program_waits_for_its_other_causes_and_a_recording_for_no_program() -> None:
    other, reworded = cause("source", "3", name="fields.note.desc"), cause("instructions", "3")
    decisions = Decisions((SOURCE, other, reworded))
    assert decisions.others_of(SOURCE, FixtureName("3", "case", "chat")) == (other,)
    assert decisions.others_of(reworded, FixtureName("3", "case", "chat")) == ()


def test_the_other_causes_of_a_fixture_are_those_it_waits_for() -> None:
    assert ALL.others_of(TYPE, FixtureName("2", "case", "chat")) == (INPUT,)
    assert ALL.others_of(INPUT, FixtureName("2", "case", "chat")) == (TYPE,)


def test_a_new_look_keeps_the_decisions_and_accepts_no_cause_that_is_gone() -> None:
    again = ALL.decided([TYPE, INPUT], "accept").over((INPUT, EXPECTED))
    assert again.accepted == {INPUT.id} and again.open == (EXPECTED,)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "adapter-workbench" / "decisions"


def test_what_was_decided_last_comes_back_as_one_step() -> None:
    decided = ALL.decided([TYPE], "accept").decided([INPUT], "leave").decided([SOURCE], "accept").undone()
    assert KeptDecisions("one").keep(decided) == ""
    back = KeptDecisions("one").taken_up(ALL)
    assert (back.of(TYPE), back.of(INPUT), back.of(SOURCE)) == ("accept", "leave", None)
    assert back.undone() == ALL


def test_only_of_causes_that_are_still_there_and_still_can_be_accepted(state: Path) -> None:
    kept = KeptDecisions("one")
    kept.keep(ALL.decided([TYPE, INPUT], "accept"))
    assert kept.taken_up(ALL.over((INPUT, EXPECTED))).accepted == {INPUT.id}
    (place,) = state.iterdir()
    place.write_text(place.read_text().replace(INPUT.id, EXPECTED.id))
    assert not kept.taken_up(ALL.over((INPUT, EXPECTED))).can_be_undone


def test_a_review_that_ended_and_one_in_which_all_was_taken_back_leave_nothing(state: Path) -> None:
    kept = KeptDecisions("one")
    kept.keep(ALL.decided([TYPE], "accept"))
    kept.keep(ALL)
    assert not list(state.iterdir())
    kept.keep(ALL.decided([TYPE], "accept"))
    kept.remove()
    assert not list(state.iterdir()) and kept.taken_up(ALL) is ALL


def test_each_way_to_review_has_its_own_and_each_name_of_a_folder_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    decisions_on_files(["prompts"], ()).keep(ALL.decided([TYPE], "accept"))
    assert decisions_on_files([str(tmp_path / "prompts")], ()).taken_up(ALL).accepted
    assert not decisions_on_files(["prompts"], ("-k", "slow")).taken_up(ALL).accepted
    assert not decisions_on_files(["prompts", "more"], ()).taken_up(ALL).accepted
    assert not KeptDecisions("prompts").taken_up(ALL).accepted


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{", '{"decisions": 3}', '{"decisions": {"x": "yes"}}', "[" * 100_000, "\udcff", "x" * 2_000_000],
)
def test_a_file_that_is_none_of_ours_decides_nothing(state: Path, content: str) -> None:
    kept = KeptDecisions("one")
    kept.keep(ALL.decided([TYPE], "accept"))
    (place,) = state.iterdir()
    place.write_bytes(content.replace("x", TYPE.id).encode("utf-8", "surrogateescape"))
    assert kept.taken_up(ALL) is ALL


def test_reviews_that_nobody_goes_on_with_are_bounded(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decisions, "MOST_REVIEWS", 3)
    for number in range(5):
        KeptDecisions(f"{number}").keep(ALL.decided([TYPE], "accept"))
        for age, place in enumerate(sorted(state.iterdir(), key=lambda one: one.stat().st_mtime_ns)):
            os.utime(place, (1000 + age, 1000 + age))
    assert len(list(state.iterdir())) == 3
    assert KeptDecisions("4").taken_up(ALL).accepted and not KeptDecisions("0").taken_up(ALL).accepted


def test_it_says_why_nothing_can_be_kept(state: Path) -> None:
    state.parent.mkdir(parents=True)
    state.write_text("no folder")
    assert str(state) in KeptDecisions("one").keep(ALL.decided([TYPE], "accept"))
    KeptDecisions("one").remove()
