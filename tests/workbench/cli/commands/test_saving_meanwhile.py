"""What is written to the file while a model answers is not lost by `--save`, and neither is the reply."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adapters.running.runs import Run as Outcome
from sessions.file import saving, store
from workbench.__main__ import main
from workbench.output import exit_codes
from workbench.sending import sending

Run = Callable[..., Any]
Meanwhile = Callable[[Callable[[], object]], None]


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Meanwhile:
    """Has something done while the first model that is sent to answers."""

    def do(act: Callable[[], object]) -> None:
        send, waiting = sending.send, [act]

        def answer(*given: Any, **named: Any) -> Outcome:
            outcome = send(*given, **named)
            if waiting:
                waiting.pop()()
            return outcome

        monkeypatch.setattr(sending, "send", answer)

    return do


def edit(path: str, change: Callable[[dict[str, Any]], object]) -> Callable[[], None]:
    def act() -> None:
        data = json.loads(Path(path).read_text())
        change(data)
        Path(path).write_text(json.dumps(data))

    return act


def test_an_edit_made_while_the_model_answered_stays(rain: str, run: Run, meanwhile: Meanwhile) -> None:
    meanwhile(edit(rain, lambda data: data.update(notes="my edit", later="unknown to us")))
    assert run("send", rain, "--save").code == 0
    session = store.load(rain)
    assert session.notes == "my edit"
    assert session.extra == {"later": "unknown to us"}
    assert list(session.cases[0].recordings) == ["chat", "json", "xml"]
    assert run("check", rain).code == 0


def test_of_two_sends_at_once_both_are_recorded(rain: str, run: Run, meanwhile: Meanwhile) -> None:
    meanwhile(lambda: main(["send", rain, "--adapter", "xml", "--save"]))
    assert run("send", rain, "--adapter", "chat", "json", "--save").code == 0
    assert sorted(store.load(rain).cases[0].recordings) == ["chat", "json", "xml"]


def test_of_two_sends_of_one_column_the_later_stands_and_the_other_is_an_earlier_version(
    rain: str, run: Run, meanwhile: Meanwhile
) -> None:
    meanwhile(lambda: main(["send", rain, "--adapter", "chat", "--model", "offline/chatty", "--save"]))
    assert run("send", rain, "--adapter", "chat", "--save").code == 0
    newest = saving.restore_points(rain)[0].place
    texts = [store.load(one).cases[0].replies["chat"].text for one in (rain, newest)]
    assert texts[0].startswith("[[ ## answer ## ]]")
    assert not texts[1].startswith("[[ ##")


def test_a_reply_whose_case_is_gone_is_kept_aside_and_the_file_is_left_alone(
    rain: str, run: Run, meanwhile: Meanwhile
) -> None:
    meanwhile(edit(rain, lambda data: data["cases"][0].update(name="another")))
    done = run("send", rain, "--save")
    assert done.code == exit_codes.USAGE
    assert "changed meanwhile, in the same place: cases · case 1" in done.err
    assert [(case.name, dict(case.replies)) for case in store.load(rain).cases] == [("another", {})]
    aside = re.search(r"kept in (.+\.json)", done.err)
    assert aside is not None, done.err
    assert list(store.load(aside[1]).cases[0].recordings) == ["chat"]


def test_a_file_that_is_no_session_any_more_is_left_alone(rain: str, run: Run, meanwhile: Meanwhile) -> None:
    meanwhile(lambda: Path(rain).write_text('{"half'))
    done = run("send", rain, "--save")
    assert done.code == exit_codes.USAGE
    assert "kept in" in done.err
    assert Path(rain).read_text() == '{"half'


def test_a_column_that_was_taken_away_meanwhile_is_not_brought_back_in_silence(
    rain: str, run: Run, meanwhile: Meanwhile
) -> None:
    meanwhile(edit(rain, lambda data: data["columns"].pop(0)))
    done = run("send", rain, "--adapter", "chat", "--save")
    assert (done.code, "columns · chat" in done.err) == (exit_codes.USAGE, True)
