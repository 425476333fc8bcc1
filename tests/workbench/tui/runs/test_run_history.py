"""What was sent before is there the next time, and a damaged file of it costs what is damaged and no more."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.tui.actions.past_runs import one_run, two_runs
from workbench.tui.runs import run_history
from workbench.tui.runs.run_history import PastRun, RunHistory
from workbench.tui.widgets.text.text_view import Block

RUN = PastRun(
    "2026-01-02T03:04:05", "first", "chat", "offline/exact", "done", 1.5, "a reply\nof lines", values={"n": 1}
)


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def opened(path: Path | None, keeps: bool = True) -> RunHistory:
    history = RunHistory(keeps)
    history.open(path)
    return history


def text(blocks: list[Block]) -> str:
    return "\n".join((one.lead.text if one.lead else "") + "".join(part.text for part in one.pieces) for one in blocks)


def test_runs_are_there_the_next_time_the_newest_first(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    history = opened(path)
    assert history.add(replace(RUN, rating="good", note="clear")) == ""
    assert history.add(replace(RUN, case="other", text="[/x]\x1b\ud800")) == ""
    again = opened(path)
    assert [one.case for one in again.runs] == ["other", "first"]
    assert again.of("first") == (replace(RUN, rating="good", note="clear"),)
    assert again.runs[0].text == "[/x]\x1b\ud800"
    assert opened(tmp_path / "t.json").runs == ()


def test_only_so_many_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_history, "MOST_RUNS", 3)
    history = opened(tmp_path / "s.json")
    for number in range(9):
        history.add(replace(RUN, text=str(number)))
    assert [one.text for one in opened(tmp_path / "s.json").runs] == ["8", "7", "6"]


def test_nothing_is_written_without_a_file_or_against_the_users_wish(tmp_path: Path) -> None:
    for history in (opened(None), opened(tmp_path / "s.json", keeps=False)):
        history.add(RUN)
        assert history.runs == (RUN,)
    assert not (tmp_path / "state").exists()


def test_runs_of_a_session_without_a_file_go_along_when_it_is_saved(tmp_path: Path) -> None:
    history = opened(None)
    history.add(RUN)
    history.saved_as(tmp_path / "s.json")
    assert history.runs == opened(tmp_path / "s.json").runs == (RUN,)


def test_damaged_lines_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    opened(path).add(RUN)
    file = next((tmp_path / "state").rglob("*.jsonl"))
    good = file.read_text()
    file.write_bytes(
        b"{\n[1]\n" + json.dumps({"at": 1}).encode() + b"\n\xff\n" + b"[" * 100_000 + b"\n" + good.encode()
    )
    assert opened(path).runs == (RUN,)


def test_why_a_run_could_not_be_kept_is_said(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where the folder should be")
    assert opened(tmp_path / "s.json").add(RUN) != ""


def test_two_runs_are_compared_by_value_and_by_word() -> None:
    other = replace(RUN, text="a reply\nof words", values={"n": 1.0, "m": "[/x]"}, model="offline/sloppy")
    said = text(two_runs(RUN, other))
    assert "n\n- 1\n+ 1.0\nm\n- (none)\n+ [/x]" in said
    assert "- of lines\n+ of words" in said
    assert "the same reply" in text(two_runs(RUN, RUN))
    assert "a reply\nof lines" in text(one_run(RUN))
