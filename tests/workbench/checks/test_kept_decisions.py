"""Decisions of a review that has not ended are kept beside the user's files, and never taken for those of another."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.workbench.checks.test_decisions import ALL, EXPECTED, INPUT, SOURCE, TYPE
from workbench.checks import kept_decisions
from workbench.checks.kept_decisions import KeptDecisions, of_files


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
    of_files(["prompts"], ()).keep(ALL.decided([TYPE], "accept"))
    assert of_files([str(tmp_path / "prompts")], ()).taken_up(ALL).accepted
    assert not of_files(["prompts"], ("-k", "slow")).taken_up(ALL).accepted
    assert not of_files(["prompts", "more"], ()).taken_up(ALL).accepted
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
    monkeypatch.setattr(kept_decisions, "MOST_REVIEWS", 3)
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
