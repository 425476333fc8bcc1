"""What was sent from the app is found the next time, unless it is private or the user wants none kept."""

import asyncio
import threading
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adapters.lm.protocol import Completion
from adapters.running.runs import Attempt, Run
from tests.support.open_app import TICKETS
from workbench.sending.sent_runs import PastRun, SentRuns, Wanted
from workbench.state.document import state_of
from workbench.tui.dialogs.sent_runs import one_run, two_runs
from workbench.tui.runs.run_history import RunHistory
from workbench.tui.runs.runs import ColumnRun
from workbench.tui.widgets.text.text_view import Block

RUN = PastRun(
    "2026-01-02T03:04:05", "first", "chat", "offline/exact", "done", 1.5, "a reply\nof lines", values={"n": 1}
)
ATTEMPT = Attempt(1, "chat", "offline/exact", {"messages": [{"role": "user", "content": "hi"}]}, (Completion("ho"),))


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def sent(path: Path | None, **changes: Any) -> ColumnRun:
    run = ColumnRun(1, "first", "chat", "offline/exact", 0.0, sent=state_of(replace(TICKETS, **changes)), path=path)
    run.runs = [Run(True, {"label": "bug"}, (), (ATTEMPT,))]
    return run


def opened(path: Path | None, megabytes: int = 10) -> RunHistory:
    history = RunHistory(megabytes)
    history.open(path)
    return history


def texts(history: RunHistory, wanted: Wanted | None = None, is_private: bool = False) -> list[str]:
    search = history.ask(lambda kept: kept.search(wanted or Wanted(path=history.place)), is_private)
    return [one.text for one in asyncio.run(search).runs]


def text(blocks: list[Block]) -> str:
    return "\n".join((one.lead.text if one.lead else "") + "".join(part.text for part in one.pieces) for one in blocks)


def test_a_failure_is_told_from_the_thread_however_early_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    submit = ThreadPoolExecutor.submit

    def submit_and_wait(pool: ThreadPoolExecutor, *work: Any) -> Future[Any]:
        future = submit(pool, *work)
        wait([future])
        return future

    def fail(*given: Any) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr(ThreadPoolExecutor, "submit", submit_and_wait)
    monkeypatch.setattr(SentRuns, "add", fail)
    told: list[threading.Thread] = []
    opened(tmp_path / "s.json").add(sent(None), lambda _: told.append(threading.current_thread()))
    assert [one is threading.current_thread() for one in told] == [False]


def test_runs_are_there_the_next_time(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    history = opened(path)
    history.add(sent(path), pytest.fail)
    history.close()
    again = opened(path)
    assert texts(again) == texts(again, Wanted(words="hi ho")) == ["ho"]
    assert texts(again, Wanted(words="hi label")) == []
    assert texts(opened(tmp_path / "t.json")) == []


def test_nothing_is_written_of_a_private_session_or_against_the_users_wish(state: Path, tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    private, unwanted = opened(path), opened(path, megabytes=0)
    private.add(sent(path, private=True), pytest.fail)
    unwanted.add(sent(path), pytest.fail)
    assert texts(private, is_private=True) == texts(unwanted) == ["ho"]
    private.close()
    assert texts(opened(path)) == []
    assert not any(b"ho" in one.read_bytes() for one in (state / "adapter-workbench").rglob("*.jsonl"))


def test_runs_of_a_session_without_a_file_go_along_when_it_is_saved(tmp_path: Path) -> None:
    history = opened(None)
    history.add(sent(None), pytest.fail)
    assert texts(history) == ["ho"]
    history.saved_as(tmp_path / "s.json")
    assert texts(history) == ["ho"]
    history.close()
    assert texts(opened(tmp_path / "s.json")) == ["ho"]


def test_every_run_of_several_and_a_run_that_could_not_be_sent_are_kept(tmp_path: Path) -> None:
    history = opened(tmp_path / "s.json")
    several = sent(tmp_path / "s.json")
    several.runs *= 3
    unsent = sent(tmp_path / "s.json")
    unsent.runs, unsent.error = [], "request: no such model"
    history.add(several, pytest.fail)
    history.add(unsent, pytest.fail)
    assert texts(history) == ["", "ho", "ho", "ho"]
    assert texts(history, Wanted(words="such model", failed=True)) == [""]


def test_why_a_run_could_not_be_kept_is_said(state: Path, tmp_path: Path) -> None:
    state.write_text("a file where the folder should be")
    said: list[str] = []
    history = opened(tmp_path / "s.json")
    history.add(sent(tmp_path / "s.json"), said.append)
    history.close()
    assert len(said) == 1 and said[0]


def test_two_runs_are_compared_by_value_and_by_word() -> None:
    other = replace(RUN, text="a reply\nof words", values={"n": 1.0, "m": "[/x]"}, model="offline/sloppy")
    said = text(two_runs(RUN, other))
    assert "n\n- 1\n+ 1.0\nm\n- (none)\n+ [/x]" in said
    assert "- of lines\n+ of words" in said
    assert "the same reply" in text(two_runs(RUN, RUN))
    assert "a reply\nof lines" in text(one_run(RUN))
