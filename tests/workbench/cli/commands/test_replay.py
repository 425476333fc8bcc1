"""`send --replay`: the recorded answer to the recorded question, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adapters import lm
from sessions.file import store
from sessions.model.replies import Measured
from workbench.output import exit_codes

Run = Callable[..., Any]


@pytest.fixture
def recorded(rain: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> str:
    assert run("send", rain, "--save").code == 0

    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("a model was opened")

    monkeypatch.setattr(lm, "open", refuse)
    return rain


def test_the_same_request_is_answered_from_the_recording(recorded: str, run: Run) -> None:
    done = run("send", recorded, "--replay", "--json")
    assert done.code == 0, done.err
    case = store.load(recorded).cases[0]
    for column, shape in done.json["runs"].items():
        text = case.recordings[column].attempts[0].completions[0].text
        assert shape["attempts"][0]["completions"][0]["text"] == text


def test_a_replayed_run_that_is_saved_records_the_same(recorded: str, run: Run) -> None:
    before = store.load(recorded).cases[0].recordings
    assert run("send", recorded, "--replay", "--save").code == 0
    assert store.load(recorded).cases[0].recordings == before


def test_another_request_is_exit_3_and_says_what_differs(recorded: str, run: Run) -> None:
    session = store.load(recorded)
    changed = replace(session, signature=replace(session.signature, instructions="Say whether it hails."))
    store.save(changed, recorded)
    before = Path(recorded).read_bytes()
    done = run("send", recorded, "--replay", "--save")
    assert done.code == exit_codes.PROVIDER
    assert "nothing is recorded for this request" in done.err
    assert "Say whether it hails." in done.err
    assert Path(recorded).read_bytes() == before


def test_another_model_and_a_column_without_a_recording_are_exit_3(recorded: str, run: Run) -> None:
    done = run("send", recorded, "--replay", "--model", "openai/gpt-4o", "--adapter", "chat")
    assert done.code == exit_codes.PROVIDER
    assert "model (recorded with offline/exact)" in done.err
    done = run("send", recorded, "--replay", "--adapter", "baml")
    assert done.code == exit_codes.PROVIDER
    assert "no recording to replay" in done.err


@pytest.mark.parametrize("model", ["offline/sloppy", "offline/truncated"])
def test_a_reply_that_does_not_parse_is_replayed_with_its_verdict(rain: str, run: Run, model: str) -> None:
    sent = run("send", rain, "--save", "--model", model, "--adapter", "chat", "twostep", "--json")
    session = store.load(rain)
    store.save(replace(session, model=model), rain)
    replayed = run("send", rain, "--replay", "--adapter", "chat", "--json")
    assert replayed.code in (sent.code, 0)
    assert replayed.json["runs"]["chat"]["ok"] == sent.json["runs"]["chat"]["ok"]


def test_a_replay_tells_what_was_measured_then(recorded: str, run: Run) -> None:
    session = store.load(recorded)
    took = Measured({"prompt_tokens": 4321, "completion_tokens": 33}, 0.25, 812.0)
    store.save(session.replace_case(replace(session.cases[0], measured={"chat": (took,)})), recorded)
    done = run("send", recorded, "--adapter", "chat", "--replay")
    assert "attempt 1, first: 4,321 + 33 tokens, $0.25, 812 ms, as recorded" in done.out
    (attempt,) = run("send", recorded, "--adapter", "chat", "--replay", "--json").json["runs"]["chat"]["attempts"]
    assert (attempt["usage"], attempt["cost"], attempt["duration_ms"]) == (took.usage, 0.25, 812.0)
